// SPDX-License-Identifier: Apache-2.0
// Every page works with the keyboard alone: Tab reaches whatever one can press or change, visibly, and keys do what the mouse does.

/** Presses Tab from the top of the page until everything in its main part was reached. */
async function reaches(page, where, check) {
  const wanted = await page.evaluate(() => {
    const focusable = 'main :is(a[href], button, input, select, textarea, summary, [tabindex="0"]):not(:disabled)';
    const all = [...document.querySelectorAll(focusable)].filter((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }));
    const left = new Set(all), unmarked = new Set();
    addEventListener('focusin', ({ target }) => {
      left.delete(target);
      const { outlineStyle, boxShadow } = getComputedStyle(target);
      if (all.includes(target) && outlineStyle === 'none' && boxShadow === 'none') unmarked.add(target);
    });
    globalThis.tabbed = { left, unmarked };
    return all.length;
  });
  const left = () => page.evaluate(() => globalThis.tabbed.left.size);
  for (let pressed = 0; pressed < wanted + 200; ++pressed) {
    if (pressed >= wanted && await left() === 0) break;
    await page.keyboard.press('Tab');
  }
  const missed = await page.evaluate(() => Object.values(globalThis.tabbed).map((set) => [...set].map((one) => one.outerHTML.slice(0, 120))));
  check(wanted > 0 && missed[0].length === 0, `${where}: Tab does not reach ${missed[0].length} of ${wanted}: ${missed[0].slice(0, 3).join(' ')}`);
  check(missed[1].length === 0, `${where}: no visible focus on ${missed[1].slice(0, 3).join(' ')}`);
}

const press = async (page, selector, key) => {
  await page.locator(selector).first().focus();
  await page.keyboard.press(key);
};

// What keys do on a page, beyond following links; the cards of home and the attention of gpt have their own tests.
const acts = {
  async explorer(page, check) {
    const mark = () => page.getAttribute('[data-view="rows"] .mark.column', 'style');
    const before = await mark();
    await press(page, '.sliders label:nth-of-type(2) input', 'ArrowRight');
    check(await page.textContent('.sliders label:nth-of-type(2) output') === '21', 'explorer: the right arrow moves the position by one');
    check(await mark() !== before, 'explorer: the mark on the rows follows the keyboard');
  },
  async gpt(page, check) {
    await press(page, '.models button[data-scheme="alibi"]', 'Enter');
    check(await page.getAttribute('.models button[data-scheme="alibi"]', 'aria-pressed') === 'false', 'gpt: Enter takes a model away');
  },
  async doctor(page, check, patience) {
    await press(page, '.examples button', 'Enter');
    await page.waitForSelector('.findings li', patience);
  },
  async results(page, check) {
    const curves = () => page.locator('[data-view="curves"] svg.drawing path[fill="none"]').count();
    const before = await curves();
    await press(page, '.results fieldset.lines input:checked', 'Space');
    check(await curves() === before - 1, 'results: Space takes a line away');
  },
};

export async function keyboard({ open, check, patience, pages }) {
  for (const { path, ready } of pages) {
    const { context, page, where } = await open(path);
    await page.waitForSelector(ready, patience);
    await reaches(page, where, check);
    await acts[path]?.(page, check, patience);
    await context.close();
  }
}

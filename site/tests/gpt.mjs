// SPDX-License-Identifier: Apache-2.0
// The page of the mini-GPT: models agree, break beyond their trained length and by faults, and explain their scores.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const wordsOf = (page, scheme) => page.textContent(`.words li[data-scheme="${scheme}"]`);
const slide = (page, selector, value) => page.locator(selector).evaluate((input, number) => {
  input.value = String(number);
  input.dispatchEvent(new Event('input'));
}, value);

/** Within the limits of the site, and listed. */
export function modelFiles(site, check) {
  const folder = join(site, 'models'), names = readdirSync(folder).filter((name) => name.endsWith('.gguf'));
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  const sizes = names.map((name) => statSync(join(folder, name)).size);
  names.forEach((name, i) => check(sizes[i] <= 250000, `models: ${name} has ${sizes[i]} bytes`));
  const sum = sizes.reduce((total, one) => total + one, 0);
  check(sum <= 6e6, `models: ${sum} bytes in all`);
  check(names.sort().join() === index.models.map((one) => `${one.scheme}.gguf`).sort().join(), 'models: index.json does not list the files');
  for (const one of index.models) check(one.titles?.en && one.titles?.es, `models: the titles of ${one.scheme}`);
  for (const one of index.models) check(one.bytes === statSync(join(folder, `${one.scheme}.gguf`)).size, `models: the size of ${one.scheme} in index.json`);
  console.log(`models: ${names.length} of at most ${Math.max(...sizes)} bytes, ${sum} in all`);
}

/** A sentence of the chart, once it says what is expected. */
async function says(page, scheme, pattern, check, what, patience) {
  const found = await page.waitForFunction(([name, text]) => new RegExp(text).test(document.querySelector(`.words li[data-scheme="${name}"]`)?.textContent ?? ''),
    [scheme, pattern], patience).then(() => true, () => false);
  check(found, `gpt: ${what}: ${await wordsOf(page, scheme)}`);
}

async function writes({ open, check, patience }) {
  const { context, page } = await open('gpt');
  await page.waitForSelector('.lanes li[data-scheme="rope"] meter', patience);
  check((await page.textContent('.lanes li[data-scheme="rope"] .text')).startsWith('I work, you work, he works,'), 'gpt: RoPE does not agree');
  await page.fill('.prompt input', 'yo trabajo, tú ');
  await page.waitForFunction(() => /^yo trabajo, tú ./.test(document.querySelector('.lanes li[data-scheme="rope"] .text')?.textContent ?? ''), undefined, patience);
  await page.fill('.prompt input', 'I wörk');
  await page.waitForSelector('.write .error', patience);
  check((await page.textContent('.write .error')).includes('ö'), 'gpt: an unknown character is named');
  await context.close();
}

async function breaks({ open, check, patience }) {
  const { context, page } = await open('gpt#models=rope,alibi,sinusoidal&length=512');
  await page.waitForSelector('.words li', patience);
  await says(page, 'rope', 'breaks', check, 'RoPE breaks beyond the trained length', patience);
  await says(page, 'alibi', 'stays flat', check, 'ALiBi stays flat', patience);
  await page.selectOption('.switches select', 'ntk');
  await slide(page, '.switches label:nth-of-type(2) input', 8);
  await says(page, 'rope', 'gains at the end', check, 'NTK mends RoPE', patience);
  await says(page, 'alibi', 'does not notice', check, 'ALiBi has no rule', patience);
  await page.click('.mend');
  await page.check('.check input');
  await says(page, 'rope', 'broken even within', check, 'mixed pairs break RoPE', patience);
  await page.click('.mend');
  await slide(page, '.switches .first', 16);
  await says(page, 'rope', 'does not notice', check, 'RoPE sees distances only', patience);
  await says(page, 'sinusoidal', 'broken even within', check, 'sinusoidal waves are moved', patience);
  await page.click('.mend');
  await slide(page, '.switches .ahead', 1);
  await says(page, 'rope', 'broken even within', check, 'queries ahead break RoPE', patience);
  await says(page, 'sinusoidal', 'does not notice', check, 'queries ahead mean nothing to added waves', patience);
  check(await page.locator('[data-view="loss"] svg.drawing path').count() === 6, 'gpt: a curve as trained and a changed one per model');
  // A link shows what one saw.
  const { context: other, page: shared } = await open('gpt' + new URL(page.url()).hash);
  await says(shared, 'rope', 'broken even within', check, 'a link shows the same state', patience);
  await other.close();
  await context.close();
}

const numberOf = (text) => Number(text.replaceAll('−', '-').replaceAll(',', ''));

async function attention({ open, check, patience, accessible }) {
  const { context, page } = await open('gpt');
  await page.waitForSelector('.attention .cell output', patience);
  const before = await page.textContent('.cell h3');
  // By keyboard alone.
  await page.focus('.attention-grid .field');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  check(await page.textContent('.cell h3') !== before, 'gpt: the arrow keys choose another cell');
  const place = await page.locator('.attention-grid .field').boundingBox();
  await page.mouse.click(place.x + place.width * 0.1, place.y + place.height * 0.9);
  const [content, position, score] = (await page.$$eval('.cell output', (all) => all.map((one) => one.textContent))).map(numberOf);
  check(position !== 0 && Math.abs(content + position - score) <= 0.011 * Math.max(1, Math.abs(content), Math.abs(position)), `gpt: ${content} + ${position} is not ${score}`);
  await page.locator('.heads button').nth(5).click();
  check(await page.locator('.heads button').nth(5).getAttribute('aria-pressed') === 'true', 'gpt: a head is chosen');
  await page.selectOption('.which select', 'learned');
  await page.waitForFunction(() => /inside the queries/.test(document.querySelector('.cell .caption')?.textContent ?? ''), undefined, patience);
  await accessible(page, 'gpt with a cell');
  await context.close();
}

// Every listed model loads, writes, loses and attends in the page.
async function everyModel({ open, check, patience }) {
  const { context, page } = await open('gpt');
  await page.waitForSelector('.models button', patience);
  const schemes = await page.$$eval('.models button', (all) => all.map((one) => one.dataset.scheme));
  check(schemes.length >= 23, `gpt: ${schemes.length} models`);
  for (let i = 0; i < schemes.length; i += 4) {
    const group = schemes.slice(i, i + 4);
    await page.evaluate((models) => { location.hash = `models=${models.join(',')}&map=${models[0]}&length=64`; }, group);
    for (const scheme of group) {
      await page.waitForSelector(`.lanes li[data-scheme="${scheme}"] meter`, patience);
      await page.waitForSelector(`.words li[data-scheme="${scheme}"]`, patience);
      await page.selectOption('.which select', scheme);
      await page.waitForSelector('.attention .cell h3', patience);
    }
    check(await page.locator('.gpt .error').count() === 0, `gpt: ${group}: ${await page.locator('.gpt .error').allTextContents()}`);
  }
  await page.evaluate(() => { location.hash = 'models=pope&map=pope'; });
  const whole = () => /more than one query/.test(document.querySelector('.cell .caption')?.textContent ?? '');
  await page.waitForFunction(whole, undefined, patience);
  check(await page.locator('.cell output').count() === 0, 'gpt: a score of PoPE has no parts');
  await context.close();
}

// A model that cannot be loaded costs its lane, not the page.
async function fails({ open, check, patience }) {
  const { context, page } = await open('gpt#models=rope');
  await page.waitForSelector('.words li', patience);
  await page.evaluate(() => { // requests of the page's worker cannot be answered by the test
    const original = globalThis.fetch;
    globalThis.fetch = (address, ...rest) => (String(address).endsWith('/alibi.gguf') ? Promise.resolve(new Response('not a model')) : original(address, ...rest));
  });
  await page.click('.models button[data-scheme="alibi"]');
  await page.waitForSelector('.gpt > .error', patience);
  const sentence = (await page.textContent('.gpt > .error')).trim();
  check(/^The model ALiBi could not be loaded: alibi\.gguf/.test(sentence), `gpt: a broken model is explained: ${sentence}`);
  check(await page.locator('.lanes li').count() === 1, 'gpt: the other model goes on');
  await context.close();
}

// Reported, not asserted.
async function times({ open, patience }) {
  const { context, page } = await open('gpt');
  await page.waitForSelector('.lanes li:last-child meter', patience);
  const medians = await page.evaluate(() => {
    const all = {};
    for (const { name, duration } of performance.getEntriesByType('measure')) (all[name] ??= []).push(duration);
    return Object.entries(all).map(([name, list]) => `${name} ${list.sort((a, b) => a - b)[list.length >> 1].toFixed(2)} ms`);
  });
  console.log(`gpt: median times: ${medians.join(', ')}`);
  await context.close();
}

export const gptTests = [writes, breaks, attention, everyModel, fails, times];

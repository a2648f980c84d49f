// SPDX-License-Identifier: Apache-2.0
// Opens pages in a headless Chromium: every chart drawn, no error, no request, nothing wider than the window.
// node pages.mjs NODE_MODULES CHROMIUM PICTURES PAGE...   (PICTURES: a folder for screenshots, or "-")
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, chromium, pictures, ...pages] = process.argv.slice(2);
const { chromium: browserType } = createRequire(pathToFileURL(resolve(modules, 'x.js')))('playwright-core');

const views = [
  { name: 'desktop-light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'desktop-dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: 'phone-light', width: 390, height: 844, colorScheme: 'light' },
  { name: 'phone-dark', width: 390, height: 844, colorScheme: 'dark' },
];

const failures = [];
const check = (condition, what) => { if (!condition) failures.push(what); };

// In the page: the visible state of every chart.
function look() {
  return [...document.querySelectorAll('figure.chart')].map((figure) => {
    const marks = figure.querySelectorAll('svg .mark-symbol path, svg .mark-line path, svg .mark-rect path, '
      + 'svg .mark-area path, svg .mark-rule line, svg .mark-text text, svg .mark-group .background');
    const data = figure.querySelectorAll('svg .role-mark path, svg .role-mark line, svg .role-mark text');
    return { name: figure.dataset.name, marks: marks.length, data: data.length,
             buttons: figure.querySelectorAll('.save button').length, text: figure.querySelector('.drawing').textContent };
  });
}

async function openAll(page) {
  await page.evaluate(() => document.querySelectorAll('details.fold').forEach((one) => { one.open = true; }));
}

const settled = (page) => page.waitForFunction(() =>
  [...document.querySelectorAll('figure.chart .drawing')].every((box) => box.classList.contains('drawn')), null,
  { timeout: 120000 });

// The colour of the text of the first chart's axis, which must follow the colour scheme.
const ink = (page) => page.evaluate(() => document.querySelector('figure.chart svg .role-axis text').getAttribute('fill'));

async function saved(page, where) {
  const figure = page.locator('figure.chart').first();
  for (const [label, ending, start] of [['SVG', '.svg', '<svg'], ['PNG', '.png', '\x89PNG'], ['data (CSV)', '.csv', ''],
                                        ['chart (Vega-Lite JSON)', '.vl.json', '{']]) {
    const [download] = await Promise.all([page.waitForEvent('download', { timeout: 120000 }),
                                          figure.getByRole('button', { name: label }).click()]);
    check(download.suggestedFilename().endsWith(ending), `${where}: ${label} is saved as ${download.suggestedFilename()}`);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('latin1');
    check(text.length > 20 && text.startsWith(start), `${where}: ${label} holds ${JSON.stringify(text.slice(0, 30))}`);
  }
}

// What a report adds to a page of one chart: it opens with the answer and its picture, before the contents.
async function opened(page, view, where) {
  const seen = await page.evaluate(() => {
    const box = (selector) => document.querySelector(selector)?.getBoundingClientRect();
    const answer = box('.opening .answer'), picture = box('.opening figure'), nav = box('nav'), rest = box('.rest h2');
    const labels = [...document.querySelectorAll('.opening figure svg .mark-text text')].map((one) => one.getBoundingClientRect());
    const svg = box('.opening figure svg');
    return { answer: answer?.top, picture: picture?.top, height: picture?.height, left: picture?.left, nav: nav && { ...nav.toJSON() },
             rest: rest?.top, contents: document.querySelector('nav details')?.open, count: labels.length,
             outside: labels.filter((one) => one.right > svg.right + 1 || one.left < svg.left - 1).length };
  });
  if (seen.answer === undefined) return;
  check(seen.answer < 300, `${where}: the answer starts at ${seen.answer} pixels`);
  check(seen.picture > seen.answer && seen.picture < view.height, `${where}: the picture starts at ${seen.picture} pixels`);
  check(seen.height > 300, `${where}: the picture is ${seen.height} pixels high`);
  check(seen.count > 5 && seen.outside === 0, `${where}: ${seen.outside} of ${seen.count} labels of the picture are cut`);
  if (view.width >= 1120) {
    check(seen.nav.right <= seen.left && seen.nav.top < seen.answer && seen.contents, `${where}: the contents are not at the side`);
  } else {
    check(seen.nav.top > seen.picture && seen.nav.top < seen.rest && !seen.contents, `${where}: the contents do not follow the picture`);
  }
}

// Folds hide what they hold, and a click shows it.
async function folds(page, where) {
  await page.evaluate(() => document.querySelectorAll('details.fold').forEach((one) => { one.open = false; }));
  const fold = page.locator('.opening details.fold');
  if (await fold.count() === 0) return;
  check(!await fold.locator('table').first().isVisible(), `${where}: the statistics are not folded`);
  await fold.locator('summary').first().click();
  check(await fold.locator('table').first().isVisible(), `${where}: the fold of the statistics does not open`);
}

// At the width of a laptop no table scrolls; everywhere maps of positions by positions are square.
async function shapes(page, view, where) {
  const seen = await page.evaluate(() => ({
    scrolling: [...document.querySelectorAll('.table')].filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.textContent.slice(0, 60)),
    maps: ['similarity', 'shaw'].flatMap((name) => [...document.querySelectorAll(`figure[data-name="${name}"] svg .mark-rect.role-mark`)].map((one) => {
      const box = one.getBoundingClientRect();
      return { name, width: Math.round(box.width), height: Math.round(box.height) };
    })),
  }));
  if (view.width >= 1280) check(seen.scrolling.length === 0, `${where}: wider than the page: ${seen.scrolling.join('; ')}`);
  for (const map of seen.maps) {
    check(map.width > 100 && Math.abs(map.width - map.height) <= 2, `${where}: ${map.name} is ${map.width} by ${map.height}`);
  }
}

// A page in Spanish has no English but what says so, code, and names.
async function language(page, where) {
  const left = await page.evaluate(() => {
    if (document.documentElement.lang !== 'es') return [];
    const english = /\b(the|of|and|with|without|is|are|which|by|from|trained)\b/i;
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (!parentElement.closest('[lang="en"], code, script, style') && english.test(textContent)) found.push(textContent.slice(0, 80));
    }
    return found;
  });
  check(left.length === 0, `${where}: left in English: ${left.slice(0, 8).join(' | ')}`);
}

// Paper is white and 182 mm wide between the margins of A4, on any screen.
async function printed(page, where) {
  await page.evaluate(() => document.querySelectorAll('details.fold').forEach((one) => { one.open = false; }));
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 688, height: 1000 });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const seen = await page.evaluate(() => {
    const light = (colour) => Math.min(...colour.match(/\d+/g).slice(0, 3).map(Number));
    const style = (one, name) => getComputedStyle(one)[name];
    const main = [...document.querySelectorAll('h1, p, li, th, td, figcaption, summary')];
    const texts = [...document.querySelectorAll('figure.chart svg .role-axis text, figure.chart svg .role-legend text')];
    return {
      paper: style(document.body, 'backgroundColor'),
      pale: [...main.filter((one) => light(style(one, 'color')) > 0x60), ...texts.filter((one) => light(style(one, 'fill')) > 0x60)]
        .map((one) => one.textContent.slice(0, 40)),
      buttons: [...document.querySelectorAll('button, nav')].filter((one) => one.getClientRects().length > 0).length,
      folded: document.querySelectorAll('details.fold:not([open], .long)').length,
      wide: [...document.querySelectorAll('figure.chart svg, table')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
        .map((one) => one.closest('figure')?.dataset.name ?? one.textContent.slice(0, 40)),
    };
  });
  check(seen.paper === 'rgb(255, 255, 255)', `${where}: paper is ${seen.paper}`);
  check(seen.pale.length === 0, `${where}: too pale for paper: ${seen.pale.slice(0, 5).join('; ')}`);
  check(seen.buttons === 0, `${where}: ${seen.buttons} buttons on paper`);
  check(seen.folded === 0, `${where}: ${seen.folded} folded parts on paper`);
  check(seen.wide.length === 0, `${where}: wider than paper: ${seen.wide.join('; ')}`);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  const open = await page.evaluate(() => document.querySelectorAll('details.fold[open]').length);
  check(open === 0, `${where}: ${open} parts stay open after printing`);
}

async function visit(browser, file, view) {
  const where = `${basename(file)}, ${view.name}`;
  const context = await browser.newContext({ viewport: { width: view.width, height: view.height },
                                             colorScheme: view.colorScheme, acceptDownloads: true });
  const page = await context.newPage();
  const url = pathToFileURL(resolve(file)).href;
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) failures.push(`${where}: console: ${message.text()}`); });
  page.on('pageerror', (error) => failures.push(`${where}: ${error.message}`));
  page.on('request', (request) => { if (request.url() !== url && !/^(data|blob):/.test(request.url())) failures.push(`${where}: asks for ${request.url()}`); });
  page.on('dialog', (dialog) => { failures.push(`${where}: a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(url);
  await openAll(page);
  await settled(page).catch(() => failures.push(`${where}: charts are still missing after 20 s`));
  const charts = await page.evaluate(look);
  check(charts.length > 0, `${where}: has no chart`);
  for (const chart of charts) {
    check(chart.data > 0, `${where}: the chart ${chart.name} has no marks: ${chart.text.slice(0, 200)}`);
    check(chart.buttons === 4, `${where}: the chart ${chart.name} has ${chart.buttons} buttons`);
  }
  await opened(page, view, where);
  await shapes(page, view, where);
  await language(page, where);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(overflow <= 0, `${where}: is ${overflow} pixels wider than the window`);
  if (pictures !== '-') {
    await page.evaluate(() => document.querySelectorAll('details.fold').forEach((one) => { one.open = false; }));
    await page.screenshot({ path: resolve(pictures, `${basename(file, '.html')}-${view.name}.png`), fullPage: true });
  }
  if (view.name === 'desktop-light') {
    await folds(page, where);
    if (await page.evaluate(() => document.documentElement.lang) === 'en') await saved(page, where);
    const before = await ink(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction((light) =>
      document.querySelector('figure.chart svg .role-axis text')?.getAttribute('fill') !== light, before, { timeout: 120000 })
      .catch(() => failures.push(`${where}: charts do not follow when it gets dark`));
  }
  if (view.name === 'desktop-dark') await printed(page, where);
  await context.close();
  return charts.length;
}

const browser = await browserType.launch({
  executablePath: chromium, headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync'],
});
let charts = 0;
for (const file of pages) for (const view of views) charts += await visit(browser, file, view);
await browser.close();
for (const failure of failures) console.error(`FAILED ${failure}`);
console.log(`${pages.length} pages, ${views.length} views of each, ${charts} charts seen, ${failures.length} failures`);
process.exit(failures.length > 0 ? 1 : 0);

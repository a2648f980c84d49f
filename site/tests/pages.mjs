// SPDX-License-Identifier: Apache-2.0
// Opens every page of the built site in a headless Chromium, in both languages, light and dark, desktop and phone.
// node pages.mjs SITE NODE_MODULES CHROMIUM [PICTURES]
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from '../serve.mjs';
import { gptTests, modelFiles } from './gpt.mjs';

const [site, modules, chromium, pictures] = process.argv.slice(2);
const { chromium: browserType } = createRequire(pathToFileURL(resolve(modules, 'x.js')))('playwright-core');
const axe = readFileSync(resolve(modules, 'axe-core', 'axe.min.js'), 'utf8');

let checks = 0;
const failures = [];
const check = (condition, what) => {
  ++checks;
  if (!condition) failures.push(what);
};

const server = await serve(site);
const browser = await browserType.launch({ executablePath: chromium, args: ['--no-sandbox'] });
const patience = { timeout: Number(process.env.LOCUS_PATIENCE ?? 120000) };

// What each page shows once its numbers are there.
const pages = [
  { path: '', ready: '.word-cards code' },
  { path: 'explorer', ready: '[data-view="scores"] svg.drawing path' },
  { path: 'stretch', ready: '[data-view="float32"] svg.drawing path' },
  { path: 'gpt', ready: '.words li:last-child' },
  { path: 'doctor', ready: '.doctor .drop' },
  { path: 'results', ready: '.results .vega svg .role-mark path' },
  { path: 'learn/03-rope', ready: '.katex' },
];
const views = [
  { name: 'desktop-light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'desktop-dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: 'phone-light', width: 360, height: 780, colorScheme: 'light' },
  { name: 'phone-dark', width: 320, height: 720, colorScheme: 'dark' },
];

async function open(path, { width = 1280, height = 900, colorScheme = 'light', reducedMotion = 'no-preference' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion, acceptDownloads: true });
  const page = await context.newPage();
  const where = `${path || 'home'} at ${width}, ${colorScheme}`;
  page.on('console', (message) => { if (message.type() === 'error') check(false, `${where}: console: ${message.text()}`); });
  page.on('pageerror', (error) => check(false, `${where}: ${error.message}`));
  page.on('requestfailed', (request) => { // a reload gives up what was being loaded
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') check(false, `${where}: failed request ${request.url()}`);
  });
  page.on('response', (response) => check(response.status() < 400, `${where}: ${response.status()} for ${response.url()}`));
  await page.goto(server.address + path, { waitUntil: 'load', ...patience });
  return { context, page, where };
}

async function accessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  for (const { id, impact, nodes } of violations) {
    check(impact !== 'serious' && impact !== 'critical', `${where}: axe ${id} (${impact}): ${nodes[0].html.slice(0, 160)}`);
  }
  ++checks;
}

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function lookAt({ path, ready }, language, view) {
  const { context, page, where } = await open(language + path, view);
  await page.waitForSelector(ready, patience);
  check(await overflow(page) <= 0, `${where}: wider than the window by ${await overflow(page)} pixels`);
  check(await page.getAttribute('html', 'lang') === (language ? 'es' : 'en'), `${where}: the language of the page`);
  await accessible(page, where);
  if (pictures) {
    const name = `${path.replaceAll('/', '-') || 'home'}-${language ? 'es' : 'en'}-${view.name}.png`;
    await page.screenshot({ path: join(pictures, name), fullPage: true });
  }
  await context.close();
}

const numbersOf = (page) => page.$$eval('.word-cards .card', (cards) =>
  Object.fromEntries(cards.map((card) => [card.querySelector('strong').textContent, [...card.querySelectorAll('code')].map((one) => one.textContent).join()])));

async function home() {
  const { context, page } = await open('');
  await page.waitForSelector('.word-cards code', patience);
  const before = await numbersOf(page);
  await page.dragAndDrop('.word-cards .card:nth-child(1)', '.word-cards .card:nth-child(3)');
  const order = await page.$$eval('.word-cards .card strong', (all) => all.map((one) => one.textContent).join(' '));
  check(order === 'work he I', `home: dragging the first card to the end gives ${order}`);
  const after = await numbersOf(page);
  check(JSON.stringify(Object.entries(before).sort()) === JSON.stringify(Object.entries(after).sort()), 'home: without positions the outputs change with the order');
  for (const name of [/sinusoidal/, /RoPE/, /ALiBi/]) {
    await page.getByRole('button', { name }).click();
    check(await page.locator('.word-cards .card.changed').count() > 0, `home: ${name} does not tell the orders apart`);
  }
  // By keyboard alone: the card keeps the focus as it moves.
  await page.locator('.word-cards .card').first().focus();
  await page.keyboard.press('ArrowRight');
  check(await page.$$eval('.word-cards .card strong', (all) => all.map((one) => one.textContent).join(' ')) === 'he work I', 'home: the arrow keys move a card');
  check(await page.evaluate(() => document.activeElement?.querySelector('strong')?.textContent) === 'work', 'home: the moved card has the focus');
  await context.close();
}

async function explorer() {
  const { context, page } = await open('explorer');
  await page.waitForSelector('[data-view="scores"] path', patience);
  const names = await page.$$eval('.encoding-controls .scheme option', (all) => all.map((one) => one.value));
  check(names.length >= 20, `explorer: only ${names.length} schemes`);
  for (const name of names) {
    await page.selectOption('.encoding-controls .scheme select', name);
    const shown = await page.locator('.views .view-frame').count(), error = await page.locator('.encoding-controls .error').allTextContents();
    check(shown > 0 || name === 'nope' || error.length > 0, `explorer: ${name} shows nothing`);
    if (error.length > 0) console.log(`explorer: ${name}: ${error[0]}`);
  }
  // A link shows what one saw.
  await page.selectOption('.encoding-controls .scheme select', 't5');
  await page.waitForSelector('[data-view="buckets"]', patience);
  await page.getByRole('button', { name: /Compare/ }).click();
  await page.waitForSelector('[data-view="rows-b"]', patience);
  const address = page.url(), drawn = await page.$$eval('[data-view="bias"] path', (all) => all.map((one) => one.getAttribute('d')).join());
  const { context: other, page: shared } = await open('explorer' + new URL(address).hash);
  await shared.waitForSelector('[data-view="rows-b"]', patience);
  check(await shared.$$eval('[data-view="bias"] path', (all) => all.map((one) => one.getAttribute('d')).join()) === drawn, 'explorer: a link shows the same bias');
  await other.close();
  // Wrong settings get the sentence of the command line.
  await page.goto(server.address + 'explorer#a=rope:head_dim=63,pairing=half');
  await page.reload();
  await page.waitForSelector('.encoding-controls .error', patience);
  check(/^rope\..*63/.test(await page.textContent('.encoding-controls .error')), 'explorer: a wrong setting is explained');
  await page.goto(server.address + 'explorer#a=sinusoidal:dim=128&length=512');
  await page.reload();
  await page.waitForSelector('[data-view="waveforms"] path', patience);
  for (const [label, ending] of [['SVG', '.svg'], ['PNG', '.png'], ['CSV', '.csv']]) {
    const [download] = await Promise.all([page.waitForEvent('download', patience), page.locator('[data-view="waveforms"]').getByRole('button', { name: label }).click()]);
    check(download.suggestedFilename().endsWith(ending), `explorer: ${label} is saved as ${download.suggestedFilename()}`);
  }
  // Reported, not asserted: how long a drag takes to be drawn at 512 positions by 128 dimensions.
  const times = await page.evaluate(async () => {
    const slider = document.querySelectorAll('.sliders input')[1], all = [];
    for (let i = 0; i < 60; ++i) {
      const begin = performance.now();
      slider.value = String(i * 8);
      slider.dispatchEvent(new Event('input'));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      all.push(performance.now() - begin);
    }
    return all.sort((a, b) => a - b);
  });
  console.log(`explorer: a drag is drawn in ${times[30].toFixed(1)} ms (median), ${times[57].toFixed(1)} ms (95 %)`);
  await context.close();
}

async function stretch() {
  const { context, page } = await open('stretch');
  await page.waitForSelector('[data-view="float32"] path', patience);
  const options = await page.$$eval('.stretch select:first-of-type option', (all) => all.length);
  check(options >= 10, `stretch: ${options} models`);
  for (const name of await page.$$eval('.controls label:first-child option', (all) => all.map((one) => one.value))) {
    await page.locator('.controls label:first-child select').selectOption(name);
    await page.waitForTimeout(50);
    check(await page.locator('[data-view="rules"] path').count() >= 7, `stretch: ${name}: not every rule is drawn (${await page.locator('.controls .error').allTextContents()})`);
  }
  await page.fill('.stretch textarea', '{"model_type": "mamba"}');
  await page.waitForSelector('.stretch .error', patience);
  await page.fill('.stretch textarea', '{');
  check((await page.textContent('.stretch .error')).includes('config.json'), 'stretch: a broken config is explained');
  await context.close();
}

async function doctor() {
  const { context, page } = await open('doctor');
  await page.waitForSelector('.doctor .drop', patience);
  await page.waitForLoadState('networkidle');
  const requests = [];
  page.on('request', (request) => { if (!request.url().startsWith('data:') && !request.url().startsWith('blob:')) requests.push(request.url()); });
  await context.setOffline(true);
  await page.locator('.examples button').nth(0).click();
  await page.waitForSelector('.findings li', patience);
  await page.locator('.examples button').nth(1).click();
  await page.waitForSelector('.verdicts li', patience);
  check((await page.textContent('.verdicts')).includes('wrong_pairing'), 'doctor: interleaved pairs are not named');
  await page.setInputFiles('input[type=file]', { name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('{"model_type": ') });
  await page.waitForSelector('.doctor .error', patience);
  check((await page.textContent('.doctor .error')).startsWith('broken.json'), 'doctor: a broken file is explained by its name');
  await page.setInputFiles('input[type=file]', { name: 'config.json', mimeType: 'application/json', buffer: Buffer.from('{"model_type": "mamba", "hidden_size": 64}') });
  await page.waitForSelector('.findings', patience);
  check(/attention/.test(await page.textContent('.doctor')), 'doctor: a model without attention is explained');
  check(requests.length === 0, `doctor: requests after loading: ${requests.join(' ')}`);
  await accessible(page, 'doctor with verdicts');
  await context.close();
}

async function changeLanguage() {
  const { context, page } = await open('explorer');
  await page.waitForSelector('.explorer h1', patience);
  await page.goto(server.address + 'es/explorer');
  await page.waitForSelector('.explorer h1', patience);
  check((await page.textContent('h1')).trim() === 'Explorador', 'the Spanish explorer has its title');
  check(await page.locator('.VPNavBarTranslations').count() > 0, 'the language can be changed');
  await context.close();
}

async function offline() {
  const { context, page } = await open('explorer');
  await page.waitForSelector('[data-view="scores"] path', patience);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload(); // what was loaded before the worker ran is loaded through it
  await page.waitForSelector('[data-view="scores"] path', patience);
  await page.waitForLoadState('networkidle');
  await context.setOffline(true);
  await page.reload();
  await page.waitForSelector('[data-view="scores"] path', patience);
  ++checks;
  await context.close();
}

for (const language of ['', 'es/']) for (const page of pages) for (const view of views) {
  await lookAt(page, language, view).catch((error) => check(false, `${language}${page.path} at ${view.name}: ${error.message.split('\n')[0]}`));
}
for (const test of [home, explorer, stretch, doctor, changeLanguage, offline]) {
  await test().catch((error) => check(false, `${test.name}: ${error.message.split('\n')[0]}`));
}
modelFiles(site, check);
for (const test of gptTests) {
  await test({ open, check, patience, accessible }).catch((error) => check(false, `gpt ${test.name}: ${error.message.split('\n')[0]}`));
}
await browser.close();
server.close();
for (const failure of [...new Set(failures)]) console.error(failure);
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

// SPDX-License-Identifier: Apache-2.0
// Opens every page of the built site in a headless Chromium, in both languages, light and dark, desktop and phone.
// node pages.mjs SITE NODE_MODULES CHROMIUM [PICTURES]
// LOCUS_SITE_TESTS=stretch,keyboard runs only these.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { serve } from '../serve.mjs';
import { gptTests, modelFiles } from './gpt.mjs';
import { keyboard } from './keyboard.mjs';

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
  { path: 'results', ready: '[data-view="standings"] svg.drawing circle' },
  { path: 'learn/03-rope', ready: '.katex' },
  { path: 'guide/design', ready: '.vp-doc h1', languages: [''] }, // the guide is English
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
  page.setDefaultTimeout(patience.timeout);
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

/** One page in every view: loaded once, as a window that is resized and a theme that changes. */
async function lookAt({ path, ready }, language) {
  const { context, page } = await open(language + path, views[0]);
  await page.waitForSelector(ready, patience);
  check(await page.getAttribute('html', 'lang') === (language ? 'es' : 'en'), `${language}${path}: the language of the page`);
  for (const { name, width, height, colorScheme } of views) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    // Charts are as wide as their box: they follow in a frame, and are drawn in the next.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
    const where = `${language}${path || 'home'} at ${name}`, wider = await overflow(page);
    check(wider <= 0, `${where}: wider than the window by ${wider} pixels`);
    check(await page.evaluate(() => document.documentElement.classList.contains('dark')) === (colorScheme === 'dark'), `${where}: the theme follows the system`);
    await accessible(page, where);
    if (pictures) {
      const file = `${path.replaceAll('/', '-') || 'home'}-${language ? 'es' : 'en'}-${name}.png`;
      await page.screenshot({ path: join(pictures, file), fullPage: true });
    }
  }
  await context.close();
}

/** What a first visit transfers, as a host sends it: text and WebAssembly compressed. Bytes of each answer, gzip level 9. */
async function firstView() {
  for (const { path, ready } of pages) {
    const context = await browser.newContext({ serviceWorkers: 'block' }), page = await context.newPage(), bodies = [];
    page.on('response', (response) => bodies.push(response.body().catch(() => Buffer.alloc(0))));
    await page.goto(server.address + path, { waitUntil: 'load', ...patience });
    await page.waitForSelector(ready, patience);
    await page.waitForLoadState('networkidle');
    const sizes = (await Promise.all(bodies)).map((body) => Math.min(body.length, gzipSync(body, { level: 9 }).length));
    const total = sizes.reduce((sum, one) => sum + one, 0);
    console.log(`${path || 'home'}: the first view transfers ${(total / 1e6).toFixed(3)} MB compressed in ${sizes.length} answers`);
    check(total < 1.5e6, `${path || 'home'}: the first view transfers ${total} bytes compressed, more than 1.5 MB`);
    await context.close();
  }
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
    check(shown > 0 || name === 'nope', `explorer: ${name} shows nothing`);
    check(error.length === 0, `explorer: ${name}: ${error[0]}`);
  }
  // A link shows what one saw.
  await page.selectOption('.encoding-controls .scheme select', 't5');
  await page.waitForSelector('[data-view="buckets"]', patience);
  await page.getByRole('button', { name: /Compare/ }).click();
  await page.waitForSelector('[data-view="rows-b"]', patience);
  await page.selectOption('.encoding-controls .scheme select >> nth=1', 'alibi'); // as many heads as T5's
  await page.waitForSelector('[data-view="score-difference"] path', patience);
  await page.selectOption('.encoding-controls .scheme select >> nth=1', 'rope');
  await page.waitForSelector('[data-view="rows-b"]', patience);
  await page.waitForURL(/a=t5.*&b=/, patience);
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
  // Reported, not asserted: how long a drag takes at 512 positions by 128 dimensions, from the event until everything is drawn.
  const times = await page.evaluate(async () => {
    const field = document.querySelector('[data-view="rows"] .field'), place = field.getBoundingClientRect(), all = [];
    const at = (i) => ({ clientX: place.left + (place.width * (i + 0.5)) / 60, clientY: place.top + 20, buttons: 1, bubbles: true });
    field.dispatchEvent(new PointerEvent('pointerdown', at(0)));
    for (let i = 1; i < 60; ++i) {
      await new Promise((done) => requestAnimationFrame(done));
      const begin = performance.now();
      field.dispatchEvent(new PointerEvent('pointermove', at(i)));
      await Promise.resolve().then(() => undefined); // Vue updates in a microtask
      document.body.getBoundingClientRect(); // style and layout
      const work = performance.now() - begin;
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      all.push({ work, drawn: performance.now() - begin });
    }
    return all;
  });
  const middle = (name) => times.map((one) => one[name]).sort((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(1);
  console.log(`explorer: a drag at 512 x 128 takes ${middle('work')} ms of work, and ${middle('drawn')} ms until the frame is drawn (medians; load ${loadavg()[0].toFixed(1)})`);
  check(await page.inputValue('.sliders label:nth-of-type(2) input') === '507', 'explorer: dragging over the rows moves the position');
  await context.close();
}

/** Drags the length of Llama 2 to the end; its frequencies are 10000^(-2i/128), its trained length is 4096. */
async function stretchBy64(page) {
  await page.locator('.controls label:first-child select').selectOption('Llama 2 7B');
  const drawn = () => page.$$eval('[data-view="rules"] svg.drawing path', (all) => all.map((one) => one.getAttribute('d')));
  const flags = () => page.textContent('.view-frame.flags');
  const before = { drawn: await drawn(), flags: await flags() };
  const slider = await page.locator('.stretch input[type=range]').boundingBox(), y = slider.y + slider.height / 2;
  await page.mouse.move(slider.x + slider.width / 3, y);
  await page.mouse.down();
  await page.mouse.move(slider.x + slider.width / 2, y, { steps: 4 });
  await page.mouse.move(slider.x + slider.width + 40, y, { steps: 4 });
  await page.mouse.up();
  check(/262,144 .*64 /.test(await page.textContent('.controls output')), `stretch: the length after a drag to the end: ${await page.textContent('.controls output')}`);
  check((await drawn()).join() !== before.drawn.join(), 'stretch: the rules are drawn again as the length is dragged');
  check(/262144/.test(await flags()) && await flags() !== before.flags, 'stretch: the flags follow the length');
  const [download] = await Promise.all([page.waitForEvent('download', patience), page.locator('[data-view="rules"]').getByRole('button', { name: 'CSV' }).click()]);
  const [header, ...rows] = readFileSync(await download.path(), 'utf8').trim().split('\n').map((line) => line.split(','));
  const off = (name, turns) => Math.max(...rows.map((row, i) => Math.abs(Number(row[header.indexOf(name)]) / turns(i) - 1)));
  const turnsIn = (tokens) => (i) => (tokens * 10000 ** (-i / 64)) / (2 * Math.PI);
  check(rows.length === 64 && off('none', turnsIn(262144)) < 1e-6, 'stretch: turns without a rule, at 64 times the length');
  check(off('linear', turnsIn(4096)) < 1e-6, 'stretch: interpolation turns as far as in training');
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
  await stretchBy64(page);
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
  const explained = page.locator('.doctor', { hasText: 'has no attention' });  // the findings of the last file may still be there
  check(await explained.waitFor(patience).then(() => true, () => false), 'doctor: a model without attention is explained');
  check(requests.length === 0, `doctor: requests after loading: ${requests.join(' ')}`);
  await accessible(page, 'doctor with verdicts');
  await context.close();
}

/** A GGUF file (version 3) of one tensor of float32, with these settings, as long as its data. */
function ggufFile(settings, elements) {
  const parts = [], number = (bytes, value) => {
    const one = Buffer.alloc(bytes);
    if (bytes === 4) one.writeUInt32LE(value);
    else one.writeBigUInt64LE(BigInt(value));
    parts.push(one);
  };
  const text = (value) => { number(8, value.length); parts.push(Buffer.from(value)); };
  parts.push(Buffer.from('GGUF'));
  number(4, 3);
  number(8, 1);
  number(8, Object.keys(settings).length);
  for (const [key, value] of Object.entries(settings)) {
    text(key);
    if (typeof value === 'string') { number(4, 8); text(value); }
    else { number(4, 4); number(4, value); } // uint32
  }
  text('token_embd.weight');
  number(4, 1);
  number(8, elements);
  number(4, 0); // float32
  number(8, 0);
  const head = Buffer.concat(parts);
  return Buffer.concat([head, Buffer.alloc((32 - (head.length % 32)) % 32 + 4 * elements)]);
}

/** Models are read by their heads; broken ones get the sentence of the command line. */
async function largeFiles() {
  const { context, page } = await open('doctor');
  await page.waitForSelector('.doctor .drop', patience);
  await page.evaluate(() => {
    globalThis.bytesRead = 0;
    const read = Blob.prototype.arrayBuffer;
    Blob.prototype.arrayBuffer = function () { globalThis.bytesRead += this.size; return read.call(this); };
  });
  const put = (name, buffer) => page.setInputFiles('input[type=file]', { name, mimeType: 'application/octet-stream', buffer });
  const settings = { 'general.architecture': 'llama', 'llama.context_length': 4096, 'llama.embedding_length': 512, 'llama.attention.head_count': 8, 'llama.rope.dimension_count': 64 };
  await put('model.gguf', ggufFile(settings, 2 << 20));
  await page.waitForSelector('.findings', patience);
  check(/GGUF, llama/.test(await page.textContent('.findings')), 'doctor: a GGUF file is read');
  check(await page.evaluate(() => globalThis.bytesRead) < 1 << 20, 'doctor: a GGUF file of 8 MB is read by its head');
  await page.getByRole('button', { name: /Remove/ }).click();
  const directory = Buffer.from(JSON.stringify({ 'wpe.weight': { dtype: 'F32', shape: [1 << 13, 1 << 8], data_offsets: [0, 1 << 23] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(directory.length));
  await page.evaluate(() => { globalThis.bytesRead = 0; });
  await put('model.safetensors', Buffer.concat([length, directory, Buffer.alloc(1 << 23)]));
  await page.waitForSelector('.findings:has-text("wpe.weight")', patience);
  check(await page.evaluate(() => globalThis.bytesRead) < 1 << 12, 'doctor: a safetensors file of 8 MB is read by its head');
  await put('config.json', Buffer.from('{"model_type": "gpt2", "n_embd": 256, "n_head": 4, "n_positions": 1024}'));
  await page.waitForSelector('.findings:has-text("against-settings")', patience);
  await page.reload();
  await page.waitForSelector('.doctor .drop', patience);
  await put('broken.gguf', Buffer.from('GGUF\x03\x00\x00'));
  await page.waitForSelector('.doctor .error', patience);
  check((await page.textContent('.doctor .error')).startsWith('broken.gguf: '), 'doctor: a broken GGUF file is explained by its name');
  await context.close();
}

async function results() {
  const { context, page } = await open('es/results');
  await page.waitForSelector('[data-view="curves"] path', patience);
  const curves = () => page.$$eval('[data-view="curves"] .end-name text', (all) => all.map((one) => one.textContent));
  const before = await curves();
  check(before.length > 2 && before.length <= 6, `results: ${before.length} lines are shown first`);
  await page.getByRole('button', { name: 'todas' }).click();
  check((await curves()).length > before.length, 'results: all lines can be shown');
  const answer = await page.textContent('.results .answer');
  check(/entren/.test(answer), `results: the answer is Spanish, got ${answer}`);
  check(await page.locator('.claims li').count() >= 5, 'results: the claims of papers are shown');
  check(!/\*\*/.test(await page.textContent('.results')), 'results: emphasis is shown as such');
  await page.locator('.results .choice button').nth(1).click();
  await page.locator('.results .controls select').last().selectOption({ index: 0 });
  await page.waitForURL(/task=passkey.*length=/, patience);
  const shown = await page.textContent('[data-view="standings"] h2');
  const { context: other, page: shared } = await open('es/results' + new URL(page.url()).hash);
  await shared.waitForSelector('[data-view="standings"] circle', patience);
  check(await shared.textContent('[data-view="standings"] h2') === shown, 'results: a link shows the same length');
  await other.close();
  await page.locator('.report-charts summary').first().click();
  await page.waitForSelector('.report-charts .vega svg .role-mark path', patience);
  await accessible(page, 'results with all charts');
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

async function everyPage() {
  for (const language of ['', 'es/']) for (const page of pages) {
    if (!(page.languages ?? [language]).includes(language)) continue;
    await lookAt(page, language).catch((error) => check(false, `${language}${page.path}: ${error.message.split('\n')[0]}`));
  }
}

modelFiles(site, check);
const only = process.env.LOCUS_SITE_TESTS?.split(',');
for (const test of [everyPage, firstView, home, explorer, stretch, doctor, largeFiles, results, changeLanguage, offline, keyboard, ...gptTests]) {
  if (only && !only.includes(test.name)) continue;
  await test({ open, check, patience, accessible, pages }).catch((error) => check(false, `${test.name}: ${error.message.split('\n')[0]}`));
}
await browser.close();
server.close();
for (const failure of [...new Set(failures)]) console.error(failure);
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

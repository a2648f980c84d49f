// SPDX-License-Identifier: Apache-2.0
// Compares the WebAssembly module with the native library over the registry (checks.mjs), in Node and in Chromium.
// node compare.mjs WASM_PACKAGE LOCUS EXPECTED [NODE_MODULES CHROMIUM]
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { serve } from '../../site/serve.mjs';
import { compare } from './checks.mjs';

const [folder, locus, expectedProgram, modules, chromium] = process.argv.slice(2).map((path) => resolve(path));
const load = (name) => import(pathToFileURL(join(folder, name)));
const { loadLocus } = await load('locus.js');
const { default: factory } = await load('locus_core.mjs');
const wasmBinary = readFileSync(join(folder, 'locus_core.wasm'));
const core = await loadLocus(factory, { wasmBinary });

const encodings = JSON.parse(execFileSync(expectedProgram, { maxBuffer: 1 << 28 }));
assert.ok(encodings.length > 40, `only ${encodings.length} encodings were compared`);

const place = mkdtempSync(join(tmpdir(), 'locus-wasm-'));
// The module has no files but those that it is given.
const files = {
  'llama.json': JSON.stringify({ model_type: 'llama', hidden_size: 64, num_attention_heads: 4, rope_theta: 10000, max_position_embeddings: 512,
                                 rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 } }),
  'mamba.json': JSON.stringify({ model_type: 'mamba', hidden_size: 64 }),
  'broken.json': '{"model_type": "llama", ',
  'empty.gguf': 'GGUF',
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
const native = (words) => {
  const { stdout, stderr, status } = spawnSync(locus, words, { cwd: place, encoding: 'utf8', maxBuffer: 1 << 28 });
  return { words, stdout, stderr, status };
};
const commands = [
  ['list', '--json'], ['list', '--long'], ['plot', '--list', '--json'],
  ['lint', 'llama.json', '--json'], ['lint', 'llama.json'], ['lint', 'mamba.json', '--json'],
  ['show', '--config', 'llama.json', '--json'],
  // Refused input.
  ['show'], ['frob'], ['show', '--scheme', 'ropee'], ['show', '--scheme', 'rope:head_dim=129,pairing=half'],
  ['show', '--scheme', 'rope:head_dim=16'], ['show', '--scheme', 'rope:head_dim=16,pairing=half,base=ten'],
  ['show', '--scheme', 'rope:head_dim=16,pairing=half,base=1e400'], ['show', '--scheme', 'alibi:heads=0'],
  ['lint', 'broken.json'], ['lint', 'missing.json'], ['lint', 'empty.gguf'], ['show', '--config', 'mamba.json'],
  ['diagnose', '--before', 'llama.json', '--after', 'llama.json'], ['plot', 'nothing'],
  ...encodings.map(({ spelling }) => ['show', '--scheme', spelling, '--json']),
  ...core.figures().map(({ name }) => ['plot', name, '--json']),
].map(native);
const expected = { encodings, commands, files };

let checks = 0;
const failures = [];
function add(where, result) {
  checks += result.checks;
  failures.push(...result.failures.map((failure) => `${where}: ${failure}`));
}
add('Node', compare(core, expected));
if (modules && chromium) add('Chromium', await compareInChromium());
rmSync(place, { recursive: true });

/** The same checks in a page that loads the package as any page does. */
async function compareInChromium() {
  const site = join(place, 'page');
  mkdirSync(site);
  cpSync(folder, site, { recursive: true });
  cpSync(fileURLToPath(new URL('checks.mjs', import.meta.url)), join(site, 'checks.mjs'));
  writeFileSync(join(site, 'expected.json'), JSON.stringify(expected));
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>Comparison</title>');
  const { chromium: browserType } = createRequire(pathToFileURL(join(modules, 'x.js')))('playwright-core');
  const server = await serve(site), browser = await browserType.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(server.address);
    return await page.evaluate(async () => {
      const [{ loadLocus: loadHere }, { default: make }, { compare: compareHere }] = await Promise.all(
        ['./locus.js', './locus_core.mjs', './checks.mjs'].map((name) => import(new URL(name, location.href).href)));
      return compareHere(await loadHere(make), await (await fetch('expected.json')).json());
    });
  } finally {
    await browser.close();
    server.close();
  }
}

const compressed = (bytes) => gzipSync(bytes, { level: 9 }).length;
const size = (bytes) => `${(compressed(bytes) / 1e6).toFixed(3)} MB compressed`;
const script = readFileSync(join(folder, 'locus_core.mjs'));
console.log(`${core.target}: module ${(wasmBinary.length / 1e6).toFixed(3)} MB, ${size(wasmBinary)}; script ${size(script)}`);
++checks;
if (compressed(wasmBinary) > 1.2e6) failures.push(`the module must have at most 1.2 MB compressed, got ${size(wasmBinary)}`);
for (const failure of failures) console.error(failure.slice(0, 600));
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

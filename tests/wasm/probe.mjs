// SPDX-License-Identifier: Apache-2.0
// Compares the probe's WebAssembly module with the native probe, on every model of the site: losses and attention within
// rounding, the same text, the same error texts.
// node probe.mjs WASM_PACKAGE LOCUS PROBE_EXPECTED MODELS
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const [folder, locus, expectedProgram, models] = process.argv.slice(2).map((path) => resolve(path));
const load = (name) => import(pathToFileURL(join(folder, name)));
const { loadProbe } = await load('probe.js');
const { default: factory } = await load('locus_probe.mjs');
const wasmBinary = readFileSync(join(folder, 'locus_probe.wasm'));
const probe = await loadProbe(factory, { wasmBinary });

let checks = 0;
const failures = [];
function check(name, work) {
  ++checks;
  try {
    work();
  } catch (error) {
    failures.push(`${name}: ${error.message}`);
  }
}

function near(actual, wanted, bound, what) {
  assert.equal(actual.length, wanted.length, `${what} has ${actual.length} numbers, not ${wanted.length}`);
  for (let i = 0; i < wanted.length; ++i) {
    assert.ok(Math.abs(actual[i] - wanted[i]) <= bound * Math.max(1, Math.abs(wanted[i])), `${what}[${i}] is ${actual[i]}, expected ${wanted[i]}`);
  }
}

const text = 'I work, you work, he works, / yo trabajo, tú trabajas, él ';
// Both sides sum float32 products in their own order; scores reach some tens.
const bound = 1e-3;

function compare(path, model, how) {
  const { encoding = 'own', firstPosition = 0, queryAhead = 0 } = how;
  const native = JSON.parse(execFileSync(expectedProgram, [path, text, encoding, String(firstPosition), String(queryAhead)], { maxBuffer: 1 << 28 }));
  if (native.error) {
    assert.throws(() => model.losses(text, how), { message: native.error });
    return;
  }
  assert.deepEqual(Array.from(model.encode(text)), native.tokens);
  near(model.losses(text, how), native.losses, bound, 'losses');
  const map = model.attention(text, how);
  for (const name of ['probabilities', 'scores', 'content']) near(map[name], native[name], bound, name);
}

function written(model, how, most) {
  let said = '';
  for (const candidates of model.write(text, how)) {
    said += candidates[0].text;
    if (Array.from(said).length === most) break;
  }
  return said;
}
const nativelyWritten = (path, words) =>
  JSON.parse(execFileSync(locus, ['probe', 'generate', path, '--prompt', text, '--max-tokens', '12', '--json', ...words], { stdio: ['ignore', 'pipe', 'ignore'] })).text;

const names = readdirSync(models).filter((name) => name.endsWith('.gguf'));
assert.ok(names.length >= 5, `only ${names.length} models in ${models}`);
for (const name of names) {
  const path = join(models, name), model = probe.open(name, readFileSync(path));
  check(`${name} as trained`, () => compare(path, model, {}));
  check(`${name} from position 1`, () => compare(path, model, { firstPosition: 1 }));
  check(`${name} with queries ahead`, () => compare(path, model, { queryAhead: 1 }));
  check(`${name} writes`, () => assert.equal(written(model, {}, 12), nativelyWritten(path, [])));
  if (model.takesRules) {
    const other = `${model.scheme}:pairing=${model.pairing === 'half' ? 'interleaved' : 'half'}`;
    for (const encoding of [other, ...probe.rules().map((rule) => `${model.scheme}:rule=${rule},factor=4`)]) {
      check(`${name} with ${encoding}`, () => compare(path, model, { encoding }));
    }
    check(`${name} writes with yarn from position 1`, () => assert.equal(
      written(model, { encoding: `${model.scheme}:rule=yarn,factor=4`, firstPosition: 1 }, 12),
      nativelyWritten(path, ['--encoding', `${model.scheme}:rule=yarn,factor=4`, '--first-position', '1'])));
  }
  model.close();
  check(`${name} is closed`, () => assert.throws(() => model.losses(text), /closed/));
}

// Bad input gets the sentence of the command line.
const refused = (words) => spawnSync(locus, ['probe', 'generate', ...words], { encoding: 'utf8', cwd: models }).stderr;
const rope = probe.open('rope.gguf', readFileSync(join(models, 'rope.gguf')));
check('an unknown character', () => assert.throws(() => rope.losses('I wörk'), /no token for "ö"/));
check('the module has an unknown encoding refused as on the command line', () => {
  const native = refused(['rope.gguf', '--prompt', 'I', '--encoding', 'ropee:2']);
  assert.throws(() => rope.losses('I work', { encoding: 'ropee:2' }), (error) => native.includes(error.message));
});
check('a text longer than a table', () => assert.throws(
  () => probe.open('learned.gguf', readFileSync(join(models, 'learned.gguf'))).losses('I work, '.repeat(40)), /learned/));
check('a broken file', () => {
  const broken = readFileSync(join(models, 'rope.gguf')).subarray(0, 1000);
  assert.throws(() => probe.open('broken.gguf', broken), /broken\.gguf/);
});
check('no file', () => assert.throws(() => probe.open('empty.gguf', new Uint8Array()), /empty\.gguf/));

const size = (bytes) => `${(gzipSync(bytes, { level: 9 }).length / 1e6).toFixed(3)} MB compressed`;
console.log(`${probe.target}: probe ${(wasmBinary.length / 1e6).toFixed(3)} MB, ${size(wasmBinary)}; script ${size(readFileSync(join(folder, 'locus_probe.mjs')))}`);
for (const failure of failures) console.error(failure.slice(0, 600));
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

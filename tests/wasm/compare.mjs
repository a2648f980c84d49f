// SPDX-License-Identifier: Apache-2.0
// Compares the WebAssembly module with the native library over the registry: rows bit for bit, rotations and attention
// within their bounds, commands and error texts word for word.
// node compare.mjs WASM_PACKAGE LOCUS EXPECTED
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const [folder, locus, expectedProgram] = process.argv.slice(2).map((path) => resolve(path));
const load = (name) => import(pathToFileURL(join(folder, name)));
const { loadLocus } = await load('locus.js');
const { default: factory } = await load('locus_core.mjs');
const wasmBinary = readFileSync(join(folder, 'locus_core.wasm'));
const core = await loadLocus(factory, { wasmBinary });

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

// As made_up() of expected.cpp.
function madeUp(count, seed) {
  let state = seed >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.fround(Math.fround((state >>> 8) / 8388608) - 1);
  });
}
const bitsOf = (numbers) => Array.from(new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length),
  (bits) => bits.toString(16).padStart(8, '0')).join('');

function near(actual, expected, bound, what) {
  assert.equal(actual.length, expected.length, `${what} has ${actual.length} numbers, not ${expected.length}`);
  for (let i = 0; i < expected.length; ++i) {
    const distance = Math.abs(actual[i] - expected[i]);
    assert.ok(distance <= bound, `${what}[${i}] is ${actual[i]}, expected ${expected[i]} within ${bound}`);
  }
}

function compareAttention(spelling, { heads, dim, rotated, output, bound }) {
  const count = 5 * heads * dim, positions = [0, 1, 2, 3, 4];
  const [query, key, value] = [1, 2, 3].map((seed) => madeUp(count, seed));
  if (rotated) {
    const most = Math.max(...rotated.map(Math.abs), 1);
    near(core.rotate(spelling, { data: query, positions, heads }), rotated, 4 * most * 2 ** -24, 'rotated');
  }
  const result = core.attend(spelling, { query, key, value, queryPositions: positions, heads, causal: true });
  near(result.output, output, bound, 'output');
  for (let row = 0; row < heads * 5; ++row) {
    const sum = result.probabilities.subarray(row * 5, (row + 1) * 5).reduce((total, one) => total + one, 0);
    assert.ok(Math.abs(sum - 1) < 1e-5, `the probabilities of row ${row} add up to ${sum}`);
  }
}

const expected = JSON.parse(execFileSync(expectedProgram, { maxBuffer: 1 << 28 }));
assert.ok(expected.length > 40, `only ${expected.length} encodings were compared`);
for (const { spelling, rows, attention } of expected) {
  if (rows) check(`rows of ${spelling}`, () => assert.equal(bitsOf(core.rows(spelling, rows.positions)), rows.bits));
  if (attention) check(`attention of ${spelling}`, () => compareAttention(spelling, attention));
}

// The same command line in the same folder: the module has no other files, so only what needs none or stage()d ones.
const place = mkdtempSync(join(tmpdir(), 'locus-wasm-'));
const files = {
  'llama.json': JSON.stringify({ model_type: 'llama', hidden_size: 64, num_attention_heads: 4, rope_theta: 10000, max_position_embeddings: 512,
                                 rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 } }),
  'mamba.json': JSON.stringify({ model_type: 'mamba', hidden_size: 64 }),
  'broken.json': '{"model_type": "llama", ',
  'empty.gguf': 'GGUF',
};
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(place, name), text);
  core.writeFile(`/${name}`, text);
}

// Numbers may differ in their last digits, where the C library's functions do; words may not.
function equalJson(actual, wanted, where) {
  if (typeof wanted === 'number') {
    const room = 1e-12 * Math.max(1, Math.abs(wanted));
    assert.ok(typeof actual === 'number' && Math.abs(actual - wanted) <= room, `${where} is ${actual}, expected ${wanted}`);
  } else if (wanted !== null && typeof wanted === 'object') {
    assert.deepEqual(Object.keys(actual ?? {}), Object.keys(wanted), `keys of ${where}`);
    for (const key of Object.keys(wanted)) equalJson(actual[key], wanted[key], `${where}.${key}`);
  } else {
    assert.equal(actual, wanted, where);
  }
}

function compareCommand(words) {
  const native = spawnSync(locus, words, { cwd: place, encoding: 'utf8', maxBuffer: 1 << 28 });
  const ours = core.command(words);
  assert.equal(ours.errors, native.stderr, 'the error text');
  assert.equal(ours.code, native.status, 'the exit code');
  if (words.includes('--json') && native.stdout) equalJson(JSON.parse(ours.output), JSON.parse(native.stdout), 'output');
  else assert.equal(ours.output, native.stdout, 'the output');
}

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
  ...expected.map(({ spelling }) => ['show', '--scheme', spelling, '--json']),
  ...core.figures().map(({ name }) => ['plot', name, '--json']),
];
for (const words of commands) check(`locus ${words.join(' ')}`, () => compareCommand(words));
rmSync(place, { recursive: true });

// An exception is an Error with the message of the command line.
check('errors are thrown', () => assert.throws(() => core.rows('alibi:heads=8', [0]), /alibi has no rows/));
check('positions are checked', () => assert.throws(() => core.rows('rope:head_dim=16,pairing=half', [2 ** 31]), /rope/));

const size = (bytes) => `${(gzipSync(bytes, { level: 9 }).length / 1e6).toFixed(3)} MB compressed`;
const script = readFileSync(join(folder, 'locus_core.mjs'));
console.log(`${core.target}: module ${(wasmBinary.length / 1e6).toFixed(3)} MB, ${size(wasmBinary)}; script ${size(script)}`);
check('the module has at most 1.2 MB compressed', () => assert.ok(gzipSync(wasmBinary, { level: 9 }).length <= 1.2e6));
for (const failure of failures) console.error(failure.slice(0, 600));
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

// SPDX-License-Identifier: Apache-2.0
// Compares the module with what the native library gave: rows bit for bit, rotations and attention within their bounds,
// commands and error texts word for word. Runs in Node and in a browser.

/** What the native library gave. `encodings`: the output of wasm_expected; `commands`: [{ words, stdout, stderr, status }]. */
export function compare(core, { encodings, commands, files }) {
  let checks = 0;
  const failures = [];
  const check = (name, work) => {
    ++checks;
    try {
      work();
    } catch (error) {
      failures.push(`${name}: ${error.message}`);
    }
  };
  for (const { spelling, rows, attention } of encodings) {
    if (rows) check(`rows of ${spelling}`, () => equal(bitsOf(core.rows(spelling, rows.positions)), rows.bits, 'the bits'));
    if (attention) check(`attention of ${spelling}`, () => compareAttention(core, spelling, attention));
  }
  for (const [name, text] of Object.entries(files)) core.writeFile(`/${name}`, text);
  for (const native of commands) check(`locus ${native.words.join(' ')}`, () => compareCommand(core, native));
  check('errors are thrown', () => throws(() => core.rows('alibi:heads=8', [0]), /alibi has no rows/));
  check('positions are checked', () => throws(() => core.rows('rope:head_dim=16,pairing=half', [2 ** 31]), /rope/));
  return { checks, failures };
}

function require(condition, message) {
  if (!condition) throw new Error(message);
}
const shown = (value) => String(value).slice(0, 200);
const equal = (actual, wanted, what) => require(actual === wanted, `${what}: ${shown(actual)}, expected ${shown(wanted)}`);

function throws(work, pattern) {
  let message = null;
  try {
    work();
  } catch (error) {
    message = error.message;
  }
  require(message !== null && pattern.test(message), `expected an error like ${pattern}, got ${message}`);
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
  equal(actual.length, expected.length, `the numbers of ${what}`);
  for (let i = 0; i < expected.length; ++i) {
    require(Math.abs(actual[i] - expected[i]) <= bound, `${what}[${i}] is ${actual[i]}, expected ${expected[i]} within ${bound}`);
  }
}

function compareAttention(core, spelling, { heads, dim, rotated, output, bound }) {
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
    require(Math.abs(sum - 1) < 1e-5, `the probabilities of row ${row} add up to ${sum}`);
  }
}

// Numbers may differ in their last digits, where the C library's functions do; words may not.
function equalJson(actual, wanted, where) {
  if (typeof wanted === 'number') {
    const room = 1e-12 * Math.max(1, Math.abs(wanted));
    require(typeof actual === 'number' && Math.abs(actual - wanted) <= room, `${where} is ${actual}, expected ${wanted}`);
  } else if (wanted !== null && typeof wanted === 'object') {
    equal(Object.keys(actual ?? {}).join(), Object.keys(wanted).join(), `keys of ${where}`);
    for (const key of Object.keys(wanted)) equalJson(actual[key], wanted[key], `${where}.${key}`);
  } else {
    equal(actual, wanted, where);
  }
}

function compareCommand(core, { words, stdout, stderr, status }) {
  const ours = core.command(words);
  equal(ours.errors, stderr, 'the error text');
  equal(ours.code, status, 'the exit code');
  if (words.includes('--json') && stdout) equalJson(JSON.parse(ours.output), JSON.parse(stdout), 'output');
  else equal(ours.output, stdout, 'the output');
}

// SPDX-License-Identifier: Apache-2.0
// Times ONNX Runtime's RotaryEmbedding (com.microsoft) against our rotation, one thread each, alternating.
// Usage: node rotary.mjs LOCUS_ROTATE_ROUNDS [--rounds N] [--round-seconds S] [--quick] [GROUP ...]
// Prints one JSON object per result; tools/peer_programs.h describes it.
//
// A call from JavaScript has overhead (at 256 MB, more than the rotation), so one rotation is the difference between
// a call that rotates 1 + links times and a call that rotates once, divided by links. Memory is kept between calls;
// the first calls, which allocate, are not timed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import ort from 'onnxruntime-node';
import { fromFloat16, toFloat16 } from './float16.mjs';
import { rotaryModel } from './rotary_model.mjs';

const heads = 32;
const headDim = 128;
const sizes = [['256 KB', 2 ** 18, 64], ['8 MB', 2 ** 23, 8], ['256 MB', 2 ** 28, 4]];  // name, bytes, links
const cases = [['half', 'float32'], ['interleaved', 'float32'], ['half', 'float16']];
const kinds = {
  float32: { array: Float32Array, encode: (x) => x, decode: (x) => x, rounding: 2 ** -24 },
  float16: { array: Uint16Array, encode: toFloat16, decode: fromFloat16, rounding: 2 ** -11 },
};

function parse(words) {
  const request = { rounds: 41, roundSeconds: 0.02, groups: [] };
  for (let i = 0; i < words.length; ++i) {
    if (words[i] === '--rounds') request.rounds = Number(words[++i]);
    else if (words[i] === '--round-seconds') request.roundSeconds = Number(words[++i]);
    else if (words[i] !== '--quick') request.groups.push(words[i]);
  }
  return request;
}

/// Our side: a program that answers each input line with one line.
function startOurs(program) {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`${program} ended early`);
      return value;
    },
    end: () => child.stdin.end(),
  };
}

function table(kind, tokens, wave) {
  const values = new kind.array(tokens * headDim / 2);
  for (let p = 0; p < tokens; ++p) {
    for (let i = 0; i < headDim / 2; ++i) {
      values[p * headDim / 2 + i] = kind.encode(wave(p * 10000 ** (-2 * i / headDim)));
    }
  }
  return values;
}

async function prepare(type, tokens, interleaved, links) {
  const kind = kinds[type];
  const shape = [1, tokens, heads * headDim];
  const x = new kind.array(tokens * heads * headDim);
  const some = Array.from({ length: 4093 }, (_, i) => kind.encode(Math.sin(i * i)));  // a prime: no two heads alike
  for (let i = 0; i < x.length; ++i) x[i] = some[i % some.length];
  const feeds = {
    x0: new ort.Tensor(type, x, shape),
    ids: new ort.Tensor('int64', BigInt64Array.of(0n), [1]),
    cos: new ort.Tensor(type, table(kind, tokens, Math.cos), [tokens, headDim / 2]),
    sin: new ort.Tensor(type, table(kind, tokens, Math.sin), [tokens, headDim / 2]),
  };
  const output = new kind.array(x.length);
  const sessionOf = async (count) => {
    const model = rotaryModel({ type, tokens, heads, headDim, interleaved, links: count });
    const session = await ort.InferenceSession.create(model,
      { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', logSeverityLevel: 3 });
    const fetches = { [`x${count}`]: new ort.Tensor(type, output, shape) };
    return () => session.run(feeds, fetches);
  };
  const short = await sessionOf(1);
  await short();
  const once = output.slice();
  return { x, once, short, long: await sessionOf(1 + links) };
}

/// They round cos, products and sum, we round the result: 4 roundings of at most sqrt(2) times the largest value, 1;
/// a fifth covers higher orders.
async function check(ours, { x, once }, [pairing, type], tokens, line) {
  const folder = mkdtempSync(join(tmpdir(), 'locus-'));
  try {
    const file = join(folder, 'values');
    writeFileSync(file, x);
    await ours.ask(`prepare ${pairing} ${type} ${tokens} ${file}`);
    const raw = readFileSync(file);
    const { array, decode, rounding } = kinds[type];
    const own = new array(raw.buffer, raw.byteOffset, raw.length / array.BYTES_PER_ELEMENT);
    let worst = 0;
    for (let i = 0; i < own.length; ++i) worst = Math.max(worst, Math.abs(decode(own[i]) - decode(once[i])));
    if (!(worst <= 5 * rounding * Math.SQRT2)) throw new Error(`results differ by ${worst}: ${line}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function secondsOf(run, repeats) {
  const begin = process.hrtime.bigint();
  for (let i = 0; i < repeats; ++i) await run();
  return Number(process.hrtime.bigint() - begin) / 1e9 / repeats;
}

/// The median of the ratios and its 95 % interval, as in bench/measure.cpp.
function medianWithInterval(ratios) {
  const sorted = [...ratios].sort((a, b) => a - b);
  const n = sorted.length;
  const at = (index) => sorted[Math.floor(Math.min(Math.max(index, 0), n - 1))];
  const reach = 0.98 * Math.sqrt(n);
  return { times: (at((n - 1) / 2) + at(n / 2)) / 2, interval: [at(Math.floor(n / 2 - reach)), at(Math.ceil(n / 2 + reach))] };
}

async function compare(ours, { short, long }, links, { rounds, roundSeconds }) {
  const repeats = (once) => Math.max(1, Math.floor(roundSeconds / once));
  await long();
  const theirRepeats = repeats(await secondsOf(long, 1));
  const ourRepeats = repeats(Number(await ours.ask('time 1')));
  const timeOurs = async () => Number(await ours.ask(`time ${ourRepeats}`));
  const timeTheirs = async () => (await secondsOf(long, theirRepeats) - await secondsOf(short, theirRepeats)) / links;
  const ratios = [];
  const seconds = [];
  for (let round = -2; round < rounds; ++round) {
    let own, peer;
    if (round % 2 === 0) {
      own = await timeOurs();
      peer = await timeTheirs();
    } else {
      peer = await timeTheirs();
      own = await timeOurs();
    }
    if (round < 0) continue;
    ratios.push(peer / own);
    seconds.push(peer);
  }
  const middle = medianWithInterval(seconds).times;
  return { ...medianWithInterval(ratios), seconds: middle };
}

const [program, ...words] = process.argv.slice(2);
const request = parse(words);
const peer = `ONNX Runtime ${ort.env.versions.node} RotaryEmbedding`;
if (request.groups.length === 0 || request.groups.includes('rotate')) {
  const ours = startOurs(program);
  for (const [pairing, type] of cases) {
    for (const [size, bytes, links] of sizes) {
      const line = `${pairing} ${type} ${size}`;
      const tokens = bytes / (heads * headDim * kinds[type].array.BYTES_PER_ELEMENT);
      const prepared = await prepare(type, tokens, pairing === 'interleaved', links);
      await check(ours, prepared, [pairing, type], tokens, line);
      const result = await compare(ours, prepared, links, request);
      if (result.times > 0) console.log(JSON.stringify({ peer, group: 'rotate', line, ...result }));
      else console.error(`locus_bench_onnxruntime: too noisy to tell: ${line}`);
    }
  }
  ours.end();
}

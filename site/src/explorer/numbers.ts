// SPDX-License-Identifier: Apache-2.0
// The numbers that the views draw, all from the core.
import type { Locus } from '../../wasm/locus.js';
import { textOf } from '../core';
import { spellingOf, type Choice, type State } from './state';

export interface Numbers {
  spelling: string;
  error: string;
  site: string;
  width: number; // of a row
  rows: Float32Array | null; // [width, length]: a line per dimension
  most: number; // the largest absolute number of the rows
  similarity: Float32Array | null;
  similarityCount: number;
  invFreq: number[];
  trained: number | null;
  scores: Float32Array[]; // per head, by distance
  content: Float32Array[];
  bias: Float64Array[]; // per head, by distance
  buckets: Int32Array | null; // by offset -length + 1 ... length - 1
  neighbours: { neighbour: number; norm: number }[]; // of rows that are made from tokens nearby
  lengthDependent: boolean;
}

const range = (count: number, step = 1) => Array.from({ length: count }, (_, i) => i * step);

/** A repeatable vector of standard normal numbers. */
export function randomVector(size: number, seed: number): number[] {
  let state = (seed * 2654435761 + 12345) >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 4294967296;
  };
  return Array.from({ length: size }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}

/** The largest absolute number, and never 0, by which one may divide. */
export function largest(numbers: Float32Array): number {
  let most = 1e-12;
  for (let i = 0; i < numbers.length; ++i) if (Math.abs(numbers[i]) > most) most = Math.abs(numbers[i]);
  return most;
}

function transposed(rows: Float32Array, width: number): Float32Array {
  const count = rows.length / width, result = new Float32Array(rows.length);
  for (let t = 0; t < count; ++t) for (let j = 0; j < width; ++j) result[j * count + t] = rows[t * width + j];
  return result;
}

const perHead = <T extends Float32Array | Float64Array>(all: T, keys: number): T[] =>
  range(all.length / keys).map((head) => all.subarray(head * keys, (head + 1) * keys) as T);

// The query is the last token; the key is the same vector at every distance.
function addScores(core: Locus, state: State, numbers: Numbers, shown: Record<string, unknown>): void {
  const given = (shown.arguments ?? {}) as Record<string, unknown>;
  const heads = Number(shown.heads ?? given.heads ?? given.key_heads ?? 1), dim = Number(shown.head_dim ?? shown.dim ?? 16);
  const query = randomVector(heads * dim, state.seed), one = randomVector(heads * dim, state.seed + 1000);
  const key = range(state.length).flatMap(() => one);
  const { scores, content } = core.scores({ spelling: numbers.spelling, length: state.length }, {
    query, key, heads, queryPositions: [state.length - 1], keyPositions: range(state.length).map((distance) => state.length - 1 - distance),
  });
  numbers.scores = perHead(scores, state.length);
  numbers.content = perHead(content, state.length);
}

/** How many of the wanted positions an encoding accepts; all of them where it is refused, which numbersOf() explains. */
export function acceptedLength(core: Locus, choice: Choice, wanted: number): number {
  try {
    return Math.min(wanted, core.range({ spelling: spellingOf(choice), length: wanted }).last + 1);
  } catch {
    return wanted;
  }
}

export function numbersOf(core: Locus, choice: Choice, state: State): Numbers {
  const numbers: Numbers = {
    spelling: spellingOf(choice), error: '', site: 'none', width: 0, rows: null, most: 1, similarity: null, similarityCount: 0, invFreq: [],
    trained: null, scores: [], content: [], bias: [], buckets: null, neighbours: [], lengthDependent: false,
  };
  const encoding = { spelling: numbers.spelling, length: state.length };
  try {
    const shown = core.show(encoding);
    numbers.site = String(shown.site);
    numbers.invFreq = (shown.inv_freq as number[] | undefined) ?? [];
    numbers.trained = (shown.trained_length as number | undefined) ?? null;
    if ('taps_before' in shown) { // such rows depend on the tokens: a position alone has none
      const { data } = core.figure('neighbours', { scheme: numbers.spelling }) as { data: { values: Numbers['neighbours'] } };
      numbers.neighbours = data.values;
      return numbers;
    }
    if (numbers.site === 'hidden' || (numbers.site === 'query_key' && numbers.invFreq.length > 0)) {
      const rows = core.rows(encoding, range(state.length));
      numbers.width = rows.length / state.length;
      numbers.rows = transposed(rows, numbers.width);
      numbers.most = largest(rows);
      const step = Math.ceil(state.length / 128);
      numbers.similarityCount = Math.ceil(state.length / step);
      numbers.similarity = core.similarity(encoding, range(numbers.similarityCount, step));
    }
    if (numbers.site === 'score') {
      const keys = range(state.length).map((distance) => state.length - 1 - distance);
      numbers.bias = perHead(core.bias(encoding, [state.length - 1], keys), state.length);
      if ('num_buckets' in shown) {
        const middle = state.length - 1;
        numbers.buckets = core.buckets(encoding, [middle], range(2 * state.length - 1));
      }
    }
    if (numbers.site !== 'none') addScores(core, state, numbers, shown);
  } catch (error) {
    numbers.error = textOf(error);
  }
  return numbers;
}

// SPDX-License-Identifier: Apache-2.0
// The probe in JavaScript: runs a model of `locus lab --save-models gguf`, or any other that `locus probe` accepts, in the
// page. A C++ exception is an Error with the same message.

/** How a text is read. Any other than the default is what a wrong engine, or a stretched one, would do. */
export interface Reading {
  /** As `locus probe --encoding` spells it: `own` (the default), `yarn:4`, `rope:pairing=interleaved`. */
  encoding?: string;
  /** Position of the first token, 0 unless given: `locus probe --first-position`. */
  firstPosition?: number;
  /** Added to the positions of queries and not to those of keys: `locus probe --query-ahead`. */
  queryAhead?: number;
}

/** A token that may come next; the first of a list is the one that was written. */
export interface Candidate {
  text: string;
  probability: number;
}

/** Arrays are [layers, heads, queries, keys]; 0 where a query does not see a key. */
export interface Attention {
  tokens: number;
  probabilities: Float32Array;
  /** Before the softmax; empty where the encoding acts on more than a query and a key (PoPE, gates). */
  scores: Float32Array;
  /** The scores of the same queries and keys without positions, or empty; the rest of a score is the part of the positions. */
  content: Float32Array;
}

export interface ProbeModel {
  readonly scheme: string;
  readonly site: 'none' | 'hidden' | 'query_key' | 'score' | 'relative_key' | 'output';
  readonly layers: number;
  readonly heads: number;
  readonly headDim: number;
  readonly trainedLength: number;
  /** How many positions its encoding has: a learned table ends. */
  readonly positions: number;
  /** Whether the rules of rules() change it. */
  readonly takesRules: boolean;
  /** `half` or `interleaved` where it rotates, else empty. */
  readonly pairing: string;
  /** The text of each token. */
  readonly vocabulary: string[];
  encode(text: string): Int32Array;
  /** The loss of each token after the first, in nats. */
  losses(text: string, how?: Reading): Float64Array;
  attention(text: string, how?: Reading): Attention;
  /** Continues a text, one token at a time; ends where the encoding has no more positions. A model writes one text at a time. */
  write(text: string, how?: Reading): Generator<Candidate[], void>;
  /** Frees its memory. */
  close(): void;
}

export interface Probe {
  /** The SIMD instruction set. */
  readonly target: string;
  /** The rules of RoPE that need a factor and nothing else: `yarn:4`. */
  rules(): string[];
  /** Opens a model from the bytes of its GGUF file; `name` starts the messages of errors. */
  open(name: string, bytes: Uint8Array): ProbeModel;
}

export function loadProbe(factory: (options?: object) => Promise<unknown>, moduleOptions?: object): Promise<Probe>;

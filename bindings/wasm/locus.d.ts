// SPDX-License-Identifier: Apache-2.0
// Locus in JavaScript. Every number comes from the C++ library; a C++ exception is an Error with the same message.

/** An encoding as the command line spells it: `alibi:heads=8`, `rope:head_dim=64,pairing=half`, `yarn:4,...`, `@/config.json`. */
export type Spelling = string;

/** An encoding; `layerType` chooses one of a config's, `length` is the sequence length, for rules that depend on it. */
export type Encoding = Spelling | { spelling: Spelling; layerType?: string; length?: number };

export type Numbers = ArrayLike<number>;

export interface Parameter {
  name: string;
  kind: 'boolean' | 'integer' | 'real' | 'choice' | 'list' | 'tensor';
  meaning: string;
  required: boolean;
  default: string | null;
  least?: number;
  above?: number;
  most?: number;
  choices?: string[];
}

export interface Scheme {
  name: string;
  title: string;
  site: 'none' | 'hidden' | 'query_key' | 'score' | 'relative_key' | 'output';
  summary: string;
  claims: string[];
  paper: string;
  parameters: Parameter[];
  /** Small valid arguments, as text. */
  example: Record<string, string>;
}

export interface Rule {
  name: string;
  title: string;
  summary: string;
  length_dependent: boolean;
  paper: string;
  parameters: Parameter[];
  example: Record<string, string>;
}

export interface Registry {
  schemes: Scheme[];
  rules: Rule[];
}

/** Arrays are [tokens, heads, head_dim]. Encodings of the site `hidden` are added to query, key and value. */
export interface Attention {
  query: Numbers;
  key: Numbers;
  /** Absent: the keys. */
  value?: Numbers;
  queryPositions: Numbers;
  /** Absent: those of the queries. */
  keyPositions?: Numbers;
  heads?: number;
  keyHeads?: number;
  causal?: boolean;
}

export interface Finding {
  id: string;
  severity: 'error' | 'warning' | 'note';
  layer_type: string;
  keys: string[];
  what: string;
  consequence: string;
  numbers: Record<string, number>;
}

export interface LintedLayer {
  layer_type: string;
  scheme: string;
  trained_length?: number;
  refusal?: string;
  rule?: string;
  head_dim?: number;
  rotary_dim?: number;
  pairing?: string;
  inv_freq?: number[];
  attention_factor?: number;
  used: string[];
  defaulted: string[];
  unknown: string[];
}

/** What `locus lint --json` prints. */
export interface Lint {
  model: string;
  format: string;
  model_type: string;
  served_length: number;
  layers: LintedLayer[];
  refusal?: string;
  findings: Finding[];
  /** With `against`. */
  differences?: Finding[];
  errors: number;
  warnings: number;
  notes: number;
}

export interface Verdict {
  name: string;
  about: string;
  confidence: number;
  text: string;
  evidence: string;
}

/** What `locus diagnose --json` prints; a diagnosis of score biases has fewer fields. */
export interface Diagnosis {
  storage: string;
  as_expected: boolean;
  verdicts: Verdict[];
  kind?: string;
  residual?: number;
  noise?: number;
  slice?: { pairing: string; rotary_offset: number; rotary_dim: number } | null;
  frequencies?: number[];
  pair_magnitudes?: number[];
  pair_angles?: number[][];
  explanations?: { text: string; misfit: number }[];
  decide?: string[];
  not_judged?: string[];
  axes?: string;
  positions_assumed?: boolean;
}

export interface DiagnoseOptions {
  before?: string;
  after?: string;
  bias?: string;
  axes?: string;
  positions?: string;
  role?: 'query' | 'key' | 'value';
  config?: string;
  scheme?: Spelling;
  layerType?: string;
}

export interface FigureOptions {
  scheme?: Spelling;
  config?: string;
  results?: string;
  positions?: string;
  dims?: string;
  pairs?: string;
  heads?: string;
  rules?: string;
  lang?: Language;
}

/** Languages of the texts that the library has in several; the others are English. */
export type Language = 'en' | 'es';

export interface LabTask {
  name: string;
  title: string;
  measures: string;
  main: string;
  metric: 'loss' | 'accuracy';
  better: 'lower' | 'higher';
  chance: number | null;
  majority: number | null;
  train_length: number;
  lengths: number[];
  lines: string[];
}

export interface LabNumber {
  task: string;
  line: string;
  name: string;
  length: number;
  place: number;
  mean: number | null;
  low: number | null;
  high: number | null;
  values: (number | null)[];
}

/** A results.json (docs/results-format.md) with its texts in one language, and what the report says about it. */
export interface LabResults {
  run: { preset: string; created: string; seeds: number[]; baseline: string; machine: { cpu: string; cores: number }; versions: Record<string, string> };
  tasks: LabTask[];
  lines: { name: string; trained: string; label: string; site: string; variant: string; tuned: boolean }[];
  ranking: { rank: number; line: string; gain: number; low: number | null; high: number | null; learned: number; tested: number; leads: boolean }[];
  numbers: LabNumber[];
  verdicts: { task: string; line: string; learned: boolean; rank: number | null; reason: string }[];
  claims: { claim: string; source: string; seen: string; agrees: 'yes' | 'no' | 'cannot tell' }[];
  opening_task: string | null;
  /** What holds beyond the trained length, a sentence per task that is tested there. */
  answers: { task: string; sentence: string }[];
  /** The argument for the default; names are between **. */
  default: { sentence: string; lines: string[]; cases: { opening: string; tasks: { task: string; text: string }[] }[] };
}

export interface Locus {
  /** The SIMD instruction set. */
  readonly target: string;
  /** Runs `locus` with these words: list, show, plot, positions, bias, diagnose, lint. */
  command(words: string[]): { code: number; output: string; errors: string };
  registry(): Registry;
  /** The positions that the encoding accepts, first and last included. */
  range(encoding: Encoding): { first: number; last: number };
  /** Sites hidden and query_key: one row per position; of a rotation [cos | sin] of its pairs. */
  rows(encoding: Encoding, positions: Numbers): Float32Array;
  /** [positions, positions]: the cosine of the angle between two rows. */
  similarity(encoding: Encoding, positions: Numbers): Float32Array;
  /** Site score: [heads, queries, keys]. */
  bias(encoding: Encoding, queries: Numbers, keys: Numbers): Float64Array;
  /** [queries, keys]. */
  buckets(encoding: Encoding, queries: Numbers, keys: Numbers): Int32Array;
  /** Site query_key: a rotated copy of [tokens, heads, head_dim]. */
  rotate(encoding: Encoding, request: { data: Numbers; positions: Numbers; heads?: number; role?: 'query' | 'key'; inverse?: boolean }): Float32Array;
  /** Output [tokens, heads, head_dim] and probabilities [heads, queries, keys]. */
  attend(encoding: Encoding, request: Attention): { output: Float32Array; probabilities: Float32Array };
  /** [heads, queries, keys] before the softmax; `content` without positions. */
  scores(encoding: Encoding, request: Attention): { scores: Float32Array; content: Float32Array };
  /** What `locus show --json` prints. */
  show(encoding: Encoding, options?: { positions?: string }): Record<string, unknown>;
  lint(path: string, options?: { against?: string; servedLength?: number }): Lint;
  diagnose(options: DiagnoseOptions): Diagnosis;
  figures(): { name: string; meaning: string; scheme: string; options: string[] }[];
  /** A Vega-Lite specification with its data. */
  figure(name: string, options?: FigureOptions): Record<string, unknown>;
  /** The charts of a results.json, for figure(name, { results: path }). */
  resultCharts(path: string, options?: { lang?: Language }): { name: string; meaning: string }[];
  results(path: string, language?: Language): LabResults;
  /** A text of the registry in another language; null where there is none. */
  phrase(english: string, language: Language): string | null;
  /** The name and the sentence of a verdict; null where the language has none. */
  fault(id: string, language?: Language): { name: string | null; text: string | null };
  /** Puts a file where the functions that take a path find it. Nothing leaves the page. Of a large GGUF file the first bytes
   *  are enough: give the size of the whole. */
  writeFile(path: string, bytes: Uint8Array | string, wholeSize?: number): void;
  removeFile(path: string): void;
}

export function loadLocus(factory: (options?: object) => Promise<unknown>, moduleOptions?: object): Promise<Locus>;

// SPDX-License-Identifier: Apache-2.0
// Loss by position, agreement and continuations, in pieces short enough for the page to stay alive between them.
import type { Candidate, ProbeModel, Reading } from '../../wasm/probe.js';

export const block = 16; // positions per point of a curve
const texts = 8;

/** Lets the page draw and answer. */
export const breathe = () => new Promise<void>((done) => { setTimeout(done); });

/** The browser keeps how long it took, for whoever wants to know. */
function timed<Result>(name: string, work: () => Result): Result {
  const start = performance.now();
  const result = work();
  performance.measure(name, { start, end: performance.now() });
  return result;
}

/** Parts of the sentences that begin anywhere in them, so that every position meets every place of a sentence. */
function parts(sentences: string, length: number): string[] {
  const characters = Array.from(sentences), room = characters.length - length;
  return Array.from({ length: texts }, (_, i) => characters.slice(Math.floor((i * room) / (texts - 1)), Math.floor((i * room) / (texts - 1)) + length).join(''));
}

/** Mean loss of each block of positions over several texts; `onPart` gets the means so far and says whether to go on. */
export async function lossCurve(model: ProbeModel, sentences: string, length: number, how: Reading,
                                onPart: (means: number[]) => boolean): Promise<void> {
  if (length < block) return;
  const sums = new Float64Array(Math.floor(length / block));
  let done = 0;
  for (const text of parts(sentences, length + 1)) {
    const losses = timed(`locus losses of ${length}`, () => model.losses(text, how));
    ++done;
    for (let i = 0; i < sums.length * block; ++i) sums[Math.floor(i / block)] += losses[i] / block;
    if (!onPart(Array.from(sums, (sum) => sum / done))) return;
    await breathe();
  }
}

export const blockCentres = (length: number) => Array.from({ length: Math.floor(length / block) }, (_, i) => (i + 0.5) * block);

const mean = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** Mean loss within the trained length, and of the last quarter if the curve goes beyond it. */
export function summary(curve: number[], trained: number): { inside: number; end: number | null } {
  const within = Math.max(1, Math.floor(trained / block));
  const end = curve.length > within ? mean(curve.slice(-Math.max(1, Math.floor(curve.length / 4)))) : null;
  return { inside: mean(curve.slice(0, within)), end };
}

/** What a text continues with, up to a line break. */
export function* continuation(model: ProbeModel, text: string, how: Reading, most: number): Generator<Candidate[]> {
  const writer = model.write(text, how);
  let next = timed('locus prompt', () => writer.next()); // reads the text, too
  for (let written = 1; !next.done; ++written) {
    yield next.value;
    if (next.value[0].text === '\n' || written >= most) return;
    next = timed('locus token', () => writer.next());
  }
}

export interface Question {
  prompt: string;
  answer: string;
}

/** The form after `él` of each sentence: what came before determines it. */
export function questionsOf(sentences: string, most: number): Question[] {
  const questions: Question[] = [];
  for (const sentence of sentences.split('\n')) {
    const at = sentence.indexOf('él ');
    if (at >= 0) questions.push({ prompt: sentence.slice(0, at + 3), answer: sentence.slice(at + 3, sentence.indexOf(',', at) + 1) });
  }
  return questions.slice(0, most);
}

/** The last characters of the sentences before `text`. */
export function withContext(sentences: string, context: number, text: string): string {
  const characters = Array.from(sentences);
  return characters.slice(characters.length - context).join('') + text;
}

export function answers(model: ProbeModel, { prompt, answer }: Question, how: Reading): boolean {
  let said = '';
  for (const candidates of continuation(model, prompt, how, Array.from(answer).length)) said += candidates[0].text;
  return said === answer;
}

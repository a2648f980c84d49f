// SPDX-License-Identifier: Apache-2.0
// What the charts of the results draw: the numbers of chosen lines, by length.
import type { LabNumber, LabResults, LabTask } from '../../wasm/locus.js';
import type { Line } from '../charts/LineChart.vue';

export interface Standing {
  line: string;
  label: string;
  mean: number;
  low: number;
  high: number;
  learned: boolean;
}

const known = (value: number | null | undefined) => value ?? NaN;
const ofWholes = (results: LabResults, task: LabTask) =>
  results.numbers.filter((one) => one.task === task.name && one.place === -1 && task.lengths.includes(one.length));

/** The numbers of whole sequences by length: the main one first. */
export function numberNames(results: LabResults, task: LabTask): string[] {
  const all = [...new Set(ofWholes(results, task).map((one) => one.name))];
  return all.sort((a, b) => Number(b === task.main) - Number(a === task.main));
}

export const labelOf = (results: LabResults, line: string) => results.lines.find((one) => one.name === line)?.label ?? line;

/** The lines of a task in the order of the ranking; fine-tuned ones, which are not ranked, follow. */
export function linesOf(results: LabResults, task: LabTask): string[] {
  const rank = new Map(results.ranking.map((one, i) => [one.line, i]));
  return [...task.lines].sort((a, b) => (rank.get(a) ?? 1e6) - (rank.get(b) ?? 1e6));
}

/** What is shown before one chooses: what leads, what the papers argue about, at most six lines. */
export function usualLines(results: LabResults, task: LabTask): string[] {
  const all = linesOf(results, task);
  const wanted = [...results.default.lines.slice(0, 2), 'rope', 'alibi', 'rope+yarn', 't5', 'nope', 'learned', 'sinusoidal', ...all];
  return [...new Set(wanted)].filter((line) => all.includes(line)).slice(0, 6);
}

function find(numbers: LabNumber[], line: string, name: string, length: number): LabNumber | undefined {
  return numbers.find((one) => one.line === line && one.name === name && one.length === length);
}

/** Six colours, then the same ones dashed: a few lines are told apart by colour alone. */
export function curvesOf(results: LabResults, task: LabTask, name: string, lines: string[]): Line[] {
  const numbers = ofWholes(results, task);
  return lines.map((line, i) => {
    const each = task.lengths.map((length) => find(numbers, line, name, length));
    return {
      name: labelOf(results, line), y: each.map((one) => known(one?.mean)), low: each.map((one) => known(one?.low)),
      high: each.map((one) => known(one?.high)), colour: i, dashed: Math.floor(i / 6) % 2 === 1,
    };
  });
}

/** The chosen lines at one length, best first; those without a number are left out. */
export function standingsAt(results: LabResults, task: LabTask, name: string, lines: string[], length: number): Standing[] {
  const numbers = ofWholes(results, task), sign = isBetterLower(task, name) ? 1 : -1;
  const all = lines.map((line) => {
    const number = find(numbers, line, name, length);
    const verdict = results.verdicts.find((one) => one.task === task.name && one.line === line);
    return {
      line, label: labelOf(results, line), mean: known(number?.mean), low: known(number?.low), high: known(number?.high), learned: verdict?.learned ?? true,
    };
  });
  return all.filter((one) => Number.isFinite(one.mean)).sort((a, b) => sign * (a.mean - b.mean));
}

export const isBetterLower = (task: LabTask, name: string) => (name === task.main ? task.better === 'lower' : name.includes('loss'));

// SPDX-License-Identifier: Apache-2.0
// What the page of the mini-GPT shows, and its form in the address: a link shows what one saw.
import type { ProbeModel, Reading } from '../../wasm/probe.js';

export interface State {
  /** Schemes of the models side by side. */
  models: string[];
  text: string;
  /** Characters of other sentences before the text. */
  context: number;
  /** Characters of the loss curves. */
  length: number;
  rule: string;
  factor: number;
  firstPosition: number;
  queryAhead: number;
  mixedPairs: boolean;
  /** The attention map: a scheme, and what is chosen in it. */
  map: string;
  layer: number;
  head: number;
  query: number;
  key: number;
}

export const mostModels = 4;

export const initialState = (): State => ({
  models: ['rope', 'alibi', 'learned'], text: 'I work, you work, he ', context: 0, length: 256,
  rule: 'none', factor: 4, firstPosition: 0, queryAhead: 0, mixedPairs: false,
  map: 'rope', layer: 0, head: 0, query: 20, key: 18,
});

const numbers = ['context', 'length', 'factor', 'firstPosition', 'queryAhead', 'layer', 'head', 'query', 'key'] as const;

export function toAddress(state: State): string {
  const query = new URLSearchParams({ models: state.models.join(','), text: state.text, rule: state.rule, map: state.map });
  if (state.mixedPairs) query.set('mixedPairs', '1');
  for (const name of numbers) query.set(name, String(state[name]));
  return '#' + query.toString();
}

export function fromAddress(hash: string, known: string[]): State {
  const state = initialState();
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const models = (query.get('models') ?? '').split(',').filter((name) => known.includes(name));
  if (models.length > 0) state.models = [...new Set(models)].slice(0, mostModels);
  state.text = query.get('text') ?? state.text;
  state.rule = query.get('rule') ?? state.rule;
  state.mixedPairs = query.has('mixedPairs');
  state.map = state.models.includes(query.get('map') ?? '') ? query.get('map')! : state.models[0];
  for (const name of numbers) {
    const number = Number(query.get(name) ?? NaN);
    if (Number.isInteger(number) && number >= 0) state[name] = Math.min(number, 512);
  }
  return state;
}

/** Whether anything differs from how the models were trained. */
export const isChanged = (state: State) =>
  state.rule !== 'none' || state.mixedPairs || state.firstPosition > 0 || state.queryAhead > 0;

/** What the switches mean for one model: only rotations have rules and pairs. */
export function readingOf(model: ProbeModel, state: State): Reading {
  const settings: string[] = [];
  if (state.rule !== 'none') settings.push(`rule=${state.rule}`, `factor=${state.factor}`);
  if (state.mixedPairs) settings.push(`pairing=${model.pairing === 'half' ? 'interleaved' : 'half'}`);
  return {
    encoding: model.takesRules && settings.length > 0 ? `${model.scheme}:${settings.join(',')}` : 'own',
    firstPosition: state.firstPosition,
    queryAhead: state.queryAhead,
  };
}

/** How many characters the model can read with the switches. */
export const placesOf = (model: ProbeModel, state: State) => model.positions - state.firstPosition - state.queryAhead;

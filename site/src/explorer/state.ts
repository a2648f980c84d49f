// SPDX-License-Identifier: Apache-2.0
// What the explorer shows, and its form in the address: a link shows what one saw.
import type { Parameter, Registry } from '../../wasm/locus.js';

export interface Choice {
  scheme: string;
  settings: Record<string, string>;
}

export interface State {
  first: Choice;
  second: Choice | null;
  length: number;
  position: number;
  offset: number;
  seed: number;
}

export const initialState = (): State => ({
  first: { scheme: 'rope', settings: { head_dim: '64', pairing: 'half' } },
  second: null,
  length: 128,
  position: 20,
  offset: 8,
  seed: 1,
});

/** `rope:head_dim=64,pairing=half`, as everywhere in Locus. */
export function spellingOf({ scheme, settings }: Choice): string {
  const given = Object.entries(settings).filter(([, value]) => value !== '');
  return given.length === 0 ? scheme : `${scheme}:${given.map(([name, value]) => `${name}=${value}`).join(',')}`;
}

/** Splits at commas that begin another NAME=; other commas belong to lists. */
export function choiceOf(spelling: string): Choice {
  const colon = spelling.indexOf(':');
  if (colon < 0) return { scheme: spelling, settings: {} };
  const settings: Record<string, string> = {};
  for (const part of spelling.slice(colon + 1).split(/,(?=[a-z_0-9]+=)/)) {
    const equals = part.indexOf('=');
    if (equals > 0) settings[part.slice(0, equals)] = part.slice(equals + 1);
  }
  return { scheme: spelling.slice(0, colon), settings };
}

export function toAddress(state: State): string {
  const query = new URLSearchParams({ a: spellingOf(state.first) });
  if (state.second) query.set('b', spellingOf(state.second));
  for (const name of ['length', 'position', 'offset', 'seed'] as const) query.set(name, String(state[name]));
  return '#' + query.toString();
}

export function fromAddress(hash: string): State {
  const state = initialState();
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  if (query.has('a')) state.first = choiceOf(query.get('a')!);
  if (query.has('b')) state.second = choiceOf(query.get('b')!);
  for (const name of ['length', 'position', 'offset', 'seed'] as const) {
    const value = Number(query.get(name) ?? NaN);
    if (Number.isInteger(value) && value >= 0) state[name] = value;
  }
  state.length = Math.min(4096, Math.max(2, state.length));
  state.position = Math.min(state.length - 1, state.position);
  state.offset = Math.min(state.length - 1, state.offset);
  return state;
}

/** Sizes at which pictures say something; the examples of the registry are as small as they can be. */
const larger: Record<string, string> = { head_dim: '64', dim: '64', heads: '8', max_positions: '4096', max_length: '512', original_length: '64' };

/** The settings with which a scheme starts: its example, at larger sizes where `accepts` takes them. */
export function startOf(registry: Registry, scheme: string, accepts: (spelling: string) => boolean): Choice {
  const example = registry.schemes.find((one) => one.name === scheme)?.example ?? {};
  const settings = { ...example };
  for (const name of Object.keys(settings)) if (larger[name]) settings[name] = larger[name];
  const choice = { scheme, settings };
  return accepts(spellingOf(choice)) ? choice : { scheme, settings: { ...example } };
}

/** The parameters of a choice: those of its scheme and of its rule, without tensors. */
export function parametersOf(registry: Registry, choice: Choice): Parameter[] {
  const scheme = registry.schemes.find((one) => one.name === choice.scheme);
  const rule = registry.rules.find((one) => one.name === choice.settings.rule);
  return [...(scheme?.parameters ?? []), ...(rule?.parameters ?? [])].filter((one) => one.kind !== 'tensor');
}

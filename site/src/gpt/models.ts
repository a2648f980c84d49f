// SPDX-License-Identifier: Apache-2.0
// The probe, loaded once and on first use, and the models of the lab, each loaded when it is chosen.
import { withBase } from 'vitepress';
import type { Language } from '../../wasm/locus.js';
import type { Probe, ProbeModel } from '../../wasm/probe.js';

/** A model of public/models, and what the lab measured at the trained length: the loss and the share of correct forms. */
export interface Listed {
  scheme: string;
  titles: Record<Language, string>;
  bytes: number;
  loss: number;
  agreement: number;
}

export interface Library {
  probe: Probe;
  trainedLength: number;
  /** Training steps of each model. */
  steps: number;
  /** The loss of a guess that knows only how frequent each character is. */
  guess: number;
  models: Listed[];
  /** Sentences that no model saw in training. */
  sentences: string;
}

async function fetched(name: string): Promise<Response> {
  const response = await fetch(withBase(`/models/${name}`));
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`.trim());
  return response;
}

async function loadProbeModule(): Promise<Probe> {
  const [{ loadProbe }, { default: factory }, { default: address }] = await Promise.all([
    import('../../wasm/probe.js'),
    import('../../wasm/locus_probe.mjs'),
    import('../../wasm/locus_probe.wasm?url'),
  ]);
  return loadProbe(factory, { locateFile: () => address });
}

let loading: Promise<Library> | null = null;

export function loadLibrary(): Promise<Library> {
  loading ??= (async () => {
    const [probe, index, sentences] = await Promise.all([
      loadProbeModule(), fetched('index.json').then((response) => response.json()), fetched('verbs.txt').then((response) => response.text()),
    ]);
    return { probe, trainedLength: index.trained_length, steps: index.steps, guess: index.guess, models: index.models, sentences };
  })();
  loading.catch(() => { loading = null; }); // asked again, it is tried again
  return loading;
}

const open = new Map<string, Promise<ProbeModel>>();

export function loadModel({ probe }: Library, scheme: string): Promise<ProbeModel> {
  let model = open.get(scheme);
  if (!model) {
    const name = `${scheme}.gguf`;
    model = fetched(name).then((response) => response.arrayBuffer()).then((bytes) => probe.open(name, new Uint8Array(bytes)));
    open.set(scheme, model);
    model.catch(() => open.delete(scheme));
  }
  return model;
}

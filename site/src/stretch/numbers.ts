// SPDX-License-Identifier: Apache-2.0
// A model's rotation under every rule at a length, and what its engines' arithmetic costs; all numbers from the core.
import type { Locus } from '../../wasm/locus.js';

const path = '/stretch.json';
const assumedTrained = 4096;

export interface Model {
  arguments: Record<string, string | number | boolean>;
  trained: number;
  assumed: boolean;
  invFreq: number[]; // as the config is read
}

type Shown = { inv_freq?: number[]; trained_length?: number; arguments?: Model['arguments']; layers?: Record<string, Shown> };

/** Reads a config; null where nothing is rotated. Error: as on the command line. */
export function readModel(core: Locus, text: string): Model | null {
  core.writeFile(path, text);
  const shown = core.show(`@${path}`) as Shown;
  // A model with several layer types has `layers` by type; an encoding has a list of layer numbers there.
  const types = shown.layers && !Array.isArray(shown.layers) ? Object.values(shown.layers) : [shown];
  const rotated = types.find((one) => (one.inv_freq?.length ?? 0) > 0 && one.arguments?.head_dim !== undefined);
  if (!rotated) return null;
  return {
    arguments: rotated.arguments!, trained: rotated.trained_length ?? assumedTrained, assumed: rotated.trained_length === undefined,
    invFreq: rotated.inv_freq!,
  };
}

/** The model's plain rotation, with other settings added. */
export function spellingWith(model: Model, more: Record<string, string | number>): string {
  const settings: Record<string, string | number | boolean> = {};
  for (const name of ['head_dim', 'rotary_dim', 'pairing', 'base']) {
    if (model.arguments[name] !== undefined) settings[name] = model.arguments[name];
  }
  return 'rope:' + Object.entries({ ...settings, ...more }).map(([name, value]) => `${name}=${value}`).join(',');
}

export const ruleNames = ['none', 'linear', 'ntk', 'dynamic_ntk', 'yarn', 'llama3'] as const;
export type RuleName = (typeof ruleNames)[number];

export function spellingUnder(core: Locus, model: Model, rule: RuleName, length: number): string {
  const factor = Math.max(1, length / model.trained);
  const declared = core.registry().rules.find((one) => one.name === rule)!;
  const settings: Record<string, string | number> = { rule };
  for (const parameter of declared.parameters) {
    if (parameter.name === 'factor') settings.factor = factor;
    else if (parameter.name === 'original_length' || parameter.name === 'max_length') settings[parameter.name] = model.trained;
    else if (parameter.name === 'length') settings.length = length;
    else if (parameter.required) settings[parameter.name] = declared.example[parameter.name];
  }
  return spellingWith(model, settings);
}

export function frequenciesUnder(core: Locus, model: Model, rule: RuleName, length: number): number[] {
  return (core.show(spellingUnder(core, model, rule, length)) as Shown).inv_freq!;
}

export const profiles = ['exact', 'hf', 'ggml', 'vllm'] as const;

/** The largest error of cos and sin over all pairs, by position. The truth is the same row in double. */
export function errorsBy(core: Locus, model: Model, positions: number[], profile: (typeof profiles)[number]): number[] {
  const truth = core.show(spellingWith(model, {}), { positions: positions.join(',') }) as { cos: number[][]; sin: number[][] };
  const rows = core.rows(spellingWith(model, { profile }), positions);
  const width = rows.length / positions.length, pairs = width / 2;
  return positions.map((_, t) => {
    let most = 0;
    for (let i = 0; i < pairs; ++i) {
      most = Math.max(most, Math.abs(rows[t * width + i] - truth.cos[t][i]), Math.abs(rows[t * width + pairs + i] - truth.sin[t][i]));
    }
    return most;
  });
}

/** What engines take to run the model at this length. */
export function flagsFor(model: Model, rule: RuleName, length: number): { engine: string; text: string }[] {
  const factor = Number((length / model.trained).toPrecision(6));
  const scaling: Record<string, object> = {
    linear: { rope_type: 'linear', factor },
    dynamic_ntk: { rope_type: 'dynamic', factor },
    yarn: { rope_type: 'yarn', factor, original_max_position_embeddings: model.trained },
    llama3: { rope_type: 'llama3', factor, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: model.trained },
  };
  const width = Number(model.arguments.rotary_dim ?? model.arguments.head_dim);
  const base = Math.round(Number(model.arguments.base) * factor ** (width / (width - 2)));
  const ggml: Record<string, string> = {
    linear: `--rope-scaling linear --rope-scale ${factor}`,
    yarn: `--rope-scaling yarn --rope-scale ${factor} --yarn-orig-ctx ${model.trained}`,
    ntk: `--rope-freq-base ${base}`,
  };
  const lines = [];
  if (scaling[rule]) lines.push({ engine: 'config.json (transformers, vLLM)', text: JSON.stringify({ rope_scaling: scaling[rule], max_position_embeddings: length }, null, 1) });
  if (rule === 'ntk') lines.push({ engine: 'config.json (transformers, vLLM)', text: JSON.stringify({ rope_theta: base, max_position_embeddings: length }, null, 1) });
  if (ggml[rule]) lines.push({ engine: 'llama.cpp', text: `llama-server -m model.gguf -c ${length} ${ggml[rule]}` });
  return lines;
}

// SPDX-License-Identifier: Apache-2.0
// What the published config.json of well-known models says about positions; other keys are left out.

const llamaLike = (model_type: string, hidden_size: number, num_attention_heads: number, rope_theta: number,
                   max_position_embeddings: number, more: object = {}) =>
  ({ model_type, hidden_size, num_attention_heads, rope_theta, max_position_embeddings, ...more });

export const models: Record<string, object> = {
  'Llama 2 7B': llamaLike('llama', 4096, 32, 10000, 4096),
  'Llama 3 8B': llamaLike('llama', 4096, 32, 500000, 8192),
  'Llama 3.1 8B': llamaLike('llama', 4096, 32, 500000, 131072, {
    rope_scaling: { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 },
  }),
  'TinyLlama 1.1B': llamaLike('llama', 2048, 32, 10000, 2048),
  'Mistral 7B v0.2': llamaLike('mistral', 4096, 32, 1000000, 32768),
  'Mixtral 8x7B': llamaLike('mixtral', 4096, 32, 1000000, 32768),
  'Qwen2.5 7B Instruct': llamaLike('qwen2', 3584, 28, 1000000, 32768),
  'Qwen3 8B': llamaLike('qwen3', 4096, 32, 1000000, 40960, { head_dim: 128 }),
  'Gemma 7B': llamaLike('gemma', 3072, 16, 10000, 8192, { head_dim: 256 }),
  'Phi-3 mini 4k': llamaLike('phi3', 3072, 32, 10000, 4096, { original_max_position_embeddings: 4096 }),
  'GPT-NeoX 20B': {
    model_type: 'gpt_neox', hidden_size: 6144, num_attention_heads: 64, rotary_pct: 0.25, rotary_emb_base: 10000, max_position_embeddings: 2048,
  },
};

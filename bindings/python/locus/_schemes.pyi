# SPDX-License-Identifier: Apache-2.0
# Generated from the registry by scripts/regenerate.
from typing import Any, Literal, Optional, Sequence, Union

from numpy.typing import ArrayLike

from ._encoding import Encoding as Encoding
from ._encoding import Rule as Rule

__all__ = ['nope', 'sinusoidal', 'learned', 'conv_position', 'rope', 'xpos', 'offset_map', 'query_temperature', 'fope', 'pope', 'alibi', 't5', 'relative_bias', 'kerple', 'sandwich', 'fire', 'dynamic_bias', 'swin_v2', 'forget_gate', 'shaw', 'transformer_xl', 'conformer', 'deberta', 'decomposed_2d', 'cope', 'none', 'linear', 'ntk', 'ntk_mixed', 'dynamic_ntk', 'ntk_by_parts', 'yarn', 'longrope', 'llama3', 'proportional', 'geometric']

SchemeName = Literal['nope', 'sinusoidal', 'learned', 'conv_position', 'rope', 'xpos', 'offset_map', 'query_temperature', 'fope', 'pope', 'alibi', 't5', 'relative_bias', 'kerple', 'sandwich', 'fire', 'dynamic_bias', 'swin_v2', 'forget_gate', 'shaw', 'transformer_xl', 'conformer', 'deberta', 'decomposed_2d', 'cope']

RuleName = Literal['none', 'linear', 'ntk', 'ntk_mixed', 'dynamic_ntk', 'ntk_by_parts', 'yarn', 'longrope', 'llama3', 'proportional', 'geometric']

def nope() -> Encoding: ...

def sinusoidal(
    *,
    dim: int,
    base: float = 10000.0,
    arrangement: Literal['interleaved', 'concatenated'] = 'interleaved',
    rate: Literal['vaswani', 'fairseq'] = 'vaswani',
    first_position: int = 0,
    zero_position: Optional[int] = None,
    axes: Literal['1d', 'grid'] = '1d',
    grid_height: Optional[int] = None,
    grid_width: Optional[int] = None,
    prefix: int = 0,
) -> Encoding: ...

def learned(
    *,
    max_positions: Optional[int] = None,
    dim: Optional[int] = None,
    row_offset: int = 0,
    table: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def conv_position(
    *,
    dim: int,
    groups: int = 16,
    kernel: int = 128,
    causal: bool = False,
    weight: Optional[ArrayLike] = None,
    weight_gain: Optional[ArrayLike] = None,
    bias: Optional[ArrayLike] = None,
    norm_mean: Optional[ArrayLike] = None,
    norm_variance: Optional[ArrayLike] = None,
    norm_scale: Optional[ArrayLike] = None,
    norm_shift: Optional[ArrayLike] = None,
    norm_epsilon: float = 1e-05,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def rope(
    *,
    head_dim: int,
    pairing: Literal['half', 'interleaved'],
    base: float = 10000.0,
    rotary_dim: Optional[int] = None,
    rotary_offset: int = 0,
    rule: Union[RuleName, Rule] = 'none',
    axes: Literal['1d', 'mrope', 'mrope_interleaved', 'grid', 'pixtral', 'dinov3', 'sections'] = '1d',
    sections: Optional[Sequence[float]] = None,
    section_order: Literal['chunked', 'in_turn', 'first_last', 'balanced'] = 'chunked',
    pair_axis: Optional[Sequence[float]] = None,
    frequency_index: Literal['running', 'restarting'] = 'running',
    id_scale: Optional[Sequence[float]] = None,
    id_shift: Optional[Sequence[float]] = None,
    grid_height: Optional[int] = None,
    grid_width: Optional[int] = None,
    prefix: int = 0,
    temperature: Literal['none', 'steps', 'logarithm'] = 'none',
    temperature_length: Optional[int] = None,
    temperature_beta: float = 0.1,
    temperature_shift: Optional[int] = None,
    turned_output: bool = False,
    output_order: Literal['same', 'deinterleaved'] = 'same',
    max_length: Optional[int] = None,
    profile: Literal['exact', 'hf', 'ggml', 'vllm'] = 'exact',
    table_type: Literal['float32', 'bfloat16', 'float16'] = 'float32',
    **rule_arguments: Any,
) -> Encoding: ...

def xpos(
    *,
    head_dim: int,
    pairing: Literal['half', 'interleaved'],
    base: float = 10000.0,
    scale_base: float = 512.0,
    centre: int = 0,
    moving_centre: bool = False,
    length: Optional[int] = None,
) -> Encoding: ...

def offset_map(
    *,
    map: Literal['rerope', 'leaky_rerope', 'self_extend', 'dual_chunk'],
    window: Optional[int] = None,
    group: Optional[int] = None,
    chunk_size: Optional[int] = None,
    local_size: Optional[int] = None,
    unscaled_length: Optional[int] = None,
    length: Optional[int] = None,
    head_dim: int,
    pairing: Literal['half', 'interleaved'],
    base: float = 10000.0,
    rotary_dim: Optional[int] = None,
    rotary_offset: int = 0,
    rule: Union[RuleName, Rule] = 'none',
    temperature: Literal['none', 'steps', 'logarithm'] = 'none',
    temperature_length: Optional[int] = None,
    temperature_beta: float = 0.1,
    temperature_shift: Optional[int] = None,
    output_order: Literal['same', 'deinterleaved'] = 'same',
    max_length: Optional[int] = None,
    profile: Literal['exact', 'hf', 'ggml', 'vllm'] = 'exact',
    table_type: Literal['float32', 'bfloat16', 'float16'] = 'float32',
    **rule_arguments: Any,
) -> Encoding: ...

def query_temperature(
    *,
    head_dim: int,
    temperature: Literal['steps', 'logarithm'] = 'steps',
    temperature_length: Optional[int] = None,
    temperature_beta: float = 0.1,
    temperature_shift: Optional[int] = None,
) -> Encoding: ...

def fope(
    *,
    heads: int,
    head_dim: int,
    pairing: Literal['half', 'interleaved'] = 'half',
    base: float = 10000.0,
    frequencies: Optional[int] = None,
    max_length: Optional[int] = None,
    cos_mix: Optional[ArrayLike] = None,
    sin_mix: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def pope(
    *,
    heads: int,
    head_dim: int,
    channels: Optional[int] = None,
    axis_channels: Optional[Sequence[float]] = None,
    base: float = 10000.0,
    phases: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def alibi(
    *,
    heads: int,
    bias_max: float = 8.0,
    form: Literal['causal', 'symmetric', 'bloom', 'mpt', 'falcon', 'sqrt'] = 'causal',
    length: Optional[int] = None,
    total_heads: Optional[int] = None,
    first_head: int = 0,
    biased_heads: Optional[int] = None,
) -> Encoding: ...

def t5(
    *,
    heads: int,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
    table: Optional[ArrayLike] = None,
    profile: Literal['exact', 'hf'] = 'exact',
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def relative_bias(
    *,
    heads: int,
    index: Literal['clipped', 'deberta', 'swin'] = 'clipped',
    clip_left: Optional[int] = None,
    clip_right: Optional[int] = None,
    bucket_size: Optional[int] = None,
    max_position: Optional[int] = None,
    window_height: Optional[int] = None,
    window_width: Optional[int] = None,
    table: Optional[ArrayLike] = None,
    profile: Literal['exact', 'hf'] = 'exact',
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def kerple(
    *,
    heads: int,
    form: Literal['log', 'power'] = 'log',
    r1: Sequence[float] = [1.0],
    r2: Sequence[float] = [1.0],
) -> Encoding: ...

def sandwich(
    *,
    heads: int,
    dim: int = 128,
    base: float = 10000.0,
) -> Encoding: ...

def fire(
    *,
    heads: int,
    width: int = 32,
    w1: Optional[ArrayLike] = None,
    b1: Optional[ArrayLike] = None,
    w2: Optional[ArrayLike] = None,
    b2: Optional[ArrayLike] = None,
    c: Sequence[float] = [0.1],
    threshold: Sequence[float] = [512.0],
    seed: int = 0,
    deviation: float = 0.5,
) -> Encoding: ...

def dynamic_bias(
    *,
    heads: int,
    width: int = 16,
    depth: int = 2,
    log_distance: bool = False,
    norm: bool = False,
    w_in: Optional[ArrayLike] = None,
    b_in: Optional[ArrayLike] = None,
    w: Optional[ArrayLike] = None,
    b: Optional[ArrayLike] = None,
    gamma: Optional[ArrayLike] = None,
    beta: Optional[ArrayLike] = None,
    w_out: Optional[ArrayLike] = None,
    b_out: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.5,
) -> Encoding: ...

def swin_v2(
    *,
    heads: int,
    window_height: int,
    window_width: int,
    pretrained_height: int = 0,
    pretrained_width: int = 0,
    width: int = 512,
    w1: Optional[ArrayLike] = None,
    b1: Optional[ArrayLike] = None,
    w2: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.5,
) -> Encoding: ...

def forget_gate(
    *,
    heads: int,
    bidirectional: bool = False,
) -> Encoding: ...

def shaw(
    *,
    heads: int,
    head_dim: int,
    clip_left: int = 16,
    clip_right: Optional[int] = None,
    index: Literal['key_minus_query', 'query_minus_key'] = 'key_minus_query',
    clip: bool = True,
    values: bool = False,
    scaled: bool = True,
    meets_key: bool = False,
    key_table: Optional[ArrayLike] = None,
    value_table: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def transformer_xl(
    *,
    heads: int,
    head_dim: int,
    model_dim: Optional[int] = None,
    base: float = 10000.0,
    u: Optional[ArrayLike] = None,
    v: Optional[ArrayLike] = None,
    w_r: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def conformer(
    *,
    heads: int,
    head_dim: int,
    model_dim: Optional[int] = None,
    base: float = 10000.0,
    u: Optional[ArrayLike] = None,
    v: Optional[ArrayLike] = None,
    w_r: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def deberta(
    *,
    heads: int,
    head_dim: int,
    max_relative_positions: int = 512,
    position_buckets: int = 0,
    c2p: bool = True,
    p2c: bool = True,
    key_table: Optional[ArrayLike] = None,
    query_table: Optional[ArrayLike] = None,
    profile: Literal['exact', 'hf'] = 'exact',
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def decomposed_2d(
    *,
    heads: int,
    head_dim: int,
    grid_height: int,
    grid_width: int,
    key_height: Optional[int] = None,
    key_width: Optional[int] = None,
    row_table: Optional[ArrayLike] = None,
    column_table: Optional[ArrayLike] = None,
    profile: Literal['exact', 'hf'] = 'exact',
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def cope(
    *,
    heads: int,
    head_dim: int,
    max_positions: int = 64,
    table: Optional[ArrayLike] = None,
    gate_mix: Optional[ArrayLike] = None,
    seed: int = 0,
    deviation: float = 0.02,
) -> Encoding: ...

def none() -> Rule: ...

def linear(
    *,
    factor: float,
) -> Rule: ...

def ntk(
    *,
    factor: float,
) -> Rule: ...

def ntk_mixed(
    *,
    factor: float,
    mixed_b: float = 1.0,
) -> Rule: ...

def dynamic_ntk(
    *,
    factor: float,
    max_length: int,
    length: Optional[int] = None,
) -> Rule: ...

def ntk_by_parts(
    *,
    factor: float,
    original_length: int,
    ntk_factor: float = 1.0,
    ext_factor: float = 1.0,
) -> Rule: ...

def yarn(
    *,
    factor: Optional[float] = None,
    original_length: Optional[int] = None,
    max_length: Optional[int] = None,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    ext_factor: float = 1.0,
    truncate: bool = True,
    mscale: Optional[float] = None,
    mscale_all_dim: Optional[float] = None,
    magnitude_slope: float = 0.1,
    attention_factor: Optional[float] = None,
) -> Rule: ...

def longrope(
    *,
    short_factor: Sequence[float],
    long_factor: Sequence[float],
    original_length: int,
    max_length: Optional[int] = None,
    factor: Optional[float] = None,
    attention_factor: Optional[float] = None,
    short_mscale: Optional[float] = None,
    long_mscale: Optional[float] = None,
    length: Optional[int] = None,
) -> Rule: ...

def llama3(
    *,
    factor: float,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
    original_length: int,
) -> Rule: ...

def proportional(
    *,
    rotary_fraction: float,
    factor: float = 1.0,
) -> Rule: ...

def geometric(
    *,
    lowest: float = 0.5,
) -> Rule: ...

// SPDX-License-Identifier: Apache-2.0
// One table of bad input: the command prints one line that names the fault, exits with 2 and leaves every file
// unchanged.
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "cli/locus_command.h"

namespace locus::testing {
namespace {

// ---- files

/// A .npy file of version 1.0 in parts, so that every part can be wrong.
std::string npy(const std::string& descr, const std::string& order, const std::string& shape,
                const std::string& elements) {
  std::string header = "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + elements;
}

template <class T>
std::string bytes(std::size_t count, T value) {
  std::string text(count * sizeof(T), '\0');
  for (std::size_t i = 0; i < count; ++i) std::memcpy(text.data() + i * sizeof(T), &value, sizeof(T));
  return text;
}

std::string floats(const std::string& shape, std::size_t count, float value = 0.5f) {
  return npy("'<f4'", "False", shape, bytes(count, value));
}
std::string integers(const std::string& shape, std::size_t count, std::int64_t value = 0) {
  return npy("'<i8'", "False", shape, bytes(count, value));
}

std::string nested(std::size_t levels) {
  return R"({"model_type": )" + std::string(levels, '[') + std::string(levels, ']') + "}";
}

std::string llama_with(const std::string& keys) {
  return R"({"model_type": "llama", "head_dim": 8, "max_position_embeddings": 64, )" + keys + "}";
}

using Files = std::map<std::string, std::string>;

const Files& files() {
  static const Files all = [] {
    const std::string q = floats("(1, 2, 3, 8)", 48);
    Files f;
    f["q.npy"] = q;
    f["q16.npy"] = npy("'<f2'", "False", "(1, 2, 3, 8)", std::string(96, '\0'));
    f["hidden.npy"] = floats("(3, 8)", 24);
    f["existing.npy"] = "what was there before";
    // broken in one way each
    f["ints.npy"] = npy("'<i4'", "False", "(1, 2, 3, 8)", std::string(192, '\0'));
    f["bools.npy"] = npy("'|b1'", "False", "(1, 2, 3, 8)", std::string(48, '\0'));
    f["cut.npy"] = q.substr(0, q.size() - 1);
    f["cut_header.npy"] = q.substr(0, 40);
    f["cut_start.npy"] = q.substr(0, 7);
    f["too_long.npy"] = q + "x";
    f["huge_header.npy"] = std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + q.substr(10);
    f["huge_shape.npy"] = floats("(1, 1, 1099511627776, 8)", 1);
    f["overflowing_shape.npy"] = floats("(4611686018427387904, 4611686018427387904)", 1);
    f["beyond_64_bits.npy"] = floats("(99999999999999999999,)", 1);
    f["negative_shape.npy"] = floats("(-1, 8)", 8);
    f["fortran.npy"] = npy("'<f4'", "True", "(1, 2, 3, 8)", bytes(48, 0.5f));
    f["big_endian.npy"] = npy("'>f4'", "False", "(1, 2, 3, 8)", bytes(48, 0.5f));
    f["object.npy"] = npy("'|O'", "False", "(3,)", "(lp0\n.");
    f["structured.npy"] = npy("[('a', '<f4')]", "False", "(2,)", std::string(8, '\0'));
    f["version9.npy"] = std::string("\x93NUMPY\x09\x00", 8) + q.substr(8);
    f["no_npy.npy"] = "hello";
    f["empty.npy"] = "";
    // positions
    f["ids.npy"] = integers("(3,)", 3);
    f["ids_2x3.npy"] = integers("(2, 3)", 6);
    f["ids_2x1x3.npy"] = integers("(2, 1, 3)", 6);
    f["ids_3x1x3.npy"] = integers("(3, 1, 3)", 9);
    f["ids_4d.npy"] = integers("(1, 1, 1, 3)", 3);
    f["ids_0d.npy"] = integers("()", 1);
    f["ids_none.npy"] = integers("(0,)", 0);
    f["ids_far.npy"] = integers("(3,)", 3, std::int64_t{1} << 31);
    f["ids_negative.npy"] = integers("(3,)", 3, -1);
    f["ids_float.npy"] = floats("(3,)", 3);
    f["ids_u64.npy"] = npy("'<u8'", "False", "(3,)", std::string(24, '\xff'));
    // tables and masks
    f["table.npy"] = floats("(4, 8)", 32);
    f["table_1d.npy"] = floats("(32,)", 32);
    f["table_nan.npy"] = floats("(4, 8)", 32, std::numeric_limits<float>::quiet_NaN());
    f["table_int.npy"] = integers("(4, 8)", 32);
    f["table_4d.npy"] = floats("(1, 1, 4, 8)", 32);
    f["table_narrow.npy"] = floats("(4, 0)", 0);
    f["mask.npy"] = integers("(1, 2)", 2, 7);
    f["mask_1d.npy"] = integers("(2,)", 2, 1);
    // configs
    f["llama.json"] = llama_with(R"("rope_theta": 1e4)");
    f["no_gguf.gguf"] = "GGUF";
    f["no_json.json"] = "pairing: half";
    f["nothing.json"] = "  ";
    f["list.json"] = "[1, 2]";
    f["two.json"] = "{} {}";
    f["bad_utf8.json"] = "{\"model_type\": \"\xff\"}";
    f["deep.json"] = nested(100000);
    f["deep_open.json"] = std::string(100000, '[');
    f["text_head_dim.json"] = R"({"model_type": "llama", "head_dim": "64"})";
    f["real_head_dim.json"] = R"({"model_type": "llama", "head_dim": 64.5})";
    f["list_theta.json"] = llama_with(R"("rope_theta": [1])");
    f["zero_theta.json"] = llama_with(R"("rope_theta": 0)");
    f["huge_theta.json"] = llama_with(R"("rope_theta": 1e999)");
    f["number_rope.json"] = llama_with(R"("rope_scaling": 2)");
    f["unknown_rope.json"] = llama_with(R"("rope_scaling": {"rope_type": "spiral", "factor": 2})");
    f["number_type.json"] = llama_with(R"("rope_scaling": {"rope_type": 3})");
    f["no_factor.json"] = llama_with(R"("rope_scaling": {"rope_type": "linear"})");
    f["small_factor.json"] = llama_with(R"("rope_scaling": {"rope_type": "linear", "factor": 0.5})");
    f["short_list.json"] = llama_with(R"("rope_scaling": {"rope_type": "longrope", "factor": 2,
        "short_factor": [1, 1, 1], "long_factor": [1, 1, 1, 1], "original_max_position_embeddings": 32})");
    f["bands.json"] = llama_with(R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
        "high_freq_factor": 1, "original_max_position_embeddings": 32})");
    f["sections.json"] = llama_with(R"("rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 1]})");
    f["no_sections.json"] = llama_with(R"("rope_scaling": {"type": "mrope"})");
    f["odd_width.json"] = llama_with(R"("partial_rotary_factor": 0.9)");
    f["wide_fraction.json"] = llama_with(R"("partial_rotary_factor": 1.5)");
    f["wide_rotary.json"] = llama_with(R"("rotary_dim": 16)");
    f["no_size.json"] = R"({"rope_theta": 1e4})";
    f["negative_heads.json"] = R"({"model_type": "bloom", "hidden_size": 64, "n_head": -4})";
    f["several.json"] = R"({"model_type": "gemma3_text", "head_dim": 8, "rope_theta": 1e6,
        "rope_local_base_freq": 1e4, "max_position_embeddings": 64})";
    f["bloom.json"] = R"({"model_type": "bloom", "hidden_size": 64, "n_head": 4})";
    return f;
  }();
  return all;
}

// ---- the table

struct BadInput {
  std::string name;
  std::string line;                    ///< the arguments, each separated by one blank
  std::vector<std::string> fragments;  ///< what the line on standard error must contain
};

void PrintTo(const BadInput& one, std::ostream* out) { *out << "locus " << one.line; }

std::string rope(const std::string& settings) { return "show --scheme rope --set pairing=half " + settings; }
std::string rule(const std::string& settings) { return rope("--set head_dim=8 " + settings); }
std::string apply(const std::string& rest) {
  return "apply --scheme rope --set head_dim=8 --set pairing=half --output out.npy " + rest;
}
std::string apply_q(const std::string& rest) { return apply("--input q.npy --axes bhtd " + rest); }
std::string learned(const std::string& rest) {
  return "apply --scheme learned --set table=table.npy --output out.npy " + rest;
}
std::string bias(const std::string& rest) { return "bias --scheme " + rest; }
std::string attend_q(const std::string& rest) {
  return "attend --query q.npy --key q.npy --value q.npy -o out.npy " + rest;
}
std::string resize(const std::string& rest) { return "resize --output out.npy --table table.npy " + rest; }

const std::vector<BadInput>& table() {
  static const std::vector<BadInput> cases = {
      // subcommands and options
      {"no_subcommand", "", {"subcommand is required"}},
      {"unknown_subcommand", "bogus", {"subcommand", "bogus"}},
      {"unknown_option", "list --bogus", {"--bogus"}},
      {"unexpected_argument", "show extra", {"not expected", "extra"}},
      {"option_without_value", "show --scheme", {"--scheme"}},
      {"two_encodings", "show --scheme nope --scheme nope", {"--scheme must be one encoding", "got 2"}},
      {"spelling_unknown", "show --scheme ropee:head_dim=8", {"unknown scheme 'ropee'; did you mean 'rope'?"}},
      {"spelling_bare_setting", "show --scheme rope:8", {"rope:8: a setting must be name=value, got '8'"}},
      {"spelling_and_set",
       "show --scheme rope:head_dim=8,pairing=half --set head_dim=8",
       {"--set head_dim", "rope:head_dim=8,pairing=half already sets it"}},
      {"spelling_comma",
       "show --scheme rope:head_dim=8,pairing=half,4",
       {"pairing must be one value", "separated by ;"}},
      {"spelling_config_twice", "show --scheme @llama.json --config llama.json", {"either --scheme or --config"}},
      {"neither_scheme_nor_config", "show", {"either --scheme or --config"}},
      {"both_scheme_and_config", "show --scheme nope --config llama.json", {"either --scheme or --config"}},
      {"set_with_config", "show --config llama.json --set none_such=8", {"none_such"}},
      {"layer_type_with_scheme", "show --scheme nope --layer-type full_attention", {"--layer-type needs --config"}},
      {"set_without_equals", rope("--set head_dim"), {"--set must be name=value", "head_dim"}},
      {"set_without_name", rope("--set =3"), {"--set must be name=value", "=3"}},
      {"set_twice", rope("--set head_dim=8 --set head_dim=8"), {"head_dim", "twice"}},
      {"set_empty_value", rope("--set head_dim="), {"rope.head_dim must be an integer"}},
      {"unknown_scheme", "show --scheme spiral", {"unknown scheme 'spiral'", "rope"}},
      {"unknown_rule", rule("--set rule=spiral"), {"spiral", "yarn"}},
      {"unknown_parameter", rule("--set spin=1"), {"unknown rope parameter 'spin'", "head_dim"}},
      {"parameter_of_another_rule", rule("--set rule=linear --set factor=2 --set beta_fast=32"), {"beta_fast"}},
      {"parameter_of_no_parameters", "show --scheme nope --set dim=8", {"unknown nope parameter 'dim'"}},
      {"wrong_pairing", "show --scheme rope --set head_dim=8 --set pairing=neox", {"rope.pairing", "half", "neox"}},
      {"wrong_pairing_option", "show --config llama.json --pairing neox", {"--pairing", "neox"}},
      {"pairing_for_alibi", "show --scheme alibi --set heads=8 --pairing half", {"unknown alibi parameter 'pairing'"}},
      {"no_pairing", "show --scheme rope --set head_dim=8", {"rope.pairing must be given", "half or interleaved"}},
      {"wrong_profile", rule("--profile metal"), {"--profile", "metal"}},
      {"wrong_profile_with_config", "show --config bloom.json --profile metal", {"--profile", "metal"}},
      {"profile_that_t5_lacks", bias("t5 --set heads=1 --queries 1 --keys 1 --profile ggml"), {"t5.profile", "ggml"}},
      {"seq_len_zero", rule("--seq-len 0"), {"--seq-len must be from 1 to 2147483648, got 0"}},
      {"seq_len_negative", rule("--seq-len -5"), {"--seq-len", "-5"}},
      {"seq_len_beyond", rule("--seq-len 2147483649"), {"--seq-len", "2147483649"}},
      {"seq_len_overflow", rule("--seq-len 18446744073709551617"), {"--seq-len must fit into 64 bits"}},
      {"seq_len_text", rule("--seq-len long"), {"--seq-len must be an integer, got 'long'"}},
      {"too_long_a_note", apply_q("--seq-len 1 --positions 0:4"), {"4 tokens, the input has 3"}},

      // sizes
      {"odd_head_dim", rope("--set head_dim=7"), {"rotary_dim must be even", "7"}},
      {"zero_head_dim", rope("--set head_dim=0"), {"rope.head_dim must be at least 2", "got 0"}},
      {"negative_head_dim", rope("--set head_dim=-8"), {"rope.head_dim", "got -8"}},
      {"huge_head_dim", rope("--set head_dim=1000000000000"), {"rope.head_dim", "at most 65536", "1e+12"}},
      {"overflowing_head_dim", rope("--set head_dim=99999999999999999999"), {"rope.head_dim must be an integer"}},
      {"real_head_dim", rope("--set head_dim=8.5"), {"rope.head_dim must be an integer, got 8.5"}},
      {"text_head_dim", rope("--set head_dim=wide"), {"rope.head_dim must be an integer, got wide"}},
      {"odd_rotary_dim", rule("--set rotary_dim=3"), {"rope.rotary_dim must be even", "got 3"}},
      {"zero_rotary_dim", rule("--set rotary_dim=0"), {"rope.rotary_dim", "got 0"}},
      {"rotary_dim_beyond_head_dim", rule("--set rotary_dim=10"), {"at most head_dim (8), got 10"}},
      {"rotary_offset_beyond", rule("--set rotary_dim=4 --set rotary_offset=6"), {"rotary_offset", "6 + 4"}},
      {"odd_xpos", "show --scheme xpos --set head_dim=9 --set pairing=half", {"xpos.head_dim must be even, got 9"}},
      {"odd_sandwich", bias("sandwich --set heads=1 --set dim=3 --queries 1 --keys 1"), {"sandwich.dim", "got 3"}},
      {"zero_sinusoidal", "show --scheme sinusoidal --set dim=0", {"sinusoidal.dim must be at least 1", "got 0"}},
      {"sinusoidal_grid_width",
       "show --scheme sinusoidal --set axes=grid --set dim=6 --set arrangement=concatenated "
       "--set grid_height=2 --set grid_width=2",
       {"sinusoidal.dim must be a multiple of 4", "got 6"}},
      {"zero_alibi_heads", bias("alibi --set heads=0 --slopes"), {"alibi.heads must be at least 1", "got 0"}},
      {"negative_t5_heads", bias("t5 --set heads=-1 --queries 1 --keys 1"), {"t5.heads", "got -1"}},
      {"learned_without_size", "show --scheme learned --set dim=8", {"learned needs max_positions and dim"}},
      {"learned_zero", "show --scheme learned --set dim=8 --set max_positions=0", {"learned.max_positions", "got 0"}},
      {"learned_huge",
       "apply --scheme learned --set dim=1048576 --set max_positions=2147483648 --input hidden.npy --output out.npy",
       {"2147483648 x 1048576"}},
      {"window_huge",
       "show --scheme relative_bias --set index=swin --set heads=65536 --set window_height=1024 "
       "--set window_width=1024",
       {"relative_bias.table", "2^32"}},
      {"shaw_huge",
       "show --scheme shaw --set heads=1 --set head_dim=65536 --set clip_left=1048576",
       {"shaw.key_table", "2^32"}},
      {"transformer_xl_huge", "show --scheme transformer_xl --set heads=65536 --set head_dim=65536", {"2^30"}},

      // numbers
      {"nan_base", rule("--set base=nan"), {"rope.base must be finite, got nan"}},
      {"infinite_base", rule("--set base=inf"), {"rope.base must be finite, got inf"}},
      {"overflowing_base", rule("--set base=1e999"), {"rope.base", "1e999"}},
      {"zero_base", rule("--set base=0"), {"rope.base must be above 0, got 0"}},
      {"negative_base", rule("--set base=-10000"), {"rope.base", "-10000"}},
      {"nan_factor", rule("--set rule=linear --set factor=nan"), {"rope.factor must be finite, got nan"}},
      {"small_linear_factor", rule("--set rule=linear --set factor=0.5"), {"rope.factor must be at least 1, got 0.5"}},
      {"no_linear_factor", rule("--set rule=linear"), {"rope.factor must be given"}},
      {"small_ntk_factor", rule("--set rule=ntk --set factor=0.99"), {"rope.factor", "0.99"}},
      {"narrow_ntk", rope("--set head_dim=2 --set rule=ntk --set factor=2"), {"rotary_dim above 2, got 2"}},
      {"small_dynamic_factor", rule("--set rule=dynamic_ntk --set factor=0 --set max_length=64"), {"rope.factor"}},
      {"no_dynamic_length", rule("--set rule=dynamic_ntk --set factor=2"), {"rope.max_length must be given"}},
      {"small_yarn_factor", rule("--set rule=yarn --set factor=0 --set original_length=64"), {"rope.factor", "0"}},
      {"no_yarn_length", rule("--set rule=yarn --set factor=2"), {"yarn needs original_length"}},
      {"yarn_base_of_one",
       rule("--set rule=yarn --set factor=2 --set original_length=64 --set base=1"),
       {"base above 1, got 1"}},
      {"yarn_truncate_text",
       rule("--set rule=yarn --set factor=2 --set original_length=64 --set truncate=maybe"),
       {"rope.truncate must be true or false, got maybe"}},
      {"llama3_bands",
       rule("--set rule=llama3 --set factor=8 --set original_length=64 --set low_freq_factor=4 "
            "--set high_freq_factor=1"),
       {"high_freq_factor must be at least low_freq_factor (4), got 1"}},
      {"llama3_zero_band",
       rule("--set rule=llama3 --set factor=8 --set original_length=64 --set low_freq_factor=0"),
       {"rope.low_freq_factor must be above 0, got 0"}},
      {"longrope_short_list",
       rule("--set rule=longrope --set original_length=64 --set factor=2 "
            "--set short_factor=1,1,1 --set long_factor=1,1,1,1"),
       {"rope.short_factor must have one entry per pair (4), got 3"}},
      {"longrope_long_list",
       rule("--set rule=longrope --set original_length=64 --set factor=2 "
            "--set short_factor=1,1,1,1 --set long_factor=1,1,1,1,1"),
       {"rope.long_factor", "got 5"}},
      {"longrope_nan",
       rule("--set rule=longrope --set original_length=64 --set factor=2 "
            "--set short_factor=1,nan,1,1 --set long_factor=1,1,1,1"),
       {"rope.short_factor must be finite, got nan"}},
      {"longrope_zero",
       rule("--set rule=longrope --set original_length=64 --set factor=2 "
            "--set short_factor=1,0,1,1 --set long_factor=1,1,1,1"),
       {"rope.short_factor must be above 0, got 0"}},
      {"longrope_malformed",
       rule("--set rule=longrope --set original_length=64 --set factor=2 "
            "--set short_factor=1,,1,1 --set long_factor=1,1,1,1"),
       {"rope.short_factor must be a list of numbers", "1,,1,1"}},
      {"proportional_share", rule("--set rule=proportional --set rotary_fraction=1.5"), {"rotary_fraction", "1.5"}},
      {"proportional_width",
       rule("--set rule=proportional --set rotary_fraction=0.5 --set rotary_dim=4"),
       {"rotary_dim must be head_dim (8)", "got 4"}},
      {"xpos_scale_infinite",
       "show --scheme xpos --set head_dim=8 --set pairing=half --set scale_base=inf",
       {"xpos.scale_base must be finite"}},
      {"alibi_bias_max", bias("alibi --set heads=8 --set bias_max=0 --slopes"), {"alibi.bias_max", "got 0"}},
      {"alibi_mpt_slopes_without_heads",
       bias("alibi --set form=mpt --queries 1 --keys 1"),
       {"alibi.heads must be given"}},
      {"kerple_power",
       bias("kerple --set heads=2 --set form=power --set r2=3 --queries 1 --keys 1"),
       {"kerple.r2 must be at most 2", "got 3"}},
      {"kerple_entries", bias("kerple --set heads=3 --set r1=1,2 --queries 1 --keys 1"), {"kerple.r1", "got 2"}},
      {"t5_two_buckets",
       bias("t5 --set heads=1 --set num_buckets=2 --queries 1 --keys 1"),
       {"t5.num_buckets must be at least 4 when bidirectional, got 2"}},
      {"t5_one_bucket",
       bias("t5 --set heads=1 --set num_buckets=1 --set bidirectional=false --queries 1 --keys 1"),
       {"t5.num_buckets must be at least 2", "got 1"}},
      {"t5_near_distance",
       bias("t5 --set heads=1 --set max_distance=8 --queries 1 --keys 1"),
       {"t5.max_distance", "(8), got 8"}},
      {"deberta_odd",
       bias("relative_bias --set heads=1 --set index=deberta --set bucket_size=5 --set max_position=64 "
            "--queries 1 --keys 1"),
       {"bucket_size must be even", "got 5"}},
      {"deberta_near",
       bias("relative_bias --set heads=1 --set index=deberta --set bucket_size=32 "
            "--set max_position=17 --queries 1 --keys 1"),
       {"max_position must exceed", "got 17"}},
      {"clipped_without_clip", bias("relative_bias --set heads=1 --queries 1 --keys 1"), {"clip_left must be given"}},

      // axes
      {"sections_do_not_add_up", rule("--set axes=mrope --set sections=1,1,1"), {"add up", "(4)", "1,1,1 = 3"}},
      {"sections_without_their_axes", rule("--set sections=2,1,1"), {"rope.sections needs axes=mrope", "got axes=1d"}},
      {"grid_width_without_its_axes", rule("--set axes=grid --set grid_width=4"), {"grid_width needs axes=pixtral"}},
      {"no_sections", rule("--set axes=mrope"), {"rope.sections must be given"}},
      {"too_many_sections", rule("--set axes=mrope --set sections=1,1,1,1,0"), {"2 to 4 axes, got 5"}},
      {"two_interleaved_sections", rule("--set axes=mrope_interleaved --set sections=2,2"), {"3 axes", "got 2"}},
      {"fractional_section", rule("--set axes=mrope --set sections=1.5,1.5,1"), {"whole numbers, got 1.5"}},
      {"negative_section", rule("--set axes=mrope --set sections=-1,4,1"), {"rope.sections", "got -1"}},
      {"grid_width_of_six", rope("--set head_dim=6 --set axes=grid"), {"multiple of 4", "got 6"}},
      {"grid_with_rule", rule("--set axes=grid --set rule=linear --set factor=2"), {"rule must be none", "linear"}},
      {"pixtral_without_width", rule("--set axes=pixtral"), {"rope.grid_width must be given"}},
      {"dinov3_without_size", rule("--set axes=dinov3 --set grid_width=2"), {"grid_height and grid_width"}},
      {"half_deinterleaved", rule("--set output_order=deinterleaved"), {"needs pairing=interleaved"}},

      // positions
      {"positions_empty", rule("--positions ''"), {"positions must be an integer, got ''"}},
      {"positions_text", rule("--positions 0,one"), {"positions", "'one'"}},
      {"positions_trailing_comma", rule("--positions 0,1,"), {"positions must be an integer, got ''"}},
      {"positions_real", rule("--positions 0.5"), {"positions", "'0.5'"}},
      {"positions_backward_range", rule("--positions 5:5"), {"must hold a position, got 5:5"}},
      {"positions_zero_step", rule("--positions 0:5:0"), {"step must not be 0", "0:5:0"}},
      {"positions_four_parts", rule("--positions 0:1:2:3"), {"start:stop:step", "0:1:2:3"}},
      {"positions_overflow", rule("--positions 9223372036854775808"), {"64 bits", "9223372036854775808"}},
      {"positions_huge_range", rule("--positions 0:9000000000000000000"), {"at most 67108864"}},
      {"positions_beyond", rule("--positions 2147483648"), {"to 2147483647", "got 2147483648"}},
      {"positions_far_below", rule("--positions -2147483648"), {"from -2147483647", "got -2147483648"}},
      {"positions_beyond_in_file", apply_q("--positions ids_far.npy"), {"got 2147483648"}},
      {"xpos_beyond",
       "show --scheme xpos --set head_dim=8 --set pairing=half --positions 36000",
       {"scale leaves the range of the element type", "got 36000"}},
      {"learned_negative", learned("--input hidden.npy --axes td --positions -1,0,1"), {"rows of its table", "got -1"}},
      {"learned_negative_in_file", learned("--input hidden.npy --axes td --positions ids_negative.npy"), {"got -1"}},
      {"learned_beyond", learned("--input hidden.npy --axes td --positions 2:5"), {"from 0 to 3", "got 4"}},
      {"pixtral_negative", rule("--set axes=pixtral --set grid_width=4 --positions -1"), {"from 0", "got -1"}},
      {"dinov3_beyond",
       rule("--set axes=dinov3 --set grid_width=2 --set grid_height=2 --positions 4"),
       {"patches of its grid", "got 4"}},
      {"bloom_negative_key_side",
       bias("alibi --set heads=1 --set form=bloom --queries 1 --keys 1 --query-start -1"),
       {"alibi positions must be from 0", "got -1"}},
      {"swin_beyond",
       bias("relative_bias --set heads=1 --set index=swin --set window_height=2 --set window_width=2 "
            "--queries 4 --keys 5"),
       {"cells of its window", "got 4"}},
      {"show_too_many_numbers", rule("--positions 0:16777216"), {"at most 16777216 numbers", "16777216 x 8"}},
      {"show_axes_missing", rule("--set axes=grid --positions 0,1"), {"needs 2 axes", "got 1"}},
      {"show_hidden_axes", "show --scheme sinusoidal --set dim=8 --positions ids_3x1x3.npy", {"1 axis", "got 3"}},
      {"show_offsets_axes", "show --scheme t5 --set heads=1 --positions ids_3x1x3.npy", {"1 axis", "got 3"}},

      // apply: its input
      {"apply_no_input", "apply --scheme nope --axes td --positions 0 --output out.npy", {"--input is required"}},
      {"apply_no_axes_of_a_list",
       apply("--input ids_float.npy --positions 0:3"),
       {"ids_float.npy", "2 to 4 dimensions"}},
      {"apply_no_axes_of_hidden", learned("--input q.npy --positions 0:3"), {"[tokens, dim]", "got 4"}},
      {"apply_axes_without_tokens", apply("--input hidden.npy --axes hd"), {"tokens (t)", "hd"}},
      {"apply_no_output", "apply --scheme nope --input q.npy --axes td --positions 0", {"--output is required"}},
      {"apply_score_scheme",
       "apply --scheme alibi --set heads=8 --input q.npy --axes bhtd --positions 0:3 "
       "--output out.npy",
       {"alibi acts at the site score"}},
      {"apply_no_scheme", "apply --scheme nope --input q.npy --axes bhtd --positions 0:3 --output out.npy", {"nope"}},
      {"apply_missing_file", apply("--input absent.npy --axes bhtd --positions 0:3"), {"absent.npy", "No such file"}},
      {"apply_folder", apply("--input . --axes bhtd --positions 0:3"), {"a directory"}},
      {"apply_missing_positions_file", apply_q("--positions absent.npy"), {"absent.npy", "No such file"}},
      {"apply_ints", apply("--input ints.npy --axes bhtd --positions 0:3"), {"ints.npy", "float32", "got int32"}},
      {"apply_bools", apply("--input bools.npy --axes bhtd --positions 0:3"), {"got bool"}},
      {"apply_cut", apply("--input cut.npy --axes bhtd --positions 0:3"), {"cut.npy: truncated", "192"}},
      {"apply_cut_header", apply("--input cut_header.npy --axes bhtd --positions 0:3"), {"truncated"}},
      {"apply_cut_start", apply("--input cut_start.npy --axes bhtd --positions 0:3"), {"truncated"}},
      {"apply_too_long", apply("--input too_long.npy --axes bhtd --positions 0:3"), {"(too many)"}},
      {"apply_huge_header",
       apply("--input huge_header.npy --axes bhtd --positions 0:3"),
       {"header length", "4294967295"}},
      {"apply_huge_shape",
       apply("--input huge_shape.npy --axes bhtd --positions 0:3"),
       {"truncated", "35184372088832"}},
      {"apply_overflowing_shape", apply("--input overflowing_shape.npy --axes td --positions 0:3"), {"2^63"}},
      {"apply_beyond_64_bits", apply("--input beyond_64_bits.npy --axes td --positions 0:3"), {"2^63"}},
      {"apply_negative_shape", apply("--input negative_shape.npy --axes td --positions 0:3"), {"negative", "-1"}},
      {"apply_fortran", apply("--input fortran.npy --axes bhtd --positions 0:3"), {"Fortran order"}},
      {"apply_big_endian", apply("--input big_endian.npy --axes bhtd --positions 0:3"), {"big endian", ">f4"}},
      {"apply_object", apply("--input object.npy --axes bhtd --positions 0:3"), {"object arrays"}},
      {"apply_structured", apply("--input structured.npy --axes bhtd --positions 0:3"), {"structured"}},
      {"apply_version9", apply("--input version9.npy --axes bhtd --positions 0:3"), {"version", "9.0"}},
      {"apply_no_npy", apply("--input no_npy.npy --axes bhtd --positions 0:3"), {"not a .npy file"}},
      {"apply_empty", apply("--input empty.npy --axes bhtd --positions 0:3"), {"not a .npy file"}},
      {"apply_unknown_axes", apply("--input q.npy --axes xyzw --positions 0:3"), {"axes must be", "xyzw"}},
      {"apply_wrong_rank", apply("--input q.npy --axes td --positions 0:3"), {"2 extents", "has 4"}},
      {"apply_wrong_width", apply("--input ids_float.npy --axes td --positions 0:3"), {"2 extents"}},
      {"apply_other_head_dim",
       "apply --scheme rope --set head_dim=16 --set pairing=half --input q.npy --axes bhtd "
       "--positions 0:3 --output out.npy",
       {"last axis is 8", "head_dim 16"}},
      {"apply_config_head_dim",
       "apply --config llama.json --input hidden.npy --axes bthd --positions 0:3 "
       "--output out.npy",
       {"4 extents", "has 2"}},
      {"apply_too_few_positions", apply_q("--positions 0,1"), {"2 tokens, the input has 3"}},
      {"apply_other_batch", apply_q("--positions ids_2x3.npy"), {"2 batch rows, the input has 1"}},
      {"apply_too_many_axes", apply_q("--positions ids_3x1x3.npy"), {"needs 1 axes", "got 3"}},
      {"apply_two_axes_for_mrope",
       "apply --scheme rope --set head_dim=8 --set pairing=half --set axes=mrope "
       "--set sections=2,1,1 --input q.npy --axes bhtd --positions ids_2x1x3.npy "
       "--output out.npy",
       {"needs 3 axes", "got 2"}},
      {"apply_positions_4d", apply_q("--positions ids_4d.npy"), {"[axes, batch, tokens]", "got 4"}},
      {"apply_positions_0d", apply_q("--positions ids_0d.npy"), {"[tokens]", "got 0"}},
      {"apply_positions_none", apply_q("--positions ids_none.npy"), {"at least one position"}},
      {"apply_positions_float", apply_q("--positions ids_float.npy"), {"integer array", "float32"}},
      {"apply_positions_u64", apply_q("--positions ids_u64.npy"), {"2^63", "18446744073709551615"}},
      {"apply_unknown_role", apply_q("--positions 0:3 --role value"), {"--role", "value"}},
      {"apply_hidden_axes", learned("--input hidden.npy --axes htd --positions 0:3"), {"td or btd", "htd"}},
      {"apply_hidden_rank", learned("--input q.npy --axes btd --positions 0:3"), {"3 extents", "has 4"}},
      {"apply_hidden_inverse", learned("--input hidden.npy --axes td --positions 0:3 --inverse"), {"--inverse"}},
      {"apply_hidden_role", learned("--input hidden.npy --axes td --positions 0:3 --role key"), {"--role"}},
      {"apply_hidden_width",
       "apply --scheme sinusoidal --set dim=6 --input hidden.npy --axes td --positions 0:3 "
       "--output out.npy",
       {"last axis is 8", "dim 6"}},
      {"apply_hidden_position_axes", learned("--input hidden.npy --axes td --positions ids_3x1x3.npy"), {"got 3"}},
      {"apply_several_layer_types",
       "apply --config several.json --input q.npy --axes bhtd --positions 0:3 "
       "--output out.npy",
       {"--layer-type", "sliding_attention, full_attention"}},
      {"apply_missing_folder",
       "apply --scheme rope --set head_dim=8 --set pairing=half --input q.npy --axes bhtd "
       "--positions 0:3 --output absent/out.npy",
       {"absent/out.npy", "No such file"}},
      {"apply_unwritable_folder",
       "apply --scheme rope --set head_dim=8 --set pairing=half --input q.npy --axes bhtd "
       "--positions 0:3 --output /proc/self/out.npy",
       {"/proc/self/out.npy", "temporary"}},
      {"apply_folder_is_a_file",
       "apply --scheme rope --set head_dim=8 --set pairing=half --input q.npy --axes bhtd "
       "--positions 0:3 --output hidden.npy/out.npy",
       {"hidden.npy/out.npy", "Not a directory"}},
      {"apply_output_is_a_folder",
       "apply --scheme rope --set head_dim=8 --set pairing=half --input q.npy --axes bhtd "
       "--positions 0:3 --output .",
       {"a directory"}},
      {"apply_output_is_a_device",
       "apply --scheme rope --set head_dim=8 --set pairing=half --input q.npy --axes bhtd "
       "--positions 0:3 --output /dev/null",
       {"/dev/null", "not a regular file"}},
      {"apply_keeps_what_was_there",
       "apply --scheme rope --set head_dim=8 --set pairing=half --input cut.npy "
       "--axes bhtd --positions 0:3 --output existing.npy",
       {"truncated"}},
      {"apply_in_place_refused",
       "apply --scheme rope --set head_dim=8 --set pairing=half --input q16.npy --axes bhtd "
       "--positions 0:4 --output q16.npy",
       {"the output must not be the input"}},

      // tables
      {"table_shape",
       "show --scheme learned --set table=table.npy --set max_positions=5",
       {"learned.table must have the shape 5 x any, got 4 x 8"}},
      {"table_rank", "show --scheme learned --set table=table_1d.npy", {"learned.table", "32"}},
      {"table_nan", "show --scheme learned --set table=table_nan.npy", {"learned.table must be finite"}},
      {"table_offset", "show --scheme learned --set table=table.npy --set row_offset=4", {"row_offset (4)"}},
      {"table_missing", "show --scheme learned --set table=absent.npy", {"absent.npy", "No such file"}},
      {"t5_table_shape",
       bias("t5 --set heads=8 --set table=table.npy --queries 1 --keys 1"),
       {"t5.table must have the shape 32 x 8, got 4 x 8"}},

      // configs
      {"config_missing", "show --config absent.json", {"absent.json", "does not exist"}},
      {"config_folder", "show --config .", {"a model folder must have config.json"}},
      {"config_no_json", "show --config no_json.json", {"no_json.json is not JSON"}},
      {"config_nothing", "show --config nothing.json", {"JSON object, got nothing"}},
      {"config_list", "show --config list.json", {"must hold a JSON object, got a list"}},
      {"config_two", "show --config two.json", {"is not JSON"}},
      {"config_bad_utf8", "show --config bad_utf8.json", {"is not JSON"}},
      {"config_deep", "show --config deep.json", {"at most 64 levels"}},
      {"config_deep_and_open", "show --config deep_open.json", {"at most 64 levels"}},
      {"config_text_head_dim", "show --config text_head_dim.json", {"head_dim must be an integer", "\"64\""}},
      {"config_real_head_dim", "show --config real_head_dim.json", {"head_dim must be an integer", "64.5"}},
      {"config_list_theta", "show --config list_theta.json", {"rope_theta must be a number, got a list"}},
      {"config_zero_theta", "show --config zero_theta.json", {"rope_theta must be a positive number, got 0"}},
      {"config_huge_theta", "show --config huge_theta.json", {"huge_theta.json"}},
      {"config_number_rope", "show --config number_rope.json", {"rope_scaling must be an object, got 2"}},
      {"config_unknown_rope", "show --config unknown_rope.json", {"rope_type: unknown rule 'spiral'"}},
      {"config_number_type", "show --config number_type.json", {"rope_type must be a string, got 3"}},
      {"config_no_factor", "show --config no_factor.json", {"factor", "linear"}},
      {"config_small_factor", "show --config small_factor.json", {"factor must be at least 1, got 0.5"}},
      {"config_short_list", "show --config short_list.json", {"short_factor", "(4)", "got 3"}},
      {"config_bands", "show --config bands.json", {"high_freq_factor", "got 1"}},
      {"config_sections", "show --config sections.json", {"sections", "1,1,1 = 3"}},
      {"config_no_sections", "show --config no_sections.json", {"mrope_section is missing"}},
      {"config_odd_width", "show --config odd_width.json", {"rotary_dim must be even", "got 7"}},
      {"config_wide_fraction", "show --config wide_fraction.json", {"partial_rotary_factor must be at most 1", "1.5"}},
      {"config_wide_rotary", "show --config wide_rotary.json", {"rotary_dim", "(8), got 16"}},
      {"config_no_size", "show --config no_size.json", {"head_dim"}},
      {"config_negative_heads", "show --config negative_heads.json", {"n_head", "-4"}},
      {"config_unknown_layer_type",
       "show --config several.json --layer-type middle",
       {"sliding_attention, full_attention", "middle"}},
      {"config_layers_alike", "show --config llama.json --layer-type full_attention", {"all layers are alike"}},

      // bias
      {"bias_query_key_scheme", bias("rope --set head_dim=8 --set pairing=half --queries 1 --keys 1"), {"query_key"}},
      {"bias_without_sizes", bias("alibi --set heads=8"), {"--queries must be at least 1, got 0"}},
      {"bias_negative_queries", bias("alibi --set heads=8 --queries -1 --keys 2"), {"at least 1", "-1"}},
      {"bias_zero_keys", bias("alibi --set heads=8 --queries 1 --keys 0"), {"--keys must be at least 1, got 0"}},
      {"bias_overflowing_queries",
       bias("alibi --set heads=8 --queries 99999999999999999999 --keys 2"),
       {"--queries must fit into 64 bits"}},
      {"bias_too_many_keys",
       bias("alibi --set heads=8 --queries 1 --keys 2147483648 --output out.npy"),
       {"at most 2147483647", "2147483648"}},
      {"bias_too_large",
       bias("alibi --set heads=8 --queries 65536 --keys 65536 --output out.npy"),
       {"more than 2147483648 values", "8 x 65536 x 65536"}},
      {"bias_too_large_to_print", bias("alibi --set heads=8 --queries 16384 --keys 16384"), {"--output FILE.npy"}},
      {"bias_too_large_for_json",
       bias("alibi --set heads=8 --queries 16384 --keys 16384 --json"),
       {"more than 16777216 values"}},
      {"bias_far_start", bias("alibi --set heads=8 --queries 1 --keys 1 --query-start 2147483648"), {"--query-start"}},
      {"bias_start_overflow",
       bias("alibi --set heads=8 --queries 2 --keys 1 --query-start 2147483647"),
       {"got 2147483648"}},
      {"bias_buckets_of_alibi", bias("alibi --set heads=8 --queries 1 --keys 1 --buckets"), {"alibi has no buckets"}},
      {"bias_slopes_of_t5", bias("t5 --set heads=8 --slopes"), {"t5 has no slopes"}},
      {"bias_buckets_and_slopes", bias("alibi --set heads=8 --slopes --buckets"), {"--buckets or --slopes"}},
      {"bias_unknown_type", bias("alibi --set heads=8 --slopes --type int8"), {"--type", "int8"}},
      {"bias_missing_folder", bias("alibi --set heads=8 --slopes --output absent/b.npy"), {"absent/b.npy"}},

      // resize
      {"resize_no_table", "resize --from 4 --to 8 --method linear --output out.npy", {"--table is required"}},
      {"resize_no_method", resize("--from 4 --to 8"), {"--method is required"}},
      {"resize_unknown_method", resize("--from 4 --to 8 --method nearest"), {"--method", "nearest"}},
      {"resize_linear_grid", resize("--from 2x2 --to 4x4 --method linear"), {"bilinear or bicubic for a grid", "2x2"}},
      {"resize_bicubic_length", resize("--from 4 --to 8 --method bicubic"), {"linear for a length", "bicubic"}},
      {"resize_zero_grid", resize("--from 2x2 --to 0x4 --method bicubic"), {"--to must be", "0x4"}},
      {"resize_negative_length", resize("--from 4 --to -8 --method linear"), {"--to must be", "-8"}},
      {"resize_three_sides", resize("--from 2x2x1 --to 4x4 --method bicubic"), {"--from must be", "2x2x1"}},
      {"resize_text_grid", resize("--from 2xb --to 4x4 --method bicubic"), {"--from must be", "2xb"}},
      {"resize_overflowing_side", resize("--from 99999999999999999999 --to 4 --method linear"), {"--from must be"}},
      {"resize_mixed", resize("--from 4 --to 2x2 --method linear"), {"both be lengths or both be grids"}},
      {"resize_other_rows", resize("--from 3x2 --to 4x4 --method bicubic"), {"6 rows", "got 4 rows"}},
      {"resize_class_token", resize("--from 3 --to 4 --method linear"), {"did you mean --prefix 1"}},
      {"resize_negative_prefix", resize("--from 2x2 --to 4x4 --method bicubic --prefix -1"), {"--prefix", "-1"}},
      {"resize_huge_prefix",
       resize("--from 2x2 --to 4x4 --method bicubic --prefix 9223372036854775807"),
       {"--prefix 9223372036854775807"}},
      {"resize_antialiased_line", resize("--from 4 --to 8 --method linear --antialias"), {"antialias must be off"}},
      {"resize_nan_offset",
       resize("--from 2x2 --to 4x4 --method bicubic --scale-offset nan"),
       {"scale_offset must be in [0, 1), got nan"}},
      {"resize_large_offset", resize("--from 2x2 --to 4x4 --method bicubic --scale-offset 1"), {"[0, 1), got 1"}},
      {"resize_huge", resize("--from 2x2 --to 1000000x1000000 --method bicubic"), {"--to", "1000000x1000000"}},
      {"resize_overflow", resize("--from 2x2 --to 9223372036854775807x9 --method bicubic"), {"--to is too large"}},
      {"resize_huge_length", resize("--from 4 --to 9223372036854775807 --method linear"), {"9223372036854775807"}},
      {"resize_int_table",
       "resize --output out.npy --table table_int.npy --from 4 --to 8 --method linear",
       {"--table must hold float16, float32 or float64, got int64"}},
      {"resize_4d_table",
       "resize --output out.npy --table table_4d.npy --from 4 --to 8 --method linear",
       {"[rows,d]", "[1,1,4,8]"}},
      {"resize_narrow_table",
       "resize --output out.npy --table table_narrow.npy --from 4 --to 8 --method linear",
       {"dim must be at least 1, got 0"}},
      {"resize_cut_table", "resize --output out.npy --table cut.npy --from 4 --to 8 --method linear", {"truncated"}},
      {"resize_missing_folder",
       "resize --output absent/r.npy --table table.npy --from 4 --to 8 --method linear",
       {"absent/r.npy"}},

      // positions
      {"positions_no_kind", "positions", {"subcommand is required"}},
      {"positions_unknown_kind", "positions spiral 3", {"spiral"}},
      {"prefill_nothing", "positions prefill", {"TOKENS is required"}},
      {"prefill_negative", "positions prefill -1 --output out.npy", {"prefill.tokens must be at least 0, got -1"}},
      {"prefill_text", "positions prefill many", {"TOKENS must be an integer, got 'many'"}},
      {"prefill_negative_start", "positions prefill 3 --start -2", {"prefill.start", "-2"}},
      {"prefill_overflow", "positions prefill 3 --start 9223372036854775806", {"64 bits"}},
      {"prefill_huge", "positions prefill 8589934593", {"at most 8589934592"}},
      {"decode_negative_prefix", "positions decode -1 3", {"decode.prefix", "-1"}},
      {"decode_negative_tokens", "positions decode 1 -3", {"decode.tokens", "-3"}},
      {"left_padded_negative", "positions left-padded 3,-5", {"lengths[1]", "-5"}},
      {"left_padded_narrow", "positions left-padded 3,5 --width 4", {"longest row (5), got 4"}},
      {"right_padded_gap", "positions right-padded 3,,2", {"LENGTHS must be an integer, got ''"}},
      {"right_padded_narrow", "positions right-padded 3,5 --width 4", {"longest row (5), got 4"}},
      {"mask_digit", "positions mask 0012", {"0 and 1 only, got '2'"}},
      {"mask_rows", "positions mask 0011,111", {"same length (4), got 111"}},
      {"mask_file_value", "positions mask mask.npy", {"0 and 1 only, got 7"}},
      {"mask_file_rank", "positions mask mask_1d.npy", {"[batch, tokens], got 1"}},
      {"mask_file_float", "positions mask table.npy", {"integer array", "float32"}},
      {"packed_negative", "positions packed 3,-1", {"lengths[1]", "-1"}},
      {"packed_huge", "positions packed 9223372036854775807,1", {"9223372036854775807"}},
      {"cumulative_start", "positions cumulative 1,3", {"start at 0, got 1"}},
      {"cumulative_decreasing", "positions cumulative 0,5,3", {"not decrease, got 3 after 5"}},
      {"shards_kind", "positions shards 8 --ranks 2 --kind spiral", {"--kind", "spiral"}},
      {"shards_no_ranks", "positions shards 8", {"--ranks is required"}},
      {"shards_zero_ranks", "positions shards 8 --ranks 0", {"shard.ranks must be at least 1, got 0"}},
      {"shards_rank_beyond", "positions shards 8 --ranks 2 --rank 2", {"below ranks (2), got 2"}},
      {"shards_uneven", "positions shards 9 --ranks 2", {"multiple of ranks (2), got 9"}},
      {"shards_uneven_zigzag", "positions shards 6 --ranks 2 --kind zigzag", {"twice ranks (2), got 6"}},
      {"shards_documents_rank", "positions shards 7,4 --ranks 2 --rank 2", {"below ranks (2), got 2"}},
      {"shards_documents_negative", "positions shards 7,-4 --ranks 2", {"lengths[1] must be at least 0, got -4"}},
      {"tree_beyond", "positions tree --parents -1,7", {"parents[1]", "got 7"}},
      {"tree_cycle", "positions tree --parents 1,0", {"cycle"}},
      {"tree_own_parent", "positions tree --parents 0", {"cycle"}},
      {"tree_negative_prefix", "positions tree --parents -1 --prefix -1", {"tree.prefix", "-1"}},
      {"sinks_negative", "positions sinks 10 --sinks -1 --window 4", {"sinks", "-1"}},
      {"sinks_no_window", "positions sinks 10 --sinks 4 --window 0", {"window must be at least 1, got 0"}},
      {"mrope_segment", "positions mrope sound:5", {"text:N", "sound:5"}},
      {"mrope_size", "positions mrope image:4x6", {"TxHxW", "4x6"}},
      {"mrope_zero", "positions mrope image:1x0x6", {"rows must be at least 1, got 0"}},
      {"mrope_negative_text", "positions mrope text:-1", {"tokens", "-1"}},
      {"mrope_scale", "positions mrope video:1x2x2@fast", {"time scale", "'fast'"}},
      {"mrope_nan_scale", "positions mrope video:1x2x2@nan", {"time_scale must be finite", "nan"}},
      {"mrope_huge", "positions mrope video:4294967296x4294967296x2", {"at most 8589934592"}},
      {"grid_one_side", "positions grid 4", {"SIZE", "got 4"}},
      {"grid_zero", "positions grid 0x6", {"rows must be at least 1, got 0"}},
      {"grid_merge", "positions grid 4x6 --merge 4", {"merge must divide", "got 4"}},
      {"grid_huge", "positions grid 4294967296x4294967296", {"at most 8589934592"}},

      // attend: q.npy is [1, 2 tokens, 3 heads, 8]
      {"attend_no_query", "attend --key q.npy --value q.npy -o out.npy", {"--query"}},
      {"attend_no_output", "attend --query q.npy --key q.npy --value q.npy", {"--output"}},
      {"attend_absent_file", "attend --query q.npy --key absent.npy --value q.npy -o out.npy", {"absent.npy"}},
      {"attend_rank",
       "attend --query hidden.npy --key q.npy --value q.npy -o out.npy",
       {"q.npy", "needs 2 extents, the array has 4"}},
      {"attend_axes", attend_q("--axes thd"), {"q.npy", "needs 3 extents, the array has 4"}},
      {"attend_bad_axes", attend_q("--axes tdh"), {"--axes", "tdh"}},
      {"attend_integers", "attend --query ints.npy --key q.npy --value q.npy -o out.npy", {"ints.npy", "int32"}},
      {"attend_cut", "attend --query q.npy --key q.npy --value cut.npy -o existing.npy", {"cut.npy"}},
      {"attend_types", "attend --query q.npy --key q16.npy --value q16.npy -o existing.npy", {"float16", "float32"}},
      {"attend_heads", attend_q("--scheme alibi --set heads=4"), {"4", "3"}},
      {"attend_head_dim", attend_q("--scheme rope --set head_dim=16 --set pairing=half"), {"head_dim", "16", "8"}},
      {"attend_hidden_scheme", attend_q("--scheme sinusoidal --set dim=8"), {"hidden", "locus apply"}},
      {"attend_rotated_alibi", attend_q("--scheme alibi --set heads=3 --rotated"), {"--rotated", "query_key"}},
      {"attend_query_positions", attend_q("--query-positions 0:5"), {"--query-positions has 5 tokens", "has 2"}},
      {"attend_key_positions", attend_q("--axes bthd --key-positions ids_2x3.npy"), {"--key-positions has 3 tokens"}},
      {"attend_position_list", attend_q("--key-positions 0,x"), {"positions", "'x'"}},
      {"attend_mask_name", attend_q("--mask diagonal"), {"--mask must be full", "diagonal"}},
      {"attend_mask_mixture", attend_q("--mask full,causal"), {"--mask full must be the only"}},
      {"attend_mask_value", attend_q("--mask window=two"), {"--mask window", "'two'"}},
      {"attend_mask_zero", attend_q("--mask window=0"), {"--mask window must be at least 1, got 0"}},
      {"attend_mask_sinks", attend_q("--mask causal,sinks=4"), {"sinks=N needs window=N"}},
      {"attend_mask_prefix", attend_q("--mask prefix=-1"), {"--mask prefix must be at least 0, got -1"}},
      {"attend_key_mask_shape", attend_q("--key-mask ids.npy"), {"ids.npy must have shape [2] or [1, 2], got [3]"}},
      {"attend_key_mask_values", attend_q("--key-mask mask.npy"), {"mask.npy must hold only 0 (masked) and 1, got 7"}},
      {"attend_key_mask_floats", attend_q("--key-mask ids_float.npy"), {"ids_float.npy"}},
      {"attend_pairs_shape", attend_q("--mask-pairs mask_1d.npy"), {"mask_1d.npy must have shape [2, 2]", "got [2]"}},
      {"attend_weights_alone", attend_q("--weights u=table.npy"), {"--weights needs --scheme or --config"}},
      {"attend_weights_form",
       attend_q("--scheme alibi --set heads=3 --weights table"),
       {"--weights must be name=value", "table"}},
      {"attend_weights_unknown",
       attend_q("--scheme alibi --set heads=3 --weights u=table.npy"),
       {"unknown alibi parameter 'u'"}},
      {"attend_weights_number", attend_q("--scheme alibi --set heads=3 --weights heads=table.npy"), {"is no tensor"}},
      {"attend_weights_twice",
       attend_q("--scheme t5 --set heads=3 --weights table=table.npy --weights table=table.npy"),
       {"--weights table is given twice"}},
      {"attend_weights_shape", attend_q("--scheme t5 --set heads=3 --weights table=table.npy"), {"t5.table"}},
      {"attend_scale_nan", attend_q("--scale nan"), {"scale must be finite, got nan"}},
      {"attend_scale_text", attend_q("--scale big"), {"--scale", "big"}},
      {"attend_soft_cap", attend_q("--soft-cap -1"), {"soft_cap", "-1"}},
      {"attend_same_file", attend_q("--save-scores out.npy"), {"same file, got out.npy"}},
      {"attend_missing_folder", attend_q("--save-scores absent/s.npy"), {"absent/s.npy"}},

      // lint: unreadable files; doubtful settings are findings with exit code 1
      {"lint_no_model", "lint", {"model"}},
      {"lint_absent", "lint absent.json", {"absent.json"}},
      {"lint_no_json", "lint no_json.json", {"no_json.json"}},
      {"lint_list", "lint list.json", {"list.json"}},
      {"lint_deep", "lint deep.json", {"deep.json"}},
      {"lint_no_gguf", "lint no_gguf.gguf", {"no_gguf.gguf"}},
      {"lint_against_absent", "lint llama.json --against absent.json", {"absent.json"}},
      {"lint_served_zero", "lint llama.json --served-length 0", {"served length must be from 1", "got 0"}},
      {"lint_served_text", "lint llama.json --served-length long", {"--served-length", "'long'"}},
      {"positions_missing_folder", "positions prefill 3 --output absent/p.npy", {"absent/p.npy"}},
  };
  return cases;
}

// ---- what each case must do

/// The names and contents of all files in the folder.
Files snapshot(const TemporaryFolder& folder) {
  Files found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    const std::string name = std::filesystem::relative(entry.path(), folder.path()).string();
    found[name] = entry.is_regular_file() ? folder.read(name) : "";
  }
  return found;
}

/// Those of the files above that the command line names.
void write_files(const TemporaryFolder& folder, const std::string& line) {
  for (const auto& [name, content] : files()) {
    if (line.find(name) != std::string::npos) folder.write(name, content);
  }
}

void expect_refused(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& fragments) {
  const Files before = snapshot(folder);
  const CommandResult result = run_locus(folder, arguments);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.rfind("locus: ", 0), 0u) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(result.err.ends_with('\n')) << result.err;
  EXPECT_LT(result.err.size(), 1000u) << result.err;
  for (const std::string& fragment : fragments) {
    EXPECT_NE(result.err.find(fragment), std::string::npos) << "expected \"" << fragment << "\" in\n" << result.err;
  }
  EXPECT_TRUE(snapshot(folder) == before) << "a file was left behind or changed";
}

class BadInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  write_files(folder, GetParam().line);
  expect_refused(folder, words(GetParam().line), GetParam().fragments);
}

INSTANTIATE_TEST_SUITE_P(BadInput, BadInputTest, ::testing::ValuesIn(table()),
                         [](const auto& one) { return one.param.name; });

TEST(BadInputTable, HasEnoughCasesEachWithANameAndSomethingToFind) {
  EXPECT_GE(table().size(), 110u);
  std::set<std::string> names;
  for (const BadInput& one : table()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.fragments.empty()) << one.name;
  }
}

// ---- cases that do not fit the table

TEST(BadInputText, ControlCharactersDoNotMakeASecondLine) {
  const TemporaryFolder folder;
  expect_refused(folder, {"show", "--scheme", "two\nlines"}, {"two?lines"});
  expect_refused(folder, {"show", "--config", "a\nb.json"}, {"a?b.json"});
  expect_refused(folder, {"show", "--scheme", "rope", "--set", "a\r\nb=1"}, {"a??b"});
  expect_refused(folder, {"bogus\n"}, {"bogus?"});
}

TEST(BadInputText, DoesNotWriteThroughADanglingLink) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("absent/target.npy", folder / "link.npy");
  expect_refused(folder, words("positions prefill 3 --output link.npy"), {"link.npy", "leads nowhere"});
}

// The header states more than the file holds: 2^50 bytes cannot be allocated, so a reader that tries crashes or
// reports memory.
TEST(BadInputText, ChecksSizesBeforeAllocating) {
  const TemporaryFolder folder;
  for (const std::string name : {"huge_shape.npy", "huge_header.npy"}) {
    folder.write(name, files().at(name));
    const CommandResult result = run_locus(folder, apply("--axes bhtd --positions 0:3 --input " + name));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err.find("memory"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace locus::testing

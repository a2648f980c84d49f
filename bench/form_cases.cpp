// SPDX-License-Identifier: Apache-2.0
// Times attention with everything that an encoding does around it (rotation, what attention adds, turning back) against
// plain attention on heads of the same width, with RoPE where the encoding rotates.
#include <memory>
#include <optional>

#include "attention_problem.h"
#include "cases.h"
#include "locus/locus.h"

namespace locus::bench {
namespace {

constexpr std::int64_t form_tokens = 1024;

/// Queries, keys and values, and what an encoding makes of them.
class Form {
 public:
  /// Without an encoding: attention alone. `width`: of a head in attention.
  Form(std::optional<Encoding> encoding, std::int64_t width)
      : encoding_(std::move(encoding)),
        width_(width),
        given_(attention_head_dim),
        query_(bytes(given_)),
        key_(bytes(given_)),
        value_(bytes(width)),
        rotated_query_(bytes(width)),
        rotated_key_(bytes(width)),
        rotated_value_(bytes(width)),
        output_(bytes(width)),
        ids_(positions::prefill(form_tokens)) {
    if (encoding_ && encoding_->site() == Site::query_key && polar_of(*encoding_) == nullptr) given_ = width;
    fill_normal(query_, 1);
    fill_normal(key_, 2);
    fill_normal(value_, 3);
    fill_normal(rotated_query_, 1);
    fill_normal(rotated_key_, 2);
    if (encoding_ && encoding_->site() == Site::score) bring_numbers(encoding_->score());
  }

  void run() {
    const bool rotates = encoding_ && encoding_->site() == Site::query_key;
    const bool turns = encoding_ && turns_output(*encoding_);
    if (rotates) {
      rotate(*encoding_, {view(query_, given_), view(rotated_query_, width_)}, ids_, Role::query);
      rotate(*encoding_, {view(key_, given_), view(rotated_key_, width_)}, ids_, Role::key);
    }
    if (turns) rotate(*encoding_, {view(value_, width_), view(rotated_value_, width_)}, ids_, Role::key);
    AttentionCall call{.query = view(rotated_query_, width_),
                       .key = view(rotated_key_, width_),
                       .value = view(turns ? rotated_value_ : value_, width_),
                       .output = view(output_, width_),
                       .encoding = encoding_ ? &*encoding_ : nullptr,
                       .skip_irrelevant_blocks = false};
    call.mask.causal = true;
    if (!numbers_.empty()) {
      const std::int64_t count = encoding_->score().token_numbers;
      call.query_numbers = call.key_numbers =
          heads_view(numbers_.data(), ElementType::float64, "thd", {{form_tokens, attention_heads, count}});
    }
    attend(call);
    if (turns) turn_output(*encoding_, view(output_, width_), ids_);
  }

 private:
  static std::size_t bytes(std::int64_t width) {
    return static_cast<std::size_t>(attention_heads * form_tokens * width) * sizeof(float);
  }
  static HeadsView view(Buffer& buffer, std::int64_t width) {
    return heads_view(buffer.data(), ElementType::float32, "htd", {{attention_heads, form_tokens, width}});
  }
  // Running sums of gates that forget 2 % per token.
  void bring_numbers(const ScoreBias& bias) {
    for (std::int64_t t = 0; bias.token_numbers > 0 && t < form_tokens; ++t) {
      numbers_.insert(numbers_.end(), static_cast<std::size_t>(attention_heads * bias.token_numbers),
                      -0.02 * static_cast<double>(t));
    }
  }

  std::optional<Encoding> encoding_;
  std::int64_t width_, given_;
  Buffer query_, key_, value_, rotated_query_, rotated_key_, rotated_value_, output_;
  PositionIds ids_;
  std::vector<double> numbers_;
};

/// A form and the plain attention that it is compared with.
struct Compared {
  std::string name;
  std::string scheme;
  Arguments arguments;
  std::optional<double> bar;  ///< absent: the form does more than plain attention
};

std::vector<Compared> compared_forms() {
  const std::int64_t heads = attention_heads, dim = attention_head_dim;
  const auto rope = [&](std::initializer_list<std::pair<const std::string, Value>> more) {
    Arguments all{{"head_dim", dim}, {"pairing", "half"}};
    for (const auto& [name, value] : more) all.set(name, value);
    return all;
  };
  const Arguments per_head{{"heads", heads}, {"head_dim", dim}};
  return {
      {"query temperature", "rope", rope({{"temperature", "steps"}, {"temperature_length", 256}}), 0.9},
      {"turned output", "rope", rope({{"turned_output", true}}), 0.9},
      {"offset map rerope", "offset_map", rope({{"map", "rerope"}, {"window", 256}}), 0.9},
      {"offset map self_extend", "offset_map", rope({{"map", "self_extend"}, {"window", 256}, {"group", 4}}), 0.9},
      {"offset map dual_chunk", "offset_map", rope({{"map", "dual_chunk"}, {"chunk_size", 320}, {"local_size", 64}}),
       0.9},
      {"FoPE", "fope", {{"heads", heads}, {"head_dim", dim}, {"deviation", 0.1}}, 0.9},
      {"PoPE", "pope", {{"heads", heads}, {"head_dim", dim}, {"deviation", 0.1}}, 0.9},
      {"forget gate", "forget_gate", {{"heads", heads}}, 0.9},
      {"dynamic bias", "dynamic_bias", {{"heads", heads}}, 0.9},
      {"FIRE", "fire", {{"heads", heads}}, {}},
      {"Swin V2", "swin_v2", {{"heads", heads}, {"window_height", 32}, {"window_width", 32}}, {}},
      {"Conformer", "conformer", per_head, {}},
      {"DeBERTa", "deberta", per_head, {}},
      {"decomposed 2-D",
       "decomposed_2d",
       {{"heads", heads}, {"head_dim", dim}, {"grid_height", 32}, {"grid_width", 32}},
       {}},
      {"CoPE", "cope", per_head, {}},
  };
}

Case measure_form(const Compared& one, const Pairs& pairs) {
  const Encoding encoding(one.scheme, one.arguments);
  const bool rotates = encoding.site() == Site::query_key;
  const std::int64_t width = rotates ? encoding.rotation().head_dim : attention_head_dim;
  std::optional<Encoding> plain;
  if (rotates) plain = Encoding("rope", {{"head_dim", width}, {"pairing", "half"}});
  const auto ours = std::make_unique<Form>(encoding, width), limit = std::make_unique<Form>(plain, width);
  const double pairs_seen = static_cast<double>(form_tokens * (form_tokens + 1) / 2);
  return {.group = {},
          .name = {},
          .limit = rotates ? "RoPE and plain attention" : "plain attention",
          .result = compare([&] { ours->run(); }, [&] { limit->run(); }, pairs),
          .bar = one.bar,
          .beatable = true,
          .amount = 4 * static_cast<double>(attention_heads * width) * pairs_seen,
          .unit = "GFLOP/s"};
}

}  // namespace

std::vector<PlannedCase> plan_form_cases() {
  std::vector<PlannedCase> cases;
  for (const Compared& one : compared_forms()) {
    cases.push_back({"forms", one.name + " " + std::to_string(form_tokens),
                     [one](const Pairs& pairs) { return measure_form(one, pairs); }});
  }
  return cases;
}

}  // namespace locus::bench

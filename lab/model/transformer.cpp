// SPDX-License-Identifier: Apache-2.0
#include "model/transformer.h"

#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/positions.h"
#include "locus/rows.h"
#include "model/neighbours.h"
#include "model/norm.h"

namespace locus::lab {
namespace {

constexpr std::int64_t hidden_factor = 4;

std::string in_layer(std::int64_t layer, const char* name) { return std::to_string(layer) + "." + name; }

// After the last attention, tokens no longer interact: only the requested ones continue.
at::Tensor only_asked(const at::Tensor& x, const Questions& questions) {
  return questions.asked.numel() == x.size(0) ? x : x.index_select(0, questions.asked);
}

// If queries are not divided by sqrt(head_dim), as in T5, their initial weights are: initial scores have the same size.
void fold_scale(Weights& weights, const ModelSpec& spec, const Encoding& encoding) {
  if (encoding.site() != Site::score || !encoding.score().softmax_scale) return;
  const double usual = 1 / std::sqrt(static_cast<double>(spec.shape.width / spec.shape.heads));
  const NoGradGuard no_gradients;
  for (std::int64_t layer = 0; layer < spec.shape.layers; ++layer) {
    weights.at(in_layer(layer, "attention.qkv"))
        .narrow(0, 0, spec.shape.width)
        .mul_(usual / *encoding.score().softmax_scale);
  }
}

// Of the forget gate: how many gates every head has.
std::int64_t gates_per_head(const Encoding& encoding) {
  return encoding.site() == Site::score ? encoding.score().token_numbers : 0;
}

bool has_neighbours(const Encoding& encoding) {
  return encoding.site() == Site::hidden && encoding.hidden().neighbours.has_value();
}

}  // namespace

Questions questions_of(const Batch& batch, const TaskDescription& task, std::int64_t first, std::int64_t rows) {
  const std::int64_t per_row = task.pooled ? 1 : batch.length;
  require(std::ssize(batch.tokens) == batch.rows * batch.length && std::ssize(batch.targets) == batch.rows * per_row,
          "task ", task.name, ": a batch of ", batch.rows, " rows of ", batch.length, " has ", batch.tokens.size(),
          " tokens and ", batch.targets.size(), " targets");
  std::vector<std::int64_t> tokens(batch.tokens.begin() + first * batch.length,
                                   batch.tokens.begin() + (first + rows) * batch.length);
  std::vector<std::int64_t> asked, targets;
  for (std::int64_t i = 0; i < rows * per_row; ++i) {
    const std::int32_t target = batch.targets[static_cast<std::size_t>(first * per_row + i)];
    require(target < task.vocabulary, "task ", task.name, ": a target must be below its vocabulary (", task.vocabulary,
            "), got ", target);
    if (target < 0) continue;
    asked.push_back(i);
    targets.push_back(target);
  }
  for (const std::int64_t token : tokens) {
    require(token >= 0 && token < task.vocabulary, "task ", task.name, ": a token must be from 0 to below ",
            task.vocabulary, ", got ", token);
  }
  return {rows, batch.length, at::tensor(tokens, at::kLong), at::tensor(asked, at::kLong),
          at::tensor(targets, at::kLong)};
}

ModelSpec model_spec(const TrialSpec& trial, const TaskDescription& task) {
  const ModelShape& shape = trial.model;
  require(shape.layers >= 1 && shape.heads >= 1 && shape.width >= 1 && shape.width % shape.heads == 0,
          "the model needs layers, heads and a width that the heads divide, got ", shape.layers, ", ", shape.heads,
          " and ", shape.width);
  std::int64_t longest = trial.trained_length;
  for (const std::int64_t length : trial.lengths) longest = std::max(longest, length);
  return {.shape = shape,
          .vocabulary = task.vocabulary,
          .causal = task.causal,
          .pooled = task.pooled,
          .scheme = parse_scheme(trial.scheme),
          .positions = longest};
}

Encoding initial_encoding(const ModelSpec& spec) {
  const EncodingSize size{.model = spec.shape, .causal = spec.causal, .positions = spec.positions};
  Encoding encoding(spec.scheme.name, complete_arguments(spec.scheme, size));
  if (spec.causal && has_neighbours(encoding)) {
    const Neighbours& from = *encoding.hidden().neighbours;
    require(from.before == from.kernel - 1, spec.scheme.name,
            ".causal must be true in a decoder: it would see the tokens that it is asked for");
  }
  return encoding;
}

Weights initial_weights(const ModelSpec& spec, const Encoding& encoding, std::int64_t seed) {
  const std::int64_t width = spec.shape.width, hidden = hidden_factor * width;
  const auto spread = [](std::int64_t fan_in) { return 1 / std::sqrt(static_cast<double>(fan_in)); };
  // Projections into the residual stream have smaller initial weights, as in GPT-2: its sum must not grow with depth.
  const double residual = spread(2 * spec.shape.layers);
  const auto gain = [&](std::string name) {
    return Weights::Entry{.name = std::move(name), .shape = {width}, .mean = 1, .decays = false};
  };
  // Unit deviation: a token and the sinusoid of its position have the same weight.
  std::vector<Weights::Entry> entries{
      {.name = "embedding", .shape = {spec.vocabulary, width}, .deviation = 1, .decays = false},
      {.name = "head", .shape = {spec.vocabulary, width}, .deviation = spread(width)},
      gain("norm")};
  for (std::int64_t layer = 0; layer < spec.shape.layers; ++layer) {
    entries.push_back(gain(in_layer(layer, "attention.norm")));
    entries.push_back(
        {.name = in_layer(layer, "attention.qkv"), .shape = {3 * width, width}, .deviation = spread(width)});
    entries.push_back(
        {.name = in_layer(layer, "attention.out"), .shape = {width, width}, .deviation = spread(width) * residual});
    entries.push_back(gain(in_layer(layer, "feed_forward.norm")));
    entries.push_back(
        {.name = in_layer(layer, "feed_forward.in"), .shape = {hidden, width}, .deviation = spread(width)});
    entries.push_back({.name = in_layer(layer, "feed_forward.out"),
                       .shape = {width, hidden},
                       .deviation = spread(hidden) * residual});
    if (const std::int64_t gates = spec.shape.heads * gates_per_head(encoding); gates > 0) {
      // As in x-transformers' data-dependent ALiBi, gates begin near sigmoid(5): 0.7 % is forgotten per token.
      entries.push_back(
          {.name = in_layer(layer, "attention.gate"), .shape = {gates, width}, .deviation = spread(width)});
      entries.push_back({.name = in_layer(layer, "attention.gate_bias"), .shape = {gates}, .mean = 5, .decays = false});
    }
  }
  if (encoding.site() == Site::hidden && encoding.claims().has(Claim::learned) && !has_neighbours(encoding)) {
    entries.push_back(
        {.name = "positions.table", .shape = encoding.hidden().table.shape, .deviation = 1, .decays = false});
  }
  std::int64_t in_encoding = 0;
  const std::vector<LearnedArgument> learned = learned_arguments(encoding);
  for (const LearnedArgument& argument : learned) in_encoding += argument.count();
  if (in_encoding > 0) entries.push_back({.name = "positions", .shape = {in_encoding}, .decays = false});

  Weights weights(std::move(entries), seed);
  fold_scale(weights, spec, encoding);
  if (in_encoding == 0) return weights;
  const NoGradGuard no_gradients;
  std::int64_t first = 0;
  for (const LearnedArgument& argument : learned) {
    const Weights own({{.name = "positions." + argument.name,
                        .shape = argument.shape,
                        .deviation = argument.deviation,
                        .mean = argument.initial}},
                      seed);
    weights.at("positions").narrow(0, first, argument.count()).copy_(own.values());
    first += argument.count();
  }
  return weights;
}

Transformer::Transformer(const ModelSpec& spec, std::int64_t seed)
    : spec_(spec),
      initial_(initial_encoding(spec)),
      learned_(learned_arguments(initial_)),
      weights_(initial_weights(spec, initial_, seed)),
      no_weights_(at::empty({0})),
      no_numbers_(at::empty({0}, at::kDouble)) {}

Encoding Transformer::encoding() const {
  if (!learned_.empty()) return with_weights(initial_, learned_, weights_.at("positions").data_ptr<float>());
  if (!weights_.has("positions.table")) return initial_;
  const at::Tensor& table = weights_.at("positions.table");
  Arguments arguments = initial_.arguments();
  const float* values = table.data_ptr<float>();
  arguments.set("table", Tensor{table.sizes().vec(), std::vector<float>(values, values + table.numel())});
  return Encoding(initial_.scheme().name, arguments);
}

at::Tensor Transformer::position_rows(const Encoding& encoding, std::int64_t length) const {
  const HiddenRows& hidden = encoding.hidden();
  if (at::GradMode::is_enabled() && weights_.has("positions.table")) {
    return weights_.at("positions.table").narrow(0, hidden.row_offset, length);
  }
  at::Tensor rows = at::empty({length, spec_.shape.width});
  for (std::int64_t p = 0; p < length; ++p) {
    const auto width = static_cast<std::size_t>(spec_.shape.width);
    hidden_row(hidden, p, std::span(rows.data_ptr<float>() + p * spec_.shape.width, width));
  }
  return rows;
}

// Running sums of ln sigmoid(norm(x) gate + bias) along each row, in double.
at::Tensor Transformer::token_numbers(const at::Tensor& x, std::int64_t layer, const AttentionSetting& setting) const {
  if (gates_per_head(setting.encoding) == 0) return no_numbers_;
  const at::Tensor normed = norm(x, weights_.at(in_layer(layer, "attention.norm")));
  const at::Tensor logits = at::mm(normed, weights_.at(in_layer(layer, "attention.gate")).t()) +
                            weights_.at(in_layer(layer, "attention.gate_bias"));
  const at::Tensor gates = at::log_sigmoid(logits).to(at::kDouble).view({setting.rows, setting.length, -1});
  return gates.cumsum(1).view({setting.rows * setting.length, -1});
}

at::Tensor Transformer::logits(const Questions& questions, const Encoding& encoding) const {
  const std::int64_t width = spec_.shape.width, rows = questions.rows, length = questions.length;
  const bool in_attention = encoding.site() != Site::hidden;
  auto setting =
      c10::make_intrusive<AttentionSetting>(encoding, in_attention ? learned_ : std::vector<LearnedArgument>());
  setting->rows = rows;
  setting->length = length;
  setting->heads = spec_.shape.heads;
  setting->head_dim = width / spec_.shape.heads;
  setting->causal = spec_.causal;
  setting->ids = positions::prefill(length);
  setting->observer = observer_;
  const at::Tensor& learned = learned_.empty() ? no_weights_ : weights_.at("positions");
  const at::Tensor& learned_in_attention = in_attention ? learned : no_weights_;

  at::Tensor x = at::embedding(weights_.at("embedding"), questions.tokens);
  if (has_neighbours(encoding)) {
    x = with_neighbours(x, learned, setting);
  } else if (encoding.site() == Site::hidden) {
    encoding.check_positions(setting->ids.ids);
    x = (x.view({rows, length, width}) + position_rows(encoding, length)).view({rows * length, width});
  }
  for (std::int64_t layer = 0; layer < spec_.shape.layers; ++layer) {
    const auto weight = [&](const char* name) -> const at::Tensor& { return weights_.at(in_layer(layer, name)); };
    x = attention_block(
        x, {weight("attention.norm"), weight("attention.qkv"), weight("attention.out"), learned_in_attention},
        token_numbers(x, layer, *setting), setting);
    if (layer + 1 == spec_.shape.layers && !spec_.pooled) x = only_asked(x, questions);
    x = feed_forward_block(x, weight("feed_forward.norm"), weight("feed_forward.in"), weight("feed_forward.out"));
  }
  if (spec_.pooled) x = only_asked(x.view({rows, length, width}).mean(1), questions);
  return at::mm(norm(x, weights_.at("norm")), weights_.at("head").t());
}

at::Tensor Transformer::loss(const Questions& questions, const Encoding& encoding) const {
  return at::cross_entropy_loss(logits(questions, encoding), questions.targets);
}

}  // namespace locus::lab

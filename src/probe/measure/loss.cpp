// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "locus/error.h"

namespace locus::probe {
namespace {

/// Tokens to read, with losses from index `first` on; `next` follows the last.
struct Passage {
  std::span<const Token> tokens;
  std::int64_t first = 0;
  Token next = 0;

  Token after(std::size_t index) const { return index + 1 < tokens.size() ? tokens[index + 1] : next; }
};

/// Reads a passage after the cached tokens and appends its losses.
void read(const Model& model, const Passage& passage, SequenceId sequence, Cache& cache, Executor* executor,
          std::vector<double>& losses) {
  const Segment segment{.sequence = sequence, .tokens = passage.tokens};
  std::vector<std::int64_t> wanted(passage.tokens.size() - static_cast<std::size_t>(passage.first));
  std::iota(wanted.begin(), wanted.end(), passage.first);
  ForwardCall call;
  call.segments = std::span(&segment, 1);
  call.logits_wanted = wanted;
  call.executor = executor;
  const std::vector<float> logits = model.forward(call, cache);
  const auto vocab = static_cast<std::size_t>(model.config().vocab);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    losses.push_back(
        loss_of(std::span(logits).subspan(i * vocab, vocab), passage.after(static_cast<std::size_t>(wanted[i]))));
  }
}

/// Reads a text with a new cache, in chunks. Returns false if interrupted.
bool read_text(const Model& model, const Encoding& encoding, const Passage& text, const RunControl& control,
               std::vector<double>& losses, const Placement& placement = {}) {
  const std::int64_t count = std::ssize(text.tokens);
  Cache cache(model, count, encoding);
  cache.set_placement(placement);
  const SequenceId sequence = cache.create();
  for (std::int64_t at = 0; at < count;) {
    if (control.interrupted()) return false;
    const std::int64_t end = std::min(at + control.chunk, count);
    Passage chunk{.tokens = text.tokens.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(end - at))};
    if (text.first < end) {
      chunk.first = std::max<std::int64_t>(text.first - at, 0);
      chunk.next = text.after(static_cast<std::size_t>(end) - 1);
      read(model, chunk, sequence, cache, control.executor, losses);
    } else {
      (void)model.forward(chunk.tokens, sequence, cache, control.executor);
    }
    control.on_tokens(end - at);
    at = end;
  }
  return true;
}

/// Up to the trained length there is one table; beyond it, one per token.
std::vector<double> stepwise(const Model& model, const Encoding& encoding, KeyTables tables,
                             std::span<const Token> tokens, const RunControl& control, const Placement& placement) {
  std::vector<double> losses;
  Cache cache(model, std::ssize(tokens), encoding.at_length(1), tables);
  cache.set_placement(placement);
  const SequenceId sequence = cache.create();
  const std::int64_t trained = model.config().trained_length;
  for (std::int64_t at = 0; at + 1 < std::ssize(tokens);) {
    if (control.interrupted()) break;
    const std::int64_t left = std::ssize(tokens) - 1 - at;
    const std::int64_t size = at < trained ? std::min({control.chunk, left, trained - at}) : 1;
    cache.set_encoding(encoding.at_length(at + size));
    const Passage step{.tokens = tokens.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)),
                       .next = tokens[static_cast<std::size_t>(at + size)]};
    read(model, step, sequence, cache, control.executor, losses);
    at += size;
    control.on_tokens(size);
  }
  return losses;
}

void check(std::span<const Token> tokens, const RunControl& control) {
  require(tokens.size() >= 2, "a loss needs at least 2 tokens, got ", tokens.size());
  require(control.chunk >= 1, "a chunk must have at least 1 token, got ", control.chunk);
}

}  // namespace

std::string_view name_of(LengthForm form) {
  switch (form) {
    case LengthForm::whole:
      return "whole";
    case LengthForm::rerotated:
      return "rerotated";
    case LengthForm::mixed:
      return "mixed";
  }
  return "?";
}

double loss_of(std::span<const float> logits, Token token) {
  require(token >= 0 && token < std::ssize(logits), "token ", token, " is outside the vocabulary of ", logits.size());
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return std::log(sum) + largest - static_cast<double>(logits[static_cast<std::size_t>(token)]);
}

std::vector<double> sequence_losses(const Model& model, const Encoding& encoding, LengthForm form,
                                    std::span<const Token> tokens, const RunControl& control,
                                    const Placement& placement) {
  check(tokens, control);
  // Raw keys are rotated on use: 1000 changes of the table cost one rounding, not 1000.
  if (encoding.length_dependent() && form != LengthForm::whole) {
    return stepwise(model, encoding, form == LengthForm::mixed ? KeyTables::mixed : KeyTables::raw, tokens, control,
                    placement);
  }
  std::vector<double> losses;
  const auto read_tokens = tokens.first(tokens.size() - 1);  // nothing follows the last
  read_text(model, encoding.at_length(std::ssize(read_tokens)), {.tokens = read_tokens, .next = tokens.back()}, control,
            losses, placement);
  return losses;
}

std::vector<double> restarted_losses(const Model& model, std::span<const Token> tokens, Token start,
                                     const RunControl& control) {
  check(tokens, control);
  std::vector<double> losses;
  const auto read_tokens = tokens.first(tokens.size() - 1);
  for (std::size_t begin = 0; begin < read_tokens.size();) {
    const auto next = std::find(read_tokens.begin() + static_cast<std::ptrdiff_t>(begin) + 1, read_tokens.end(), start);
    const auto end = static_cast<std::size_t>(next - read_tokens.begin());
    const Passage text{.tokens = read_tokens.subspan(begin, end - begin), .next = tokens[end]};
    if (!read_text(model, model.encoding().at_length(std::ssize(text.tokens)), text, control, losses)) break;
    begin = end;
  }
  return losses;
}

std::vector<double> windowed_losses(const Model& model, std::span<const Token> tokens, std::int64_t window,
                                    std::int64_t stride, const RunControl& control) {
  check(tokens, control);
  require(stride >= 1 && stride <= window, "the stride of a window must be from 1 to its length (", window, "), got ",
          stride);
  std::vector<double> losses;
  const std::int64_t count = std::ssize(tokens) - 1;
  for (std::int64_t end = std::min(window, count), done = 0; done < count; end = std::min(end + stride, count)) {
    const std::int64_t begin = std::max<std::int64_t>(end - window, 0);
    const Passage text{.tokens = tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                       .first = done - begin,
                       .next = tokens[static_cast<std::size_t>(end)]};
    if (!read_text(model, model.encoding().at_length(end - begin), text, control, losses)) break;
    done = end;
  }
  return losses;
}

std::int64_t windowed_tokens(std::int64_t tokens, std::int64_t window, std::int64_t stride) {
  const std::int64_t count = tokens - 1;
  std::int64_t read = 0;
  for (std::int64_t end = std::min(window, count), done = 0; done < count; end = std::min(end + stride, count)) {
    read += std::min(window, end);
    done = end;
  }
  return read;
}

}  // namespace locus::probe

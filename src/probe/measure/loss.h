// SPDX-License-Identifier: Apache-2.0
// Next-token loss by position: how well a model with an encoding predicts a long text, token by token.
//
// The loss at position p is -log of the probability that the model, having read tokens 0 .. p, gives to token p + 1, in
// nats. A sequence of n tokens has n - 1 of them. An interrupted run returns the losses it has.
#pragma once

#include <span>
#include <vector>

#include "probe/model.h"
#include "probe/run_control.h"

namespace locus::probe {

/// Which table rotates the keys if the encoding depends on the length. If it does not, all forms are the same.
enum class LengthForm : std::uint8_t {
  whole,      ///< the whole sequence with the table of its final length
  rerotated,  ///< each token with the table of the length so far, to which all earlier keys are rotated
  mixed       ///< the same, but each key keeps the table it was stored with, as in a naive cache
};
std::string_view name_of(LengthForm form);

/// -log softmax(logits)[token], in double.
double loss_of(std::span<const float> logits, Token token);

/// Returns the losses of one sequence, from position 0 unless `placement` says otherwise, with `encoding`.
std::vector<double> sequence_losses(const Model& model, const Encoding& encoding, LengthForm form,
                                    std::span<const Token> tokens, const RunControl& control = {},
                                    const Placement& placement = {});

/// A baseline: the model's encoding, restarted at position 0 at every token `start`. Losses keep their index in the
/// whole sequence; the last token before a start predicts the start.
std::vector<double> restarted_losses(const Model& model, std::span<const Token> tokens, Token start,
                                     const RunControl& control = {});

/// A baseline: a window of `window` tokens, moved by `stride` and read from position 0 each time. A token after the
/// first window is predicted from more than `window` - `stride` tokens before it.
/// Cost: reads every token window / stride times.
std::vector<double> windowed_losses(const Model& model, std::span<const Token> tokens, std::int64_t window,
                                    std::int64_t stride, const RunControl& control = {});
/// Returns how many tokens windowed_losses reads, for progress.
std::int64_t windowed_tokens(std::int64_t tokens, std::int64_t window, std::int64_t stride);

}  // namespace locus::probe

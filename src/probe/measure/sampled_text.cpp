// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/sampled_text.h"

#include <algorithm>

#include "locus/error.h"
#include "probe/generate.h"

namespace locus::probe {

std::vector<Token> sample_text(const Model& model, const SampledText& wanted, const RunControl& control) {
  require(wanted.tokens >= 1, "a sampled text must have at least 1 token, got ", wanted.tokens);
  std::vector<Token> text;
  for (std::uint64_t piece = 0; std::ssize(text) < wanted.tokens && !control.interrupted(); ++piece) {
    text.push_back(wanted.start);
    control.on_tokens(1);
    GenerateCall call;
    call.prompt = std::span(&wanted.start, 1);
    call.max_tokens = std::min(model.config().trained_length - 1, wanted.tokens - std::ssize(text));
    if (call.max_tokens < 1) break;
    call.sampling = {.temperature = 1, .seed = wanted.seed + piece};
    call.stop = wanted.stops;
    call.interrupted = control.interrupted;
    call.on_token = [&](Token) { control.on_tokens(1); };
    call.executor = control.executor;
    const Generated generated = generate(model, model.encoding(), call);
    text.insert(text.end(), generated.tokens.begin(), generated.tokens.end());
  }
  return text;
}

std::string_view sampled_text_caveat() {
  return "the text was sampled from the model itself at temperature 1, in independent pieces of at most the trained "
         "length. "
         "It shows from which position on an encoding makes the model predict worse than it can. It does not show that "
         "a rule uses context farther back than a piece (nothing in the text depends on it), nor how the model "
         "performs "
         "on real texts";
}

}  // namespace locus::probe

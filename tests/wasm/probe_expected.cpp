// SPDX-License-Identifier: Apache-2.0
// Prints what the native probe measures, for probe.mjs: probe_expected MODEL TEXT ENCODING FIRST_POSITION QUERY_AHEAD.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "locus/error.h"
#include "probe/measure/loss.h"
#include "probe/measure/score_map.h"
#include "probe/tokenizers/tokenizer.h"

int main(int argc, char** argv) {
  using namespace locus;
  if (argc != 6) return 2;
  try {
    const probe::Model model = probe::load(argv[1]);
    const auto tokenizer = probe::read_model_tokenizer(argv[1]);
    const std::vector<probe::Token> tokens = tokenizer->encode(argv[2]);
    const Encoding encoding = probe::encoding_for(model, argv[3]);
    const probe::Placement placement{std::stoll(argv[4]), std::stoll(argv[5])};
    const probe::ScoreMap map = probe::measure_scores(model, encoding, tokens, placement);
    std::cout << nlohmann::json{
        {"tokens", tokens},
        {"losses", probe::sequence_losses(model, encoding, probe::LengthForm::whole, tokens, {}, placement)},
        {"probabilities", map.probabilities},
        {"scores", map.scores},
        {"content", map.content}};
    return 0;
  } catch (const Error& error) {
    std::cout << nlohmann::json{{"error", error.what()}};
    return 0;
  }
}

// SPDX-License-Identifier: Apache-2.0
// The rule llama3 as GGUF stores it: the divisor of each frequency instead of the four parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace locus::io {

struct Llama3Parameters {
  double factor = 8, low_freq_factor = 1, high_freq_factor = 4;
  double original_length = 8192;
};

/// Returns rope_freqs.weight: one divisor for each of the rotary_dim / 2 frequencies of base^(-2i / rotary_dim).
std::vector<float> llama3_divisors(const Llama3Parameters& parameters, double base, std::int64_t rotary_dim);

/// Returns the parameters that give these divisors. Absent if there are none, within 1e-5 of each: the converter's
/// float32 error times at most the factor. Divisors determine only original / low and original / high, so without
/// `original_length` low_freq_factor is assumed to be 1, as in every Llama.
std::optional<Llama3Parameters> recover_llama3(std::span<const float> divisors, double base,
                                               std::optional<std::int64_t> original_length);

}  // namespace locus::io

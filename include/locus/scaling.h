// SPDX-License-Identifier: Apache-2.0
// RoPE frequency rules: each computes inverse frequencies and two factors from a width and a base.
//
// A rule is one function template over the real type: DoubleDouble gives the true frequencies, float those of engines
// that perform the same operations in float32.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "locus/double_double.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

/// The input of every rule, in addition to its parameters.
struct RuleContext {
  std::int64_t rotary_dim = 0;
  double base = 10000;
  Profile profile = Profile::exact;
};

template <class Real>
struct Frequencies {
  std::vector<Real> inv_freq = {};  ///< radians per position, one per pair
  double attention_factor = 1;      ///< on cos and sin
  double softmax_scale_factor = 1;  ///< on the softmax scale
};

/// The type of a rule's scalars: engines compute these in double even if their tensors are float32.
template <class Real>
using ScalarOf = std::conditional_t<std::is_same_v<Real, float>, double, Real>;

/// A number of a rule in GGUF.
struct GgufKey {
  std::string_view key;        ///< after `<architecture>.rope.scaling.`
  std::string_view parameter;  ///< of the rule
};

/// A parameter called `factor` is the ratio of the extended length to the trained length.
struct Rule {
  std::string_view name;   ///< in code and on the command line: `dynamic_ntk`
  std::string_view title;  ///< in prose and charts: `dynamic NTK`
  std::string_view summary;
  std::string_view paper;
  std::vector<Parameter> parameters;
  Arguments example;                            ///< valid for a rotary width of 16
  std::string_view trained_length = {};         ///< the parameter that holds the trained length; empty: none
  std::vector<std::string_view> hf_types = {};  ///< values of rope_type in config.json, the preferred one first
  std::string_view gguf_type = {};              ///< rope.scaling.type in GGUF; empty: GGUF has no name for it
  std::vector<GgufKey> gguf_keys = {};          ///< beside those of every rule: factor and original_context_length
  bool length_dependent = false;                ///< keys cached at one length are wrong at another
  bool whole_head = false;                      ///< rotary_dim must be head_dim
  bool compared = true;                         ///< included by default in the lab, the probe and the figure `scaling`
  Frequencies<DoubleDouble> (*exact)(const RuleContext&, const Arguments&);
  Frequencies<float> (*single)(const RuleContext&, const Arguments&);
  GgmlRope (*ggml)(const RuleContext&,
                   const Arguments&) = nullptr;  ///< absent: passed as divisors of the plain frequencies
};

/// Returns all rules in registry order.
std::span<const Rule* const> rules();
/// Returns the rule called `name`.
/// Error: an unknown name.
const Rule& find_rule(std::string_view name);
/// Returns whether the rule takes a factor and requires nothing else except the trained length.
bool needs_factor_only(const Rule& rule);
/// Returns the rules that are compared by default.
std::vector<const Rule*> compared_rules();

/// Returns base^(-2i/d), the frequencies that every rule starts from.
template <class Real>
std::vector<Real> plain_frequencies(std::int64_t rotary_dim, Real base) {
  using std::pow;
  std::vector<Real> inv_freq;
  for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
    const Real exponent = Real(static_cast<double>(2 * i)) / Real(static_cast<double>(rotary_dim));
    inv_freq.push_back(Real(1) / pow(base, exponent));
  }
  return inv_freq;
}

}  // namespace locus

// SPDX-License-Identifier: Apache-2.0
// All of shaw/ and transformer_xl/ of the reference vectors: probabilities and outputs of other projects' attention.
//
// float64 against float64: 1e-12 (sums of at most some hundred terms of size 1). float32 against float64: the bound of
// attention.h with the measured size of scores and values.
#include "attention_check.h"
#include "oracle/oracle_check.h"

namespace locus::testing {
namespace {

/// Inputs [tokens, batch, heads, dim] or [batch, heads, tokens, dim] ... as the peer lays them out.
struct Layout {
  std::int64_t batch, tokens, heads, dim;
  std::int64_t batch_stride, token_stride, head_stride;
};

template <class T>
HeadsView view_of(std::vector<T>& data, const Layout& l) {
  return {.data = data.data(),
          .type = element_type_of<T>,
          .batch = l.batch,
          .tokens = l.tokens,
          .heads = l.heads,
          .head_dim = l.dim,
          .batch_stride = l.batch_stride,
          .token_stride = l.token_stride,
          .head_stride = l.head_stride};
}

template <class T>
std::vector<T> elements_of(const OracleCase& peer, const std::string& array) {
  std::vector<T> values;
  for (const double x : peer.doubles(array)) values.push_back(element<T>(x));
  return values;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::fabs(x));
  return largest;
}

/// Runs the case in T and compares the output; returns the probabilities [batch, heads, queries, keys].
template <class T>
std::vector<float> check_output(const OracleCase& peer, const Encoding& encoding, const Layout& queries,
                                const Layout& keys, AttentionCall call, const std::string& output_name) {
  std::vector<T> q = elements_of<T>(peer, "q"), k = elements_of<T>(peer, "k"), v = elements_of<T>(peer, "v");
  std::vector<T> out(q.size());
  call.query = view_of(q, queries);
  call.key = view_of(k, keys);
  call.value = view_of(v, keys);
  call.output = view_of(out, queries);
  call.encoding = &encoding;
  const std::vector<std::int64_t> rows = ids_from(0, queries.tokens);
  std::vector<float> probabilities(
      static_cast<std::size_t>(queries.batch * queries.heads * queries.tokens * keys.tokens));
  call.rows_wanted = rows;
  call.probabilities = probabilities.data();
  attend(call);
  const reference::Attention reference = reference::attend(call);
  const double values = largest_of(peer.doubles("v")) + largest_value(call);
  const Extents e{.keys = keys.tokens, .dim = queries.dim};
  const double bound =
      sizeof(T) == 8 ? 1e-12 : output_bound<T>(e, largest_of(reference.magnitude), values) + 2 * 0x1p-24 * values;
  const std::vector<double> want = peer.doubles(output_name);
  Worst worst(output_name + " in " + std::string(name_of(element_type_of<T>)));
  for (std::size_t i = 0; i < want.size(); ++i) worst.see(value_of(out[i]), want[i], bound, i);
  return probabilities;
}

class ShawAttention : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Oracle, ShawAttention, ::testing::ValuesIn(oracle_cases("shaw")), case_name);

TEST_P(ShawAttention, OutputsAndProbabilities) {
  const OracleCase peer("shaw", GetParam());
  const Json& json = peer.json();
  const bool bert = json.contains("hf");
  const std::vector<std::int64_t> logits = peer.shape("logits_f64");
  const std::int64_t heads = logits[1], length = logits[2];
  const std::int64_t dim = bert ? json.at("head_dim").get<std::int64_t>() : peer.shape("q").at(3);
  Arguments arguments{{"heads", heads}, {"head_dim", dim}};
  AttentionCall call;
  if (bert) {  // [batch, length, heads x dim]
    arguments.set("clip_left", json.at("max_position_embeddings").get<std::int64_t>() - 1);
    arguments.set("clip", json.at("clip").get<bool>());
    arguments.set("index", std::string("query_minus_key"));
    arguments.set("meets_key", std::string(json.at("hf")).ends_with("relative_key_query"));
    arguments.set("key_table", tensor_of(peer, "table"));
  } else {  // [batch, heads, length, dim], unscaled
    arguments.set("clip_left", json.at("max_relative_position").get<std::int64_t>());
    arguments.set("scaled", false);
    arguments.set("key_table", tensor_of(peer, "key_table"));
    arguments.set("value_table", tensor_of(peer, "value_table"));
    call.scale = 1.0;
    call.mask.causal = json.at("causal").get<bool>();
  }
  const Encoding encoding("shaw", arguments);
  const Layout layout = bert ? Layout{logits[0], length, heads, dim, length * heads * dim, heads * dim, dim}
                             : Layout{logits[0], length, heads, dim, heads * length * dim, dim, length * dim};
  const std::string output = bert ? "context_f64" : "out_f64";
  check_output<float>(peer, encoding, layout, layout, call, output);
  const std::vector<float> got = check_output<double>(peer, encoding, layout, layout, call, output);
  if (!peer.has("probs_f64")) return;
  Worst worst("probs_f64");
  const std::vector<double> want = peer.doubles("probs_f64");
  for (std::size_t i = 0; i < want.size(); ++i) {
    worst.see(static_cast<double>(got[i]), want[i], 0x1p-24 + 1e-12, i);  // probabilities are returned as float32
  }
}

class TransformerXlAttention : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Oracle, TransformerXlAttention, ::testing::ValuesIn(oracle_cases("transformer_xl")),
                         case_name);

TEST_P(TransformerXlAttention, OutputsAndProbabilities) {
  const OracleCase peer("transformer_xl", GetParam());
  const auto integer = [&](const char* key) { return peer.json().at(key).get<std::int64_t>(); };
  const std::int64_t queries = integer("q_len"), keys = queries + integer("mem_len");
  const std::int64_t heads = integer("heads"), dim = integer("head_dim"), batch = peer.shape("q").at(1);
  const Encoding encoding("transformer_xl", {{"heads", heads},
                                             {"head_dim", dim},
                                             {"model_dim", integer("d_model")},
                                             {"u", tensor_of(peer, "u")},
                                             {"v", tensor_of(peer, "vbias")},
                                             {"w_r", tensor_of(peer, "Wr")}});
  const Layout query_layout{batch, queries, heads, dim, heads * dim, batch * heads * dim, dim};
  const Layout key_layout{batch, keys, heads, dim, heads * dim, batch * heads * dim, dim};
  AttentionCall call;
  call.mask.causal = true;  // without ids the last query is at the last key: memory comes first
  check_output<float>(peer, encoding, query_layout, key_layout, call, "attn_vec_f64");
  const std::vector<float> got = check_output<double>(peer, encoding, query_layout, key_layout, call, "attn_vec_f64");
  const std::vector<double> want = peer.doubles("probs_f64");  // [queries, keys, batch, heads]
  Worst worst("probs_f64");
  std::size_t entry = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < queries; ++i) {
        for (std::int64_t j = 0; j < keys; ++j, ++entry) {
          const auto at = static_cast<std::size_t>(((i * keys + j) * batch + b) * heads + h);
          worst.see(static_cast<double>(got[entry]), want[at], 0x1p-24 + 1e-12, entry);
        }
      }
    }
  }
}

}  // namespace
}  // namespace locus::testing

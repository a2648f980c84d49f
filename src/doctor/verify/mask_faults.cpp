// SPDX-License-Identifier: Apache-2.0
// Masks that show too much or too little: causality, padding, documents, and missing keys and pages.
#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"
#include "doctor/verify/index.h"

namespace locus::doctor {
namespace {

bool right_but_for_causality(const AskedCall& call, std::int64_t query, std::int64_t key) {
  AskedCall other = call;
  other.causal = false;
  return visible(other, query, key);
}

bool right_but_for_documents(const AskedCall& call, std::int64_t query, std::int64_t key) {
  AskedCall other = call;
  other.query_boundaries = other.key_boundaries = {};
  return visible(other, query, key);
}

class MaskFaults {
 public:
  explicit MaskFaults(const Encoding& encoding) : bias_(std::get_if<ScoreBias>(&encoding.term())) {}

  Models all() {
    causality();
    documents();
    with_other_futures();
    padding();
    lost_keys();
    lost_pages();
    return std::move(models_);
  }

 private:
  using Sees = std::function<bool(const AskedCall& call, std::int64_t query, std::int64_t key, bool visible)>;
  void add(std::string_view fault, std::string detail, Sees sees) {
    models_.push_back({.fault = fault, .detail = std::move(detail), .sees = std::move(sees)});
  }

  void causality() {
    add("mask_not_causal", "",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) { return right_but_for_causality(c, i, j); });
    add("mask_not_causal", "in chunks", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.first > 0 ? right_but_for_causality(c, i, j) : seen;
    });
    add("mask_not_causal", "after a cached prefix", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.cached > 0 ? right_but_for_causality(c, i, j) : seen;
    });
    add("mask_not_causal", "in packed documents", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return !c.key_boundaries.empty() ? right_but_for_causality(c, i, j) : seen;
    });
    add("mask_off_by_one", "a query does not see itself",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
          return seen && c.key_ids[at(j)] < c.query_ids[at(i)];
        });
    add("mask_off_by_one", "a query does not see itself, except in decode",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
          return seen && (c.one_token() || c.key_ids[at(j)] < c.query_ids[at(i)]);
        });
    for (const Position more : {1, 2, 4, 8, 16}) {
      add("mask_off_by_one", "the next " + std::to_string(more) + " are seen",
          [more](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
            return right_but_for_causality(c, i, j) && c.key_ids[at(j)] <= c.query_ids[at(i)] + more;
          });
    }
    add("mask_from_the_first_key", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      return right_but_for_causality(c, i, j) && j <= i;  // queries aligned with the first keys
    });
    add("mask_by_index", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      return right_but_for_causality(c, i, j) && j <= place_of(c, i);
    });
    add("future_seen_below_zero", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen || (c.key_ids[at(j)] < 0 && right_but_for_causality(c, i, j));
    });
    add("mask_transposed", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      return right_but_for_causality(c, i, j) && c.key_ids[at(j)] >= c.query_ids[at(i)];
    });
    for (const std::int64_t size : page_sizes) {
      add("mask_by_blocks", of_tokens(size), [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        return seen || (right_but_for_causality(c, i, j) && j / size <= place_of(c, i) / size);
      });
      add("mask_by_blocks", of_tokens(size) + ", its own alone",
          [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            return seen && j / size == place_of(c, i) / size;
          });
    }
    // Masked keys keep a weight: their score is lowered by too little, or replaced by a number that is not low enough.
    const auto everything = [](const AskedCall&, std::int64_t, std::int64_t, bool) { return true; };
    for (const double low : {-1.0, -5.0, -10.0, -20.0}) {
      const std::string number = std::to_string(static_cast<int>(low));
      models_.push_back({.fault = "mask_too_weak",
                         .detail = "by " + number,
                         .sees = everything,
                         .rescore = [low](const AskedCall& c, std::int64_t i, std::int64_t j, double score) {
                           return visible(c, i, j) ? score : score + low;
                         }});
      models_.push_back({.fault = "mask_too_weak",
                         .detail = number + " as score",
                         .sees = everything,
                         .rescore = [low](const AskedCall& c, std::int64_t i, std::int64_t j, double score) {
                           return visible(c, i, j) ? score : low;
                         }});
    }
  }

  void documents() {
    add("documents_seen", "",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) { return right_but_for_documents(c, i, j); });
    add("documents_seen", "in decode", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.one_token() || c.queries < c.keys ? right_but_for_documents(c, i, j) : seen;
    });
    add("documents_seen", "the earlier ones", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen || (right_but_for_documents(c, i, j) &&
                      document_of(c.key_boundaries, j) < document_of(c.query_boundaries, i));
    });
    add("documents_seen", "by index", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.key_boundaries.empty() ? seen : j <= place_of(c, i);
    });
    add("documents_seen", "the one before", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen || (right_but_for_documents(c, i, j) &&
                      document_of(c.key_boundaries, j) == document_of(c.query_boundaries, i) - 1);
    });
    add("documents_seen", "the first one", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen ||
             (!c.key_boundaries.empty() && right_but_for_documents(c, i, j) && document_of(c.key_boundaries, j) == 1);
    });
    const auto moved = [](std::int64_t keys, std::int64_t queries) {
      return [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        if (c.key_boundaries.empty()) return seen;
        const auto document = [](std::span<const std::int64_t> boundaries, std::int64_t token, std::int64_t step) {
          std::int64_t count = 1;
          for (std::size_t b = 1; b + 1 < boundaries.size(); ++b) count += token >= boundaries[b] + step ? 1 : 0;
          return count;
        };
        return right_but_for_documents(c, i, j) &&
               document(c.query_boundaries, i, queries) == document(c.key_boundaries, j, keys);
      };
    };
    add("documents_seen", "queries looked up among the keys",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
          return right_but_for_documents(c, i, j) &&
                 document_of(c.key_boundaries, i) == document_of(c.key_boundaries, j);
        });
    for (const std::int64_t step : {1, -1}) {
      add("document_boundary_off_by_one", "the first, of keys",
          [step](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            if (c.key_boundaries.size() < 3) return seen;
            const std::int64_t own = j == c.key_boundaries[1] + std::min<std::int64_t>(step, 0) ? j - step : j;
            return right_but_for_documents(c, i, j) &&
                   document_of(c.query_boundaries, i) == document_of(c.key_boundaries, own);
          });
      add("document_boundary_off_by_one", "", moved(step, step));
      add("document_boundary_off_by_one", "of keys", moved(step, 0));
      add("document_boundary_off_by_one", "of queries", moved(0, step));
    }
    add("document_boundary_lost", "the last one", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      if (c.key_boundaries.size() < 3) return seen;
      const auto last = static_cast<std::int64_t>(c.key_boundaries.size()) - 1;
      const auto joined = [&](std::int64_t document) { return std::min(document, last - 1); };
      return right_but_for_documents(c, i, j) &&
             joined(document_of(c.query_boundaries, i)) == joined(document_of(c.key_boundaries, j));
    });
    add("document_boundary_lost", "the first one", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      if (c.key_boundaries.size() < 3) return seen;
      const auto joined = [&](std::int64_t document) { return std::max<std::int64_t>(document, 2); };
      return right_but_for_documents(c, i, j) &&
             joined(document_of(c.query_boundaries, i)) == joined(document_of(c.key_boundaries, j));
    });
  }

  // A bias for causal attention is not defined for keys after the query. Code continues the line, or mirrors it.
  void with_other_futures() {
    if (bias_ == nullptr) return;
    const std::size_t count = models_.size();
    for (std::size_t i = 0; i < count; ++i) {
      for (const double sign : {-1.0, 1.0}) {
        FaultModel other = models_[i];
        other.bias = [v = bias_->value, sign](std::int64_t h, Position q, Position k) {
          return k > q ? sign * v(h, k, q) : v(h, q, k);
        };
        models_.push_back(std::move(other));
      }
    }
  }

  void padding() {
    const auto no_mask = [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      AskedCall other = c;
      other.key_mask = {};
      return visible(other, i, j);
    };
    add("padding_seen", "", no_mask);
    add("padding_seen", "in decode", [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.one_token() ? no_mask(c, i, j, seen) : seen;
    });
    add("padding_mask_inverted", "", [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.key_mask.empty() ? seen : no_mask(c, i, j, seen) && c.key_mask[at(j)] == 0;
    });
    for (const std::int64_t step : {1, -1}) {
      add("padding_off_by_one", "", [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        if (c.key_mask.empty()) return seen;
        const std::int64_t other = std::clamp<std::int64_t>(j + step, 0, c.keys - 1);
        return no_mask(c, i, j, seen) && c.key_mask[at(other)] != 0;
      });
    }
  }

  void lost_keys() {
    add("keys_lost", "the first",
        [](const AskedCall&, std::int64_t, std::int64_t j, bool seen) { return seen && j > 0; });
    add("keys_lost", "the last",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && j < c.keys - 1; });
    add("keys_lost", "the last in decode", [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
      return seen && (!c.one_token() || j < c.keys - 1);
    });
    add("keys_lost", "those of the cache",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && j >= c.cached; });
    add("keys_lost", "the last of the cache",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && j != c.cached - 1; });
    add("keys_lost", "those of the parent", [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
      return seen && !(c.forked && j < c.shared);
    });
    add("keys_lost", "at positions below 0",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && c.key_ids[at(j)] >= 0; });
    add("keys_lost", "at position 0",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && c.key_ids[at(j)] != 0; });
  }

  void lost_pages() {
    for (const std::int64_t page : page_sizes) {
      const std::string detail = of_tokens(page);
      add("page_lost", "the first " + detail, [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
        return seen && (c.keys <= page || j >= page);
      });
      add("page_lost", "the last " + detail + " where it is not full",
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && j < c.keys / page * page;
          });
      add("page_lost", "the last " + detail + " where others are full",
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && (c.keys < page || j < c.keys / page * page);
          });
      add("page_lost", "the last " + detail, [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
        return seen && (c.keys <= page || j < (c.keys - 1) / page * page);
      });
      add("page_lost", "all but the last " + detail,
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && j >= (c.keys - 1) / page * page;
          });
      for (const std::int64_t slot : {std::int64_t{0}, page - 1}) {
        add("page_edge_lost", detail,
            [=](const AskedCall&, std::int64_t, std::int64_t j, bool seen) { return seen && j % page != slot; });
        add("page_edge_lost", detail, [=](const AskedCall&, std::int64_t, std::int64_t j, bool seen) {
          return seen && (j < page - 1 || j % page != slot);
        });
      }
      add("page_edge_lost", detail + ", when a page is full",
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && !(c.keys % page == 0 && j == c.keys - 1);
          });
    }
  }

  const ScoreBias* bias_;
  Models models_;
};

}  // namespace

Models mask_faults(const Encoding& encoding) { return MaskFaults(encoding).all(); }

}  // namespace locus::doctor

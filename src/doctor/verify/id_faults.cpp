// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"
#include "doctor/verify/index.h"

namespace locus::doctor {
namespace {

using Change = std::function<Position(const AskedCall& call, Role side, std::int64_t token, Position id)>;

void add(Models& models, std::string_view fault, std::string detail, const Change& change) {
  models.push_back({.fault = fault,
                    .detail = std::move(detail),
                    .id = [change](const AskedCall& call, Role side, std::int64_t token, int, Position id) {
                      return change(call, side, token, id);
                    }});
}

// Adds a fault of both sides, of queries only and of keys only.
void add_by_side(Models& models, std::string_view fault, const std::string& detail, const Change& change) {
  add(models, fault, detail, change);
  for (const Role only : {Role::query, Role::key}) {
    const std::string side = only == Role::query ? "of queries" : "of keys";
    add(models, fault, detail.empty() ? side : detail + ", " + side,
        [change, only](const AskedCall& call, Role side_asked, std::int64_t token, Position id) {
          return side_asked == only ? change(call, side_asked, token, id) : id;
        });
  }
}

std::string by(Position step) { return "by " + std::to_string(step); }

// Returns the first token of a token's document, on its side of the call.
std::int64_t start_of(const AskedCall& call, Role side, std::int64_t token) {
  const auto boundaries = side == Role::query ? call.query_boundaries : call.key_boundaries;
  if (boundaries.empty()) return 0;
  return *(std::upper_bound(boundaries.begin(), boundaries.end(), token) - 1);
}

Models counted_wrongly() {
  Models all;
  const auto from_zero = [](const AskedCall&, Role, std::int64_t token, Position) { return token; };
  const auto to_the_end = [](const AskedCall& c, Role side, std::int64_t token, Position) {
    return side == Role::query && c.attention ? token + std::max<Position>(0, c.keys - c.queries) : token;
  };
  const auto from_the_cache = [](const AskedCall& c, Role side, std::int64_t token, Position) {
    return token + c.before(side);
  };
  const auto first_id = [](const AskedCall& c, Role side, std::int64_t token, Position) {
    return c.ids(side)[0] + token;
  };
  add(all, "ids_ignored", "", from_zero);
  add(all, "ids_ignored", "", to_the_end);
  add(all, "ids_ignored", "", from_the_cache);
  add(all, "ids_ignored", "of queries",
      [](const AskedCall&, Role side, std::int64_t token, Position id) { return side == Role::query ? token : id; });
  add(all, "ids_ignored", "of keys",
      [](const AskedCall&, Role side, std::int64_t token, Position id) { return side == Role::key ? token : id; });
  add(all, "positions_not_reset", "", first_id);
  add_by_side(all, "positions_not_reset", "", [=](const AskedCall& c, Role side, std::int64_t token, Position id) {
    return c.key_boundaries.empty() ? id : first_id(c, side, token, id);
  });
  add_by_side(all, "positions_not_reset", "", [](const AskedCall& c, Role side, std::int64_t token, Position id) {
    return c.key_boundaries.empty() ? id : id + start_of(c, side, token);
  });
  add(all, "padding_counted", "", [=](const AskedCall& c, Role side, std::int64_t token, Position id) {
    return c.key_mask.empty() ? id : to_the_end(c, side, token, id);
  });
  add(all, "padding_counted", "", [](const AskedCall& c, Role, std::int64_t, Position id) {
    const auto first = std::find_if(c.key_mask.begin(), c.key_mask.end(), [](std::uint8_t m) { return m != 0; });
    return id + (first - c.key_mask.begin());
  });
  add(all, "positions_reset", "in every call",
      [](const AskedCall& c, Role side, std::int64_t, Position id) { return id - c.ids(side)[0]; });
  add(all, "positions_of_first_document", "", [](const AskedCall& c, Role side, std::int64_t token, Position) {
    return c.ids(side)[at(token - start_of(c, side, token))];
  });
  add(all, "positions_of_first_document", "", [](const AskedCall& c, Role side, std::int64_t token, Position id) {
    return c.key_boundaries.empty() ? id : c.ids(side)[0] + token - start_of(c, side, token);
  });
  return all;
}

Models shifted() {
  Models all;
  for (const Position step : {1, -1}) {
    add(all, "off_by_one_in_decode", "", [step](const AskedCall& c, Role side, std::int64_t, Position id) {
      return c.one_token() && side == Role::query ? id + step : id;
    });
    add(all, "off_by_one_in_decode", "", [step](const AskedCall& c, Role, std::int64_t token, Position id) {
      return c.one_token() && (!c.attention || token == c.keys - 1) ? id + step : id;
    });
    add(all, "off_by_one_in_decode", "of keys", [step](const AskedCall& c, Role side, std::int64_t token, Position id) {
      return c.one_token() && side == Role::key && token == c.keys - 1 ? id + step : id;
    });
    add_by_side(all, "off_by_one", "", [step](const AskedCall&, Role, std::int64_t, Position id) { return id + step; });
    add(all, "off_by_one_in_chunks", "", [step](const AskedCall& c, Role side, std::int64_t, Position id) {
      return side == Role::query && c.first > 0 && c.queries > 1 ? id + step : id;
    });
    add(all, "off_by_one_in_chunks", "", [step](const AskedCall& c, Role side, std::int64_t token, Position id) {
      return c.first > 0 && (side == Role::query || !c.attention || token >= c.cached) ? id + step : id;
    });
    add(all, "off_by_one_after_a_fork", "", [step](const AskedCall& c, Role side, std::int64_t token, Position id) {
      return c.forked && (side == Role::query || token >= c.cached) ? id + step : id;
    });
    add(all, "off_by_one_after_a_fork", "", [step](const AskedCall& c, Role side, std::int64_t token, Position id) {
      return c.forked && (side == Role::query || token >= c.shared) ? id + step : id;
    });
    add(all, "off_by_one_after_a_fork", "", [step](const AskedCall& c, Role side, std::int64_t, Position id) {
      return c.forked && side == Role::query ? id + step : id;
    });
    add_by_side(all, "off_by_one_in_packed", "",
                [step](const AskedCall& c, Role side, std::int64_t token, Position id) {
                  return start_of(c, side, token) > 0 ? id + step : id;
                });
    add(all, "off_by_one_in_packed", "of queries", [step](const AskedCall& c, Role side, std::int64_t, Position id) {
      return !c.key_boundaries.empty() && side == Role::query ? id + step : id;
    });
    add(all, "off_by_one_in_padded", "", [step](const AskedCall& c, Role side, std::int64_t, Position id) {
      return !c.key_mask.empty() && side == Role::query ? id + step : id;
    });
    add(all, "off_by_one_in_padded", "",
        [step](const AskedCall& c, Role, std::int64_t, Position id) { return !c.key_mask.empty() ? id + step : id; });
  }
  for (Position step = 2; step <= 32; ++step) {
    for (const Position signed_step : {step, -step}) {
      add_by_side(all, "position_offset", by(signed_step),
                  [signed_step](const AskedCall&, Role, std::int64_t, Position id) { return id + signed_step; });
    }
  }
  for (const Position step : {64, 100, 128, 256, 512, 1024, -64, -100, -128, -256}) {
    add_by_side(all, "position_offset", by(step),
                [step](const AskedCall&, Role, std::int64_t, Position id) { return id + step; });
  }
  return all;
}

// Pages, chunks and lengths at which positions restart or become wrong.
Models from_a_page_on() {
  Models all;
  for (const std::int64_t page : {8, 16, 32, 64, 128, 256, 512}) {
    const std::string size = "of " + std::to_string(page) + " tokens";
    for (const Position step : {1, -1}) {
      add_by_side(all, "off_by_one_per_page", size,
                  [=](const AskedCall& c, Role side, std::int64_t token, Position id) {
                    return id + step * ((token + c.before(side)) / page);
                  });
    }
    add_by_side(
        all, "positions_reset", "in every page " + size,
        [=](const AskedCall& c, Role side, std::int64_t token, Position) { return (token + c.before(side)) % page; });
    add_by_side(all, "positions_reset", "in every page " + size,
                [=](const AskedCall&, Role, std::int64_t, Position id) { return id % page; });
    add_by_side(all, "positions_of_neighbours", "the token before, at the first of every page " + size,
                [=](const AskedCall& c, Role side, std::int64_t token, Position id) {
                  return token > 0 && (token + c.before(side)) % page == 0 ? c.ids(side)[at(token - 1)] : id;
                });
    add_by_side(all, "positions_constant", "in every page " + size,
                [=](const AskedCall&, Role, std::int64_t, Position id) { return id / page * page; });
  }
  for (const std::int64_t from : {2, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 100, 128, 192, 200, 256, 300}) {
    for (const Position step : {1, -1}) {
      add_by_side(all, "position_offset_from", "token " + std::to_string(from) + " on",
                  [=](const AskedCall& c, Role side, std::int64_t token, Position id) {
                    return token + c.before(side) >= from ? id + step : id;
                  });
      add_by_side(all, "position_offset_from", "position " + std::to_string(from) + " on",
                  [=](const AskedCall&, Role, std::int64_t, Position id) { return id >= from ? id + step : id; });
    }
  }
  return all;
}

Position wrapped(Position id, Position size) { return ((id % size) + size) % size; }

// Integer types that are too narrow and tables that end.
Models out_of_range() {
  Models all;
  for (int bits = 7; bits <= 31; ++bits) {
    const Position size = Position{1} << bits;
    const std::string where = "at " + std::to_string(size);
    add_by_side(all, "positions_wrapped", where,
                [size](const AskedCall&, Role, std::int64_t, Position id) { return id < 0 ? id : id % size; });
    add_by_side(all, "positions_reset", "once, from " + std::to_string(size) + " on",
                [size](const AskedCall&, Role, std::int64_t, Position id) { return id < size ? id : id - size; });
    add(all, "positions_wrapped", where,
        [size](const AskedCall&, Role, std::int64_t, Position id) { return wrapped(id, size); });
    add_by_side(all, "positions_wrapped", where, [size](const AskedCall&, Role, std::int64_t, Position id) {
      return wrapped(id + size, 2 * size) - size;
    });
    if (bits == 31) continue;  // there is no larger id
    for (const Position last : {size - 1, size}) {
      add_by_side(all, "positions_clamped", "at " + std::to_string(last),
                  [last](const AskedCall&, Role, std::int64_t, Position id) { return std::min(id, last); });
      add(all, "positions_clamped", "at " + std::to_string(last),
          [last](const AskedCall&, Role, std::int64_t, Position id) { return std::clamp<Position>(id, 0, last); });
    }
  }
  for (const Position size : {10, 20, 50, 100, 200, 500, 1000, 2000, 4000, 5000, 10'000, 50'000, 100'000, 1'000'000}) {
    for (const Position last : {size - 1, size}) {
      add(all, "positions_clamped", "at " + std::to_string(last),
          [last](const AskedCall&, Role, std::int64_t, Position id) { return std::min(id, last); });
    }
    add(all, "positions_wrapped", "at " + std::to_string(size),
        [size](const AskedCall&, Role, std::int64_t, Position id) { return id < 0 ? id : id % size; });
  }
  add_by_side(all, "negative_positions", "taken as positive",
              [](const AskedCall&, Role, std::int64_t, Position id) { return std::abs(id); });
  add_by_side(all, "negative_positions", "taken as 0",
              [](const AskedCall&, Role, std::int64_t, Position id) { return std::max<Position>(id, 0); });
  for (const int bits : {8, 16, 32}) {
    add(all, "negative_positions", "taken as unsigned",
        [bits](const AskedCall&, Role, std::int64_t, Position id) { return id < 0 ? id + (Position{1} << bits) : id; });
  }
  return all;
}

Models rearranged() {
  Models all;
  add_by_side(all, "positions_reversed", "", [](const AskedCall& c, Role side, std::int64_t token, Position) {
    return c.ids(side)[at(c.tokens(side) - 1 - token)];
  });
  add_by_side(all, "positions_constant", "that of the first token",
              [](const AskedCall& c, Role side, std::int64_t, Position) { return c.ids(side)[0]; });
  add_by_side(
      all, "positions_constant", "that of the last token",
      [](const AskedCall& c, Role side, std::int64_t, Position) { return c.ids(side)[at(c.tokens(side) - 1)]; });
  add_by_side(all, "positions_of_neighbours", "the token before",
              [](const AskedCall& c, Role side, std::int64_t token, Position) {
                return c.ids(side)[at(std::max<std::int64_t>(token - 1, 0))];
              });
  add_by_side(all, "positions_of_neighbours", "the token after",
              [](const AskedCall& c, Role side, std::int64_t token, Position) {
                return c.ids(side)[at(std::min(token + 1, c.tokens(side) - 1))];
              });
  add_by_side(all, "positions_sorted", "", [](const AskedCall& c, Role side, std::int64_t token, Position) {
    std::vector<Position> ids(c.ids(side).begin(), c.ids(side).begin() + c.tokens(side));
    std::nth_element(ids.begin(), ids.begin() + token, ids.end());
    return ids[at(token)];
  });
  add_by_side(all, "positions_doubled", "", [](const AskedCall&, Role, std::int64_t, Position id) { return 2 * id; });
  for (const Position divisor : {2, 4, 8, 16, 32}) {
    add_by_side(all, "positions_divided", by(divisor), [divisor](const AskedCall&, Role, std::int64_t, Position id) {
      return static_cast<Position>(std::floor(static_cast<double>(id) / static_cast<double>(divisor)));
    });
  }
  add_by_side(all, "positions_negated", "", [](const AskedCall&, Role, std::int64_t, Position id) { return -id; });
  add(all, "keys_at_the_query", "", [](const AskedCall& c, Role side, std::int64_t, Position id) {
    return side == Role::key && c.attention ? c.query_ids[at(c.queries - 1)] : id;
  });
  add(all, "keys_at_the_query", "that of the same index",
      [](const AskedCall& c, Role side, std::int64_t token, Position id) {
        return side == Role::key && c.attention ? c.query_ids[at(std::min(token, c.queries - 1))] : id;
      });
  constexpr std::pair<ElementType, std::string_view> narrow[] = {{ElementType::bfloat16, "bfloat16_angles"},
                                                                 {ElementType::float16, "float16_angles"},
                                                                 {ElementType::float32, "float32_angles"}};
  for (const auto& [type, fault] : narrow) {
    add_by_side(all, fault, "positions rounded", [type = type](const AskedCall&, Role, std::int64_t, Position id) {
      const double rounded = rounded_to(type, static_cast<double>(id));
      return std::isfinite(rounded) ? static_cast<Position>(rounded) : id;
    });
  }
  return all;
}

}  // namespace

Models id_faults(const Encoding& encoding) {
  Models all;
  if (encoding.site() != Site::query_key) {
    add(all, "no_positions", "", [](const AskedCall&, Role, std::int64_t, Position) { return Position{0}; });
  }
  for (auto* part : {counted_wrongly, shifted, rearranged, out_of_range, from_a_page_on}) {
    for (FaultModel& one : part()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace locus::doctor

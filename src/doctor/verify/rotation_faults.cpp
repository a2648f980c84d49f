// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "doctor/verify/fault_model.h"
#include "doctor/verify/index.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::doctor {
namespace {

// Faults are predicted from exact numbers. Rounding allows for the float32 angles of a profile.
Rotation exact_rotation(const Encoding& encoding) {
  Rotation rotation = encoding.rotation();
  rotation.profile = Profile::exact;
  rotation.table_type = ElementType::float32;
  return rotation;
}

void set_frequencies(Rotation& rotation, std::vector<double> frequencies) {
  rotation.inv_freq = std::move(frequencies);
  rotation.inv_freq_low.assign(rotation.inv_freq.size(), 0.0);
  rotation.profile = Profile::exact;
}

class RotationFaults {
 public:
  RotationFaults(const Encoding& encoding, bool attention)
      : encoding_(encoding), rotation_(exact_rotation(encoding)), attention_(attention) {}

  Models all() {
    add_times("no_positions", "", [](const AskedCall&, Role, std::int64_t, std::int64_t, std::int64_t) { return 0; });
    if (rotation_.pairs() == 0) return std::move(models_);  // queries have a factor, and nothing is rotated
    shapes();
    directions();
    // Rotating twice equals doubling the frequencies; the more likely fault comes first.
    const bool has_rule = encoding_.arguments().has("rule") && encoding_.arguments().text("rule") != "none";
    if (!has_rule) counts();
    magnitudes();
    frequencies();
    if (has_rule) counts();
    axes();
    by_head();
    by_token();
    by_pair();
    if (attention_) models_.push_back({.fault = "values_rotated", .values_rotated = true});
    return std::move(models_);
  }

 private:
  using Change = std::function<void(Rotation&)>;
  using Times =
      std::function<int(const AskedCall& call, Role side, std::int64_t token, std::int64_t head, std::int64_t heads)>;

  // Adds a fault of both sides, of queries only and of keys only.
  void add(std::string_view fault, const std::string& detail, const Change& change) {
    Rotation other = rotation_;
    change(other);
    const auto changed = std::make_shared<const Rotation>(std::move(other));
    const auto right = std::make_shared<const Rotation>(encoding_.rotation());
    models_.push_back({.fault = fault, .detail = detail, .rotation = changed});
    models_.push_back(
        {.fault = fault, .detail = detail.empty() ? "for keys" : detail + ", for keys", .key_rotation = changed});
    models_.push_back({.fault = fault,
                       .detail = detail.empty() ? "for queries" : detail + ", for queries",
                       .rotation = changed,
                       .key_rotation = right});
  }

  void add_row(std::string_view fault, const std::string& detail,
               const std::function<void(const Rotation&, Role, std::span<double>, std::span<double>)>& change) {
    const auto row = [change](const Rotation& rotation, Role role, std::span<const Position>, std::span<double> cos,
                              std::span<double> sin) { change(rotation, role, cos, sin); };
    models_.push_back({.fault = fault, .detail = detail, .row = row});
    for (const Role only : {Role::query, Role::key}) {
      const std::string side = only == Role::query ? "for queries" : "for keys";
      models_.push_back({.fault = fault,
                         .detail = detail.empty() ? side : detail + ", " + side,
                         .row = [change, only](const Rotation& rotation, Role role, std::span<const Position>,
                                               std::span<double> cos, std::span<double> sin) {
                           if (role == only) change(rotation, role, cos, sin);
                         }});
    }
  }

  void add_times(std::string_view fault, const std::string& detail, const Times& times) {
    models_.push_back({.fault = fault, .detail = detail, .times = times});
  }

  // Adds the encoding with other arguments, if the registry allows them.
  // Returns the encoding with other arguments. Absent if it does not allow them.
  std::optional<Encoding> changed(const std::function<void(Arguments&)>& change) const {
    try {
      Arguments arguments = encoding_.arguments();
      change(arguments);
      return Encoding(encoding_.scheme().name, arguments);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  void add_encoding(std::string_view fault, const std::string& detail, const std::function<void(Arguments&)>& change) {
    const std::optional<Encoding> other = changed(change);
    if (other) add(fault, detail, [&](Rotation& rotation) { rotation = exact_rotation(*other); });
  }

  void shapes() {
    add("wrong_pairing", "", [](Rotation& r) {
      r.pairing = r.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
      r.deinterleaved_output = false;
    });
    if (rotation_.deinterleaved_output) {
      add("wrong_output_order", "", [](Rotation& r) { r.deinterleaved_output = false; });
    } else if (rotation_.pairing == Pairing::interleaved) {
      add("wrong_output_order", "", [](Rotation& r) { r.deinterleaved_output = true; });
    }
    if (rotation_.rotary_offset != 0) add("wrong_offset", "at 0", [](Rotation& r) { r.rotary_offset = 0; });
    const std::int64_t end = rotation_.head_dim - rotation_.rotary_dim;
    if (end != rotation_.rotary_offset) {
      add("wrong_offset", "at the end of the head", [&](Rotation& r) { r.rotary_offset = end; });
    }
    // Another width: with its own frequencies, or with the first ones of the expected.
    for (const std::int64_t width : {rotation_.head_dim, rotation_.rotary_dim / 2, rotation_.rotary_dim / 4,
                                     rotation_.rotary_dim - 2, rotation_.rotary_dim + 2, rotation_.rotary_dim * 2}) {
      if (width < 2 || width > rotation_.head_dim || width == rotation_.rotary_dim || width % 2 != 0) continue;
      const std::string detail = std::to_string(width) + " coordinates";
      add_encoding("wrong_width", detail, [&](Arguments& arguments) {
        arguments.set("rotary_dim", width);
        arguments.set("rotary_offset", std::int64_t{0});
      });
      add_encoding("wrong_width", detail, [&](Arguments& arguments) { arguments.set("rotary_dim", width); });
      if (width > rotation_.rotary_dim) continue;
      add("wrong_width", detail, [&](Rotation& r) {
        r.rotary_dim = width;
        r.inv_freq.resize(at(width / 2));
        r.inv_freq_low.resize(at(width / 2));
        r.axis.resize(at(width / 2));
      });
    }
  }

  void directions() {
    models_.push_back({.fault = "inverse_rotation", .query_inverse = true, .key_inverse = true});
    models_.push_back({.fault = "inverse_rotation", .detail = "for queries", .query_inverse = true});
    models_.push_back({.fault = "inverse_rotation", .detail = "for keys", .key_inverse = true});
    products();
    add_row("cos_and_sin_exchanged", "", [](const Rotation&, Role, std::span<double> cos, std::span<double> sin) {
      for (std::size_t i = 0; i < cos.size(); ++i) std::swap(cos[i], sin[i]);
    });
    add_row("sin_missing", "", [](const Rotation&, Role, std::span<double>, std::span<double> sin) {
      std::fill(sin.begin(), sin.end(), 0);
    });
    add_row("cos_missing", "", [](const Rotation&, Role, std::span<double> cos, std::span<double>) {
      std::fill(cos.begin(), cos.end(), 0);
    });
  }

  // Wrong formulas for one pair.
  void products() {
    const auto with = [&](std::string_view fault, const std::string& detail, const FaultModel::PairFunction& pair) {
      models_.push_back({.fault = fault, .detail = detail, .pair = pair});
    };
    with("overwritten_in_place", "the first coordinate", [](double c, double s, double& x, double& y) {
      x = x * c - y * s;
      y = x * s + y * c;
    });
    with("overwritten_in_place", "the second coordinate", [](double c, double s, double& x, double& y) {
      y = x * s + y * c;
      x = x * c - y * s;
    });
    for (int signs = 0; signs < 16; ++signs) {
      const auto sign = [signs](int product) { return (signs >> product & 1) != 0 ? -1.0 : 1.0; };
      if (signs == 0b0010 || signs == 0b0100) continue;  // right, and the inverse
      with("product_sign", "", [=](double c, double s, double& x, double& y) {
        const double u = x;
        x = sign(0) * u * c + sign(1) * y * s;
        y = sign(2) * u * s + sign(3) * y * c;
      });
    }
  }

  void magnitudes() {
    const double magnitude = rotation_.magnitude;
    const auto set = [&](std::string_view fault, const std::string& detail, double value) {
      add(fault, detail, [value](Rotation& r) { r.magnitude = value; });
    };
    if (magnitude != 1) {
      set("magnitude_missing", "", 1);
      set("magnitude_squared", "", magnitude * magnitude);
      set("magnitude_wrong", "its inverse", 1 / magnitude);
    }
    for (const double factor : {0.5, 2.0, std::sqrt(2.0), std::sqrt(0.5)}) {
      set("magnitude_wrong", "times " + std::to_string(factor), magnitude * factor);
    }
    if (rotation_.softmax_scale_factor != 1 && attention_) {
      models_.push_back({.fault = "magnitude_missing", .scale = 1 / rotation_.softmax_scale_factor});
      models_.push_back({.fault = "magnitude_squared", .scale = rotation_.softmax_scale_factor});
    }
    if (!rotation_.scale) return;
    models_.push_back({.fault = "roles_exchanged", .roles_exchanged = true});
    add("scale_missing", "", [](Rotation& r) { r.scale.reset(); });
    for (const double factor : {0.5, 2.0, 4.0}) {
      add("scale_base_wrong", "", [factor](Rotation& r) { r.scale->scale_base *= factor; });
    }
    for (const Position centre : {0, 50, 64, 100, 128, 256, 512, 1024}) {
      if (centre != rotation_.scale->centre) {
        add("scale_centre_wrong", "at " + std::to_string(centre), [centre](Rotation& r) { r.scale->centre = centre; });
      }
    }
  }

  // w_i = base^(-i/n), with any base and exponent.
  void add_powers(std::string_view fault, const std::string& detail, double base, double steps, double first = 0,
                  double divided_by = 1) {
    add(fault, detail, [&](Rotation& r) {
      std::vector<double> w;
      for (std::size_t i = 0; i < r.inv_freq.size(); ++i) {
        w.push_back(std::pow(base, -(static_cast<double>(i) + first) / steps) / divided_by);
      }
      set_frequencies(r, std::move(w));
    });
  }

  void frequencies() {
    const double n = static_cast<double>(rotation_.pairs()), d = static_cast<double>(rotation_.head_dim);
    const double base = encoding_.arguments().has("base") ? encoding_.arguments().real("base") : 10000;
    if (encoding_.arguments().has("rule") && encoding_.arguments().text("rule") != "none") {
      add_powers("rule_not_applied", "", base, n);
      std::vector<double> twice;
      for (std::size_t i = 0; i < rotation_.inv_freq.size(); ++i) {
        twice.push_back(rotation_.inv_freq[i] * rotation_.inv_freq[i] / std::pow(base, -static_cast<double>(i) / n));
      }
      add("rule_applied_twice", "", [&](Rotation& r) { set_frequencies(r, twice); });
      other_factors();
    }
    if (n != d / 2) add_powers("partial_as_proportional", "", base, d / 2);  // it is another base, too
    for (const double other : {1e3,      1e4,       1e5,       1e6,      1e7,      1e8,   5e5,     5e6,   2e5,  2.5e5,
                               2e4,      4e4,       5e4,       1.5e5,    3e5,      1.6e5, 2e6,     3.5e6, 5e3,  2e3,
                               base * 2, base * 10, base / 10, base + 1, base - 1, 100.0, 10001.0, 8e6,   1.1e7}) {
      if (other == base) continue;
      add_powers("base_wrong", number(other), other, n);
      add_encoding("base_wrong", number(other), [&](Arguments& arguments) { arguments.set("base", other); });
    }
    add_powers("exponent_wrong", "i/d in place of 2i/d", base, 2 * n);
    add_powers("exponent_wrong", "4i/d in place of 2i/d", base, n / 2);
    add_powers("exponent_wrong", "one step on", base, n, 1);
    add_powers("exponent_wrong", "one step back", base, n, -1);
    add_powers("exponent_wrong", "half a step on", base, n, 0.5);
    add_powers("exponent_wrong", "2i/(d - 2)", base, n - 1);
    add_powers("exponent_wrong", "2i/(d + 2)", base, n + 1);
    for (const double factor : {2.0, 4.0, 8.0, 16.0, 32.0, 0.5, 0.25, 0.125}) {
      add_powers("other_rule", "linear, factor " + number(factor), base, n, 0, factor);
    }
    add("frequencies_reversed", "", [](Rotation& r) {
      std::reverse(r.inv_freq.begin(), r.inv_freq.end());
      std::reverse(r.inv_freq_low.begin(), r.inv_freq_low.end());
    });
    add("frequencies_shifted", "", [](Rotation& r) {
      std::rotate(r.inv_freq.begin(), r.inv_freq.begin() + 1, r.inv_freq.end());
      r.inv_freq_low.assign(r.inv_freq.size(), 0);
    });
    add("frequencies_repeated", "", [](Rotation& r) {
      for (std::size_t i = 0; i < r.inv_freq.size(); ++i) r.inv_freq[i] = r.inv_freq[i / 2 * 2];
      r.inv_freq_low.assign(r.inv_freq.size(), 0);
    });
    add("frequencies_constant", "", [](Rotation& r) { set_frequencies(r, std::vector<double>(r.inv_freq.size(), 1)); });
    const double turn = 6.283185307179586477;
    for (const double factor : {turn, 1 / turn, 2.0, 0.5}) {
      add("frequencies_scaled", "times " + number(factor), [&](Rotation& r) {
        for (double& w : r.inv_freq) w *= factor;
        for (double& w : r.inv_freq_low) w *= factor;
      });
    }
  }

  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }

  // Another rule, or other parameters of the expected one. What changes no frequency is a fault of the magnitude.
  void add_rule(std::string_view fault, std::string_view detail, const std::function<void(Arguments&)>& change) {
    const std::optional<Encoding> other = changed(change);
    if (!other || other->rotation().inv_freq == rotation_.inv_freq) return;
    add(fault, std::string(detail), [&](Rotation& rotation) { rotation = exact_rotation(*other); });
  }

  void other_factors() {
    const Arguments& given = encoding_.arguments();
    const std::string expected = given.text("rule");
    for (const Parameter& one : find_rule(expected).parameters) {
      const bool integer = one.kind == ValueKind::integer;
      if (!given.has(one.name) || !(integer || one.kind == ValueKind::real)) continue;
      for (const double times : {2.0, 0.5, 4.0, 0.25, 8.0}) {
        add_rule("factor_wrong", one.name, [&](Arguments& arguments) {
          if (integer) {
            arguments.set(one.name, static_cast<std::int64_t>(static_cast<double>(given.integer(one.name)) * times));
          } else {
            arguments.set(one.name, given.real(one.name) * times);
          }
        });
      }
    }
    for (const Rule* rule : rules()) {
      if (rule->name == expected) continue;
      add_rule("other_rule", rule->name, [&](Arguments& arguments) {
        Arguments other{{"rule", std::string(rule->name)}};
        for (const Parameter& known : parameters_of(encoding_.scheme(), other)) {
          const auto value = given.all().find(known.name);
          if (value != given.all().end() && known.name != "rule") other.set(known.name, value->second);
        }
        arguments = other;
      });
    }
  }

  void axes() {
    if (rotation_.axes < 2) return;
    for (int axis = 0; axis < rotation_.axes; ++axis) {
      add("sections_cut", "all pairs follow axis " + std::to_string(axis),
          [axis](Rotation& r) { std::fill(r.axis.begin(), r.axis.end(), static_cast<std::uint8_t>(axis)); });
      for (int other = 0; other < axis; ++other) {
        add("sections_swapped", std::to_string(other) + " and " + std::to_string(axis), [=](Rotation& r) {
          for (std::uint8_t& one : r.axis)
            one = static_cast<std::uint8_t>(one == axis ? other : one == other ? axis : one);
        });
      }
    }
    const auto count = static_cast<std::uint8_t>(rotation_.axes);
    add("sections_cut", "axes in turn", [count](Rotation& r) {
      for (std::size_t i = 0; i < r.axis.size(); ++i) r.axis[i] = static_cast<std::uint8_t>(i % count);
    });
    add("sections_cut", "equal parts", [count](Rotation& r) {
      for (std::size_t i = 0; i < r.axis.size(); ++i) r.axis[i] = static_cast<std::uint8_t>(i * count / r.axis.size());
    });
    add("sections_cut", "sorted", [](Rotation& r) { std::sort(r.axis.begin(), r.axis.end()); });
    add("sections_swapped", "in reverse", [](Rotation& r) { std::reverse(r.axis.begin(), r.axis.end()); });
    add("sections_swapped", "by one axis", [count](Rotation& r) {
      for (std::uint8_t& one : r.axis) one = static_cast<std::uint8_t>((one + 1) % count);
    });
    add("sections_swapped", "by one axis", [count](Rotation& r) {
      for (std::uint8_t& one : r.axis) one = static_cast<std::uint8_t>((one + count - 1) % count);
    });
  }

  void counts() {
    for (const Role only : {Role::query, Role::key}) {
      const std::string side = only == Role::query ? "queries" : "keys";
      add_times("not_rotated", side, [only](const AskedCall&, Role role, std::int64_t, std::int64_t, std::int64_t) {
        return role == only ? 0 : 1;
      });
      add_times("rotated_twice", side, [only](const AskedCall&, Role role, std::int64_t, std::int64_t, std::int64_t) {
        return role == only ? 2 : 1;
      });
    }
    add_times("rotated_twice", "", [](const AskedCall&, Role, std::int64_t, std::int64_t, std::int64_t) { return 2; });
    for (const int times : {0, 2}) {
      add_times(times == 2 ? "cached_rotated_twice" : "cached_not_rotated", "",
                [times](const AskedCall& c, Role role, std::int64_t token, std::int64_t, std::int64_t) {
                  return role == Role::key && c.attention && token < c.cached ? times : 1;
                });
      add_times(times == 2 ? "rotated_twice" : "not_rotated", "in decode",
                [times](const AskedCall& c, Role role, std::int64_t, std::int64_t, std::int64_t) {
                  return c.one_token() && (role == Role::query || !c.attention) ? times : 1;
                });
      add_times(times == 2 ? "rotated_twice" : "not_rotated", "the new key in decode",
                [times](const AskedCall& c, Role role, std::int64_t token, std::int64_t, std::int64_t) {
                  return c.one_token() && role == Role::key && token == c.keys - 1 ? times : 1;
                });
    }
  }

  void by_head() {
    const auto heads = [&](const std::string& detail,
                           const std::function<bool(std::int64_t head, std::int64_t heads)>& right) {
      for (const int side : {2, 0, 1}) {
        add_times("heads_not_rotated", detail,
                  [=](const AskedCall&, Role role, std::int64_t, std::int64_t head, std::int64_t count) {
                    return (side == 2 || static_cast<int>(role) == side) && !right(head, count) ? 0 : 1;
                  });
      }
    };
    for (std::int64_t first = 1; first < 8; ++first) {
      heads("from head " + std::to_string(first) + " on",
            [=](std::int64_t head, std::int64_t) { return head < first; });
      heads("head " + std::to_string(first), [=](std::int64_t head, std::int64_t) { return head != first; });
    }
    heads("head 0", [](std::int64_t head, std::int64_t) { return head != 0; });
    heads("the last head", [](std::int64_t head, std::int64_t count) { return head != count - 1; });
    heads("every second head", [](std::int64_t head, std::int64_t) { return head % 2 == 0; });
    heads("every second head", [](std::int64_t head, std::int64_t) { return head % 2 == 1; });
    heads("the second half of the heads", [](std::int64_t head, std::int64_t count) { return head < (count + 1) / 2; });
    heads("the second half of the heads", [](std::int64_t head, std::int64_t count) { return head < count / 2; });
  }

  void by_token() {
    const auto tokens = [&](const std::string& detail,
                            const std::function<bool(const AskedCall&, Role, std::int64_t token)>& wrong) {
      for (const int side : {2, 0, 1}) {
        add_times("tokens_not_rotated", detail,
                  [=](const AskedCall& c, Role role, std::int64_t token, std::int64_t, std::int64_t) {
                    return (side == 2 || static_cast<int>(role) == side) && wrong(c, role, token) ? 0 : 1;
                  });
      }
    };
    tokens("the first of a call", [](const AskedCall&, Role, std::int64_t token) { return token == 0; });
    tokens("the last of a call",
           [](const AskedCall& c, Role role, std::int64_t token) { return token == c.tokens(role) - 1; });
    for (const std::int64_t page : {4, 8, 16, 32, 64, 128, 256}) {
      const std::string size = std::to_string(page);
      tokens("the first of every " + size,
             [=](const AskedCall& c, Role role, std::int64_t token) { return (token + c.before(role)) % page == 0; });
      tokens("the last of every " + size, [=](const AskedCall& c, Role role, std::int64_t token) {
        return (token + c.before(role)) % page == page - 1;
      });
      tokens("from " + size + " on",
             [=](const AskedCall& c, Role role, std::int64_t token) { return token + c.before(role) >= page; });
      tokens("from " + size + " of a call on",
             [=](const AskedCall&, Role, std::int64_t token) { return token >= page; });
      tokens("the rest after whole blocks of " + size,
             [=](const AskedCall& c, Role role, std::int64_t token) { return token >= c.tokens(role) / page * page; });
    }
    for (const Position length : {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 1048576}) {
      tokens("from position " + std::to_string(length) + " on",
             [=](const AskedCall& c, Role role, std::int64_t token) { return c.ids(role)[at(token)] >= length; });
    }
    if (rotation_.scale) {  // otherwise the same as positions treated as 0; see id_faults.cpp
      tokens("below position 0",
             [](const AskedCall& c, Role role, std::int64_t token) { return c.ids(role)[at(token)] < 0; });
    }
    tokens("at position 0",
           [](const AskedCall& c, Role role, std::int64_t token) { return c.ids(role)[at(token)] == 0; });
  }

  void by_pair() {
    const auto pairs = [&](const std::string& detail, const std::function<bool(std::size_t i, std::size_t n)>& wrong) {
      add_row("coordinates_not_rotated", detail,
              [wrong](const Rotation&, Role, std::span<double> cos, std::span<double> sin) {
                for (std::size_t i = 0; i < cos.size(); ++i) {
                  if (!wrong(i, cos.size())) continue;
                  cos[i] = 1;
                  sin[i] = 0;
                }
              });
    };
    pairs("the first pair", [](std::size_t i, std::size_t) { return i == 0; });
    pairs("the last pair", [](std::size_t i, std::size_t n) { return i == n - 1; });
    for (std::int64_t k = 1; k < rotation_.pairs(); ++k) {
      const std::size_t pair = at(k);
      pairs("pair " + std::to_string(k), [pair](std::size_t i, std::size_t) { return i == pair; });
      pairs("from pair " + std::to_string(k) + " on", [pair](std::size_t i, std::size_t) { return i >= pair; });
    }
    pairs("every second pair", [](std::size_t i, std::size_t) { return i % 2 == 1; });
    pairs("every second pair", [](std::size_t i, std::size_t) { return i % 2 == 0; });
    pairs("the second half", [](std::size_t i, std::size_t n) { return i >= n / 2; });
    pairs("the last quarter", [](std::size_t i, std::size_t n) { return i >= n - n / 4; });
    pairs("the first half", [](std::size_t i, std::size_t n) { return i < n / 2; });
    for (const std::size_t lanes : {4u, 8u, 16u}) {
      pairs("the rest after blocks of " + std::to_string(lanes),
            [lanes](std::size_t i, std::size_t n) { return i >= n / lanes * lanes; });
    }
  }

  const Encoding& encoding_;
  const Rotation rotation_;
  const bool attention_;
  Models models_;
};

}  // namespace

Models rotation_faults(const Encoding& encoding, bool attention) { return RotationFaults(encoding, attention).all(); }

}  // namespace locus::doctor

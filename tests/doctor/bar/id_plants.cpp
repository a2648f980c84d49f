// SPDX-License-Identifier: Apache-2.0
// Wrong position ids.
#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

Plant wrapping(std::int64_t modulus) {
  return {{"positions_wrapped"}, [modulus](Case& one, Random& random) {
            set_ids(one, counted(one.shape, modulus - between(random, 2, one.shape.tokens - 3)));
            change_ids(one, [&](auto, auto id) { return id % modulus; });
            return true;
          }};
}

}  // namespace

void add_ids(Plants& all) {
  all["offset"] = {{"position_offset"}, [](Case& one, Random& random) {
                     const std::int64_t by = one_of<std::int64_t>(random, {1, -1, 7, 100, 4096});
                     change_ids(one, [&](auto, auto id) { return id + by; });
                     return true;
                   }};
  all["offset_from"] = {
      {"position_offset_from"}, [](Case& one, Random& random) {
        const std::int64_t from = cut_of(one, random), by = one_of<std::int64_t>(random, {1, 2, 5, 30});
        change_ids(one, [&](auto t, auto id) { return id + (t >= from ? by : 0); });
        return true;
      }};
  all["page"] = {{"position_offset_from"}, [](Case& one, Random& random) {
                   if (one.shape.tokens < 64) return false;
                   const std::int64_t from = one_of<std::int64_t>(random, {16, 32});
                   change_ids(one, [&](auto t, auto id) { return id + (t >= from ? 1 : 0); });
                   return true;
                 }};
  all["draft"] = {{"position_offset_from"}, [](Case& one, Random& random) {
                    const std::int64_t from = one.shape.tokens - between(random, 2, 5);
                    change_ids(one, [&](auto t, auto id) { return id - (t >= from ? 1 : 0); });
                    return true;
                  }};
  all["reset"] = {{"positions_reset"}, [](Case& one, Random& random) {
                    const std::int64_t from = cut_of(one, random);
                    change_ids(one, [&](auto t, auto id) { return t >= from ? t - from : id; });
                    return true;
                  }};
  all["not_reset"] = {{"positions_not_reset"}, [](Case& one, Random& random) {
                        expect_packed(one, cut_of(one, random));
                        change_ids(one, [&](auto t, auto) { return t; });
                        return true;
                      }};
  all["first_document"] = {{"positions_of_first_document"}, [](Case& one, Random& random) {
                             if (one.shape.tokens < 16) return false;
                             const std::int64_t cut = between(random, 3, one.shape.tokens / 2 - 2);
                             expect_packed(one, cut);
                             change_ids(one, [&](auto t, auto) { return t % cut; });
                             return true;
                           }};
  all["first_row"] = {{"positions_of_first_document", "padding_counted"}, [](Case& one, Random& random) {
                        if (one.shape.batch < 2) return false;
                        const std::int64_t pads = between(random, 2, one.shape.tokens / 2);
                        Ids ids = counted(one.shape);
                        for (std::size_t n = static_cast<std::size_t>(one.shape.tokens); n < ids.size(); ++n) {
                          ids[n] = std::max<std::int64_t>(0, ids[n] - pads);
                        }
                        set_ids(one, ids);
                        change_ids(one, [&](auto t, auto) { return t; });
                        return true;
                      }};
  all["padding"] = {{"padding_counted"}, [](Case& one, Random& random) {
                      const std::int64_t pads = between(random, 2, one.shape.tokens / 2);
                      Ids ids = counted(one.shape);
                      for (std::int64_t& id : ids) id = std::max<std::int64_t>(0, id - pads);
                      set_ids(one, ids);
                      change_ids(one, [&](auto t, auto) { return t; });
                      return true;
                    }};
  all["all_zero"] = {{"positions_all_zero", "not_rotated"}, [](Case& one, Random&) {
                       change_ids(one, [&](auto, auto) { return 0; });
                       return one.engine.magnitude == 1;
                     }};
  all["constant"] = {{"positions_constant"}, [](Case& one, Random& random) {
                       const std::int64_t at = one_of<std::int64_t>(random, {3, 17, 511});
                       change_ids(one, [&](auto, auto) { return at; });
                       return true;
                     }};
  all["negated"] = {{"positions_negated", "inverse_rotation"}, [](Case& one, Random&) {
                      change_ids(one, [&](auto, auto id) { return -id; });
                      return true;
                    }};
  all["doubled"] = {{"positions_doubled", "rotated_twice"}, [](Case& one, Random&) {
                      change_ids(one, [&](auto, auto id) { return 2 * id; });
                      return one.engine.magnitude == 1;
                    }};
  all["reversed"] = {{"positions_reversed"}, [](Case& one, Random&) {
                       change_ids(one, [&](auto t, auto id) { return id + one.shape.tokens - 1 - 2 * t; });
                       return true;
                     }};
  all["wrapped_15"] = wrapping(1 << 15);
  all["wrapped_16"] = wrapping(1 << 16);
  all["wrapped_20"] = wrapping(1 << 20);
  all["clamped"] = {{"positions_clamped"}, [](Case& one, Random& random) {
                      const std::int64_t length = one_of<std::int64_t>(random, {2048, 4096, 8192});
                      set_ids(one, counted(one.shape, length - cut_of(one, random)));
                      change_ids(one, [&](auto, auto id) { return std::min(id, length - 1); });
                      return true;
                    }};
  all["swapped_ids"] = {
      {"positions_swapped"}, [](Case& one, Random& random) {
        const std::int64_t a = cut_of(one, random), b = (a + 2) % one.shape.tokens;
        change_ids(one, [&](auto t, auto id) { return t == a ? id + b - a : t == b ? id + a - b : id; });
        return true;
      }};
  all["other_ids"] = {{"positions_differ"}, [](Case& one, Random& random) {
                        Random own(random());
                        change_ids(one, [&](auto, auto) { return between(own, 0, 400); });
                        return true;
                      }};
}

}  // namespace locus::bar

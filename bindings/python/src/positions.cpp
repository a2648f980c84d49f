// SPDX-License-Identifier: Apache-2.0
// The position planner: ids as NumPy arrays [axes, rows, tokens], shaped further in Python.
#include "locus/positions.h"

#include <pybind11/stl.h>

#include "array.h"
#include "locus/document_shards.h"
#include "locus/error.h"
#include "module.h"

namespace locus::python {
namespace {

using Counts = py::array_t<std::int64_t, py::array::c_style>;

py::array_t<Position> ids_array(const PositionIds& ids) { return numpy_of(ids.ids, {ids.axes, ids.batch, ids.tokens}); }

py::tuple padded(const positions::Padded& padded) {
  return py::make_tuple(ids_array(padded.ids), numpy_of(padded.mask, {padded.ids.batch, padded.ids.tokens}));
}

positions::ShardKind shard_kind(const std::string& name) {
  if (name == "contiguous") return positions::ShardKind::contiguous;
  if (name == "striped") return positions::ShardKind::striped;
  require(name == "zigzag", "kind must be contiguous, striped or zigzag, got ", name);
  return positions::ShardKind::zigzag;
}

// Converts a number of text tokens, (tokens, time_scale) of sound, or (frames, rows, cols, time_scale).
positions::Segment segment_of(py::handle object) {
  if (PyIndex_Check(object.ptr()) != 0) return positions::Text{object.cast<std::int64_t>()};
  if (py::len(object) == 2) {
    const auto [tokens, scale] = object.cast<std::tuple<std::int64_t, double>>();
    return positions::Audio{tokens, scale};
  }
  const auto [frames, rows, cols, scale] = object.cast<std::tuple<std::int64_t, std::int64_t, std::int64_t, double>>();
  return positions::Vision{frames, rows, cols, scale};
}

// `tokens` and `delta` are those of the plan so far; 0 for none.
py::tuple multimodal(const py::list& given, std::int64_t tokens, std::int64_t delta) {
  std::vector<positions::Segment> segments;
  for (const py::handle one : given) segments.push_back(segment_of(one));
  const positions::Multimodal plan = positions::multimodal_after({tokens, delta}, segments);
  return py::make_tuple(ids_array(plan.ids), plan.decode_delta);
}

py::tuple document_shard(const std::string& kind, const Counts& lengths, std::int64_t ranks, std::int64_t rank,
                         bool uneven) {
  const auto remainder = uneven ? positions::Remainder::uneven : positions::Remainder::padded;
  const positions::DocumentShard shard =
      positions::document_shard(shard_kind(kind), integers_of(lengths), ranks, rank, remainder);
  const py::ssize_t count = std::ssize(shard.tokens);
  return py::make_tuple(ids_array(shard.ids), numpy_of(shard.tokens, {count}), numpy_of(shard.slots, {count}),
                        numpy_of(shard.mask, {count}));
}

py::tuple compressed(std::int64_t entries, std::int64_t rate) {
  const positions::Compressed plan = positions::compressed(entries, rate);
  return py::make_tuple(ids_array(plan.ids),
                        numpy_of(plan.visible_from, {static_cast<py::ssize_t>(plan.visible_from.size())}));
}

py::tuple streaming(std::int64_t seen, std::int64_t sinks, std::int64_t window) {
  const positions::Streaming plan = positions::streaming(seen, sinks, window);
  return py::make_tuple(numpy_of(plan.kept, {static_cast<py::ssize_t>(plan.kept.size())}), ids_array(plan.ids));
}

}  // namespace

void bind_positions(py::module_& module) {
  using Width = std::optional<std::int64_t>;
  module.def("prefill",
             [](std::int64_t tokens, Position start) { return ids_array(positions::prefill(tokens, start)); });
  module.def("decode",
             [](std::int64_t prefix, std::int64_t tokens) { return ids_array(positions::decode(prefix, tokens)); });
  module.def("left_padded", [](const Counts& lengths, Width width, Position pad_id) {
    return padded(positions::left_padded(integers_of(lengths), width, pad_id));
  });
  module.def("right_padded", [](const Counts& lengths, Width width, Position pad_id) {
    return padded(positions::right_padded(integers_of(lengths), width, pad_id));
  });
  module.def("from_mask", [](const py::array_t<std::uint8_t, py::array::c_style>& mask, Position pad_id) {
    require(mask.ndim() == 2, "mask must be [batch, tokens], got ", mask.ndim(), " dimensions");
    return padded(positions::from_mask({mask.data(), static_cast<std::size_t>(mask.size())}, mask.shape(0),
                                       mask.shape(1), pad_id));
  });
  module.def("packed", [](const Counts& lengths) { return ids_array(positions::packed(integers_of(lengths))); });
  module.def("packed_from_cumulative", [](const Counts& boundaries) {
    return ids_array(positions::packed_from_cumulative(integers_of(boundaries)));
  });
  module.def("shard", [](const std::string& kind, std::int64_t tokens, std::int64_t ranks, std::int64_t rank) {
    return ids_array(positions::shard(shard_kind(kind), tokens, ranks, rank));
  });
  module.def("shards", [](const std::string& kind, std::int64_t tokens, std::int64_t ranks) {
    return ids_array(positions::shards(shard_kind(kind), tokens, ranks));
  });
  module.def("tree", [](const Counts& parents, std::int64_t prefix) {
    return ids_array(positions::tree(integers_of(parents), prefix));
  });
  module.def("ancestor_mask", [](const Counts& parents) {
    return numpy_of(positions::ancestor_mask(integers_of(parents)), {parents.size(), parents.size()});
  });
  module.def("streaming", &streaming);
  module.def("multimodal", &multimodal);
  module.def("multimodal_decode", [](std::int64_t prefix, std::int64_t delta, std::int64_t tokens) {
    return ids_array(positions::multimodal_decode({prefix, delta}, tokens));
  });
  module.def("multimodal_tree", [](const Counts& parents, std::int64_t prefix, std::int64_t delta) {
    return ids_array(positions::multimodal_tree(integers_of(parents), {prefix, delta}));
  });
  module.def("accepted_path", [](const Counts& parents, std::int64_t last) {
    const std::vector<std::int64_t> path = positions::accepted_path(integers_of(parents), last);
    return numpy_of(path, {static_cast<py::ssize_t>(path.size())});
  });
  module.def("compressed", &compressed);
  module.def("document_shard", &document_shard);
  module.def("grid", [](std::int64_t rows, std::int64_t cols, std::int64_t merge) {
    return ids_array(positions::grid(rows, cols, merge));
  });
  module.def("pixtral_ids", [](std::int64_t rows, std::int64_t cols, std::int64_t max_side) {
    return ids_array(positions::pixtral_ids(rows, cols, max_side));
  });
  module.def("patch_coordinates", [](std::int64_t rows, std::int64_t cols) {
    const auto centres = positions::patch_coordinates(rows, cols);
    py::array_t<double> result({static_cast<py::ssize_t>(centres.size()), py::ssize_t{2}});
    double* next = result.mutable_data();
    for (const auto& centre : centres) next = std::copy(centre.begin(), centre.end(), next);
    return result;
  });
}

}  // namespace locus::python

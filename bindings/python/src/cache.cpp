// SPDX-License-Identifier: Apache-2.0
// The KV cache and attention over it, on the caller's memory.
#include "locus/cache.h"

#include <pybind11/stl.h>

#include "array.h"
#include "locus/error.h"
#include "locus/names.h"
#include "module.h"
#include "values.h"

namespace locus::python {
namespace {

using Bytes = std::optional<py::array_t<std::uint8_t, py::array::c_style>>;
using OptionalRow = std::optional<py::array_t<float, py::array::c_style>>;

ElementType type_of(const std::string& name) {
  for (const ElementType type : {ElementType::float32, ElementType::bfloat16, ElementType::float16}) {
    if (name == name_of(type)) return type;
  }
  fail("dtype must be float32, bfloat16 or float16, got ", name);
}

// From the keyword arguments of KvCache in _core.pyi.
KvCache make_cache(const Encoding& encoding, const py::kwargs& given) {
  return KvCache(encoding, {.capacity = entry<std::int64_t>(given, "capacity"),
                            .heads = entry<std::int64_t>(given, "heads"),
                            .head_dim = entry<std::int64_t>(given, "head_dim"),
                            .type = type_of(entry<std::string>(given, "dtype")),
                            .form = entry<bool>(given, "raw_keys") ? KeyForm::raw : KeyForm::rotated,
                            .storage = entry<bool>(given, "int8") ? KvStorage::int8 : KvStorage::elements,
                            .page_size = entry<std::int64_t>(given, "page_size"),
                            .share_equal_pages = entry<bool>(given, "share_equal_pages")});
}

std::int64_t cached_axes(const KvCache& cache) {
  return cache.encoding().site() == Site::query_key ? cache.encoding().rotation().axes : 1;
}

py::array_t<Position> positions_of(const KvCache& cache, SequenceId sequence) {
  return numpy_of(cache.positions(sequence), {cached_axes(cache), cache.length(sequence)});
}

/// What tokens bring, [tokens, heads, numbers] in double, as _cache.py makes it; None: nothing.
using Numbers = std::optional<py::array_t<double, py::array::c_style>>;

HeadsView numbers_view(const Numbers& numbers) {
  if (!numbers) return {};
  const std::int64_t extents[] = {numbers->shape(0), numbers->shape(1), numbers->shape(2)};
  return heads_view(const_cast<double*>(numbers->data()), ElementType::float64, "thd", extents);  // only read
}

// From the keyword arguments of KvCache.append in _core.pyi.
void append_tokens(KvCache& cache, SequenceId sequence, const std::pair<py::object, py::object>& both,
                   const py::kwargs& given) {
  const auto axes = entry<std::string>(given, "axes");
  const auto ids = entry<IdArray>(given, "ids");
  const auto numbers = entry<Numbers>(given, "numbers");
  const Array keys = array_of(both.first, "k"), values = array_of(both.second, "v");
  const NewTokens tokens{.keys = heads_of(keys, axes, Access::read),
                         .values = heads_of(values, axes, Access::read),
                         .ids = std::span(ids.data(), static_cast<std::size_t>(ids.size())),
                         .any_order = entry<bool>(given, "any_order"),
                         .numbers = numbers_view(numbers)};
  const std::shared_ptr<Executor> threads = executor();
  const py::gil_scoped_release release;
  cache.append(sequence, tokens, threads.get());
}

/// One entry of a batch, with what keeps its memory alive.
struct Entry {
  Array query, output;
  std::vector<std::uint8_t> tree;
  Numbers query_numbers, key_numbers;
};

// Every item is (sequence, q, output, tree or None, query_numbers or None, key_numbers or None).
void attend_batch(const KvCache& cache, const py::list& items, const py::kwargs& given) {
  const auto axes = entry<std::string>(given, "axes");
  std::vector<Entry> entries;
  entries.reserve(items.size());
  std::vector<CachedQueries> queries;
  for (const py::handle item : items) {
    const auto [sequence, q, output, tree, query_numbers, key_numbers] =
        item.cast<std::tuple<SequenceId, py::object, py::object, Bytes, Numbers, Numbers>>();
    Entry& one =
        entries.emplace_back(Entry{array_of(q, "q"), array_of(output, "output"), {}, query_numbers, key_numbers});
    if (tree) one.tree.assign(tree->data(), tree->data() + tree->size());
    check_apart(one.query, one.output);
    queries.push_back({.sequence = sequence,
                       .query = heads_of(one.query, axes, Access::read),
                       .output = heads_of(one.output, axes, Access::write),
                       .tree = one.tree,
                       .query_numbers = numbers_view(one.query_numbers),
                       .key_numbers = numbers_view(one.key_numbers)});
  }
  CachedAttention call{.queries = queries};
  call.mask.window = entry<std::int64_t>(given, "window");
  call.mask.sinks = entry<std::int64_t>(given, "sinks");
  call.scale = entry<std::optional<double>>(given, "scale");
  call.soft_cap = entry<double>(given, "soft_cap");
  const auto sinks = entry<OptionalRow>(given, "sink_logits");
  if (sinks) call.sink_logits = std::span(sinks->data(), static_cast<std::size_t>(sinks->size()));
  const std::shared_ptr<Executor> threads = executor();
  call.executor = threads.get();
  const py::gil_scoped_release release;
  cache.attend(call);
}

py::array_t<float> floats_of(const HeadsView& view) {  // [tokens, heads, dim], contiguous
  py::array_t<float> result({view.tokens, view.heads, view.head_dim});
  const auto fill = [&](const auto* from) {
    for (py::ssize_t i = 0; i < result.size(); ++i) result.mutable_data()[i] = to_float(from[i]);
  };
  if (view.type == ElementType::float32) fill(static_cast<const float*>(view.data));
  if (view.type == ElementType::bfloat16) fill(static_cast<const BFloat16*>(view.data));
  if (view.type == ElementType::float16) fill(static_cast<const Float16*>(view.data));
  return result;
}

// [tokens, heads, numbers], or None if tokens bring nothing.
py::object numbers_array(const KvCache& cache, const std::vector<double>& numbers) {
  const auto* bias = std::get_if<ScoreBias>(&cache.encoding().term());
  if (bias == nullptr || bias->token_numbers == 0) return py::none();
  const std::int64_t tokens = std::ssize(numbers) / (bias->heads * bias->token_numbers);
  return numpy_of(numbers, {tokens, bias->heads, bias->token_numbers});
}

py::object last_numbers_of(const KvCache& cache, SequenceId sequence) {
  return numbers_array(cache, cache.last_numbers(sequence));
}

py::object numbers_of(const KvCache& cache, SequenceId sequence) {
  return numbers_array(cache, cache.gather(sequence).numbers);
}

py::tuple gather_sequence(const KvCache& cache, SequenceId sequence) {
  const CachedSequence gathered = cache.gather(sequence);
  return py::make_tuple(floats_of(gathered.keys), floats_of(gathered.values), positions_of(cache, sequence));
}

}  // namespace

void bind_cache(py::module_& module) {
  using Deltas = std::vector<Position>;
  py::class_<KvCache>(module, "KvCache")
      .def(py::init(&make_cache), py::arg("encoding"))
      .def("create", &KvCache::create)
      .def("fork", &KvCache::fork, py::arg("sequence"))
      .def("free", &KvCache::free, py::arg("sequence"))
      .def("length", &KvCache::length, py::arg("sequence"))
      .def("positions", &positions_of, py::arg("sequence"))
      .def("free_pages", &KvCache::free_pages)
      .def("pages_for", &KvCache::pages_for, py::arg("sequence"), py::arg("tokens"))
      .def("append", &append_tokens, py::arg("sequence"), py::arg("keys_and_values"))
      .def("last_numbers", &last_numbers_of, py::arg("sequence"))
      .def("numbers", &numbers_of, py::arg("sequence"))
      .def("set_encoding", &KvCache::set_encoding, py::arg("encoding"), py::arg("rerotate"))
      .def("truncate", &KvCache::truncate, py::arg("sequence"), py::arg("length"))
      .def(
          "keep",
          [](KvCache& cache, SequenceId sequence, std::int64_t begin, const std::vector<std::int64_t>& indices) {
            cache.keep(sequence, begin, indices);
          },
          py::arg("sequence"), py::arg("begin"), py::arg("indices"))
      .def("slide", &KvCache::slide, py::arg("sequence"), py::arg("sinks"), py::arg("window"), py::arg("renumber"))
      .def(
          "shift",
          [](KvCache& cache, SequenceId sequence, std::int64_t begin, std::int64_t end, const Deltas& deltas) {
            cache.shift(sequence, begin, end, deltas);
          },
          py::arg("sequence"), py::arg("begin"), py::arg("end"), py::arg("deltas"))
      .def("relocate", &KvCache::relocate, py::arg("sequence"), py::arg("begin"), py::arg("end"), py::arg("position"))
      .def("divide", &KvCache::divide, py::arg("sequence"), py::arg("begin"), py::arg("end"), py::arg("group"))
      .def("settle", &KvCache::settle, py::arg("sequence"))
      .def("attend", &attend_batch, py::arg("queries"))
      .def("gather", &gather_sequence, py::arg("sequence"));
}

}  // namespace locus::python

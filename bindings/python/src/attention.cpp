// SPDX-License-Identifier: Apache-2.0
// Fused attention and its backward pass on the caller's memory.
#include "locus/attention.h"

#include <pybind11/stl.h>

#include "array.h"
#include "locus/error.h"
#include "locus/named_gradients.h"
#include "module.h"
#include "values.h"

namespace locus::python {
namespace {

using Ids = std::optional<IdArray>;
using Bytes = std::optional<py::array_t<std::uint8_t, py::array::c_style>>;
using Boundaries = std::optional<py::array_t<std::int64_t, py::array::c_style>>;
using OptionalFloats = std::optional<py::array_t<float, py::array::c_style>>;

template <class T, class Array>
std::vector<T> values_of(const std::optional<Array>& array) {
  if (!array) return {};
  return {array->data(), array->data() + array->size()};
}

/// A call without its tensors; also used by the backward pass.
struct Options {
  std::optional<Encoding> encoding;
  std::vector<Position> query_ids, key_ids;
  Mask flags;
  std::vector<std::uint8_t> key_mask, pair_mask;
  std::vector<std::int64_t> query_boundaries, key_boundaries;
  std::optional<double> scale;
  double soft_cap = 0;
  std::vector<float> sink_logits;
  std::vector<double> query_numbers, key_numbers;        // [batch, tokens, heads, numbers]
  std::vector<std::int64_t> query_extents, key_extents;  // of those
  std::string axes;

  static HeadsView numbers_of(const std::vector<double>& numbers, const std::vector<std::int64_t>& extents) {
    if (extents.empty()) return {};
    return heads_view(const_cast<double*>(numbers.data()), ElementType::float64, "bthd", extents);  // only read
  }

  AttentionCall call() const {
    AttentionCall call;
    call.query_numbers = numbers_of(query_numbers, query_extents);
    call.key_numbers = numbers_of(key_numbers, key_extents);
    call.encoding = encoding ? &*encoding : nullptr;
    call.query_ids = query_ids;
    call.key_ids = key_ids;
    call.mask = flags;
    call.mask.keys = key_mask;
    call.mask.pairs = pair_mask;
    call.query_boundaries = query_boundaries;
    call.key_boundaries = key_boundaries;
    call.scale = scale;
    call.soft_cap = soft_cap;
    call.sink_logits = sink_logits;
    return call;
  }
};

// Numbers that tokens bring, [batch, tokens, heads, numbers].
std::vector<double> take_numbers(const py::kwargs& given, const char* name, std::vector<std::int64_t>& extents) {
  const auto array = entry<std::optional<py::array_t<double, py::array::c_style>>>(given, name);
  if (!array) return {};
  require(array->ndim() == 4, name, " must be [batch, tokens, heads, numbers], got ", array->ndim(), " axes");
  extents.assign(array->shape(), array->shape() + 4);
  return values_of<double>(array);
}

// From the keyword arguments of AttentionOptions in _core.pyi.
Options make_options(const py::kwargs& given) {
  Options options;
  options.encoding = entry<std::optional<Encoding>>(given, "encoding");
  options.query_ids = values_of<Position>(entry<Ids>(given, "query_ids"));
  options.key_ids = values_of<Position>(entry<Ids>(given, "key_ids"));
  options.flags.causal = entry<bool>(given, "causal");
  options.flags.by_index = entry<bool>(given, "by_index");
  options.flags.prefix = entry<std::int64_t>(given, "prefix");
  options.flags.window = entry<std::int64_t>(given, "window");
  options.flags.sinks = entry<std::int64_t>(given, "sinks");
  options.key_mask = values_of<std::uint8_t>(entry<Bytes>(given, "key_mask"));
  options.pair_mask = values_of<std::uint8_t>(entry<Bytes>(given, "pair_mask"));
  options.query_boundaries = values_of<std::int64_t>(entry<Boundaries>(given, "query_boundaries"));
  options.key_boundaries = values_of<std::int64_t>(entry<Boundaries>(given, "key_boundaries"));
  options.scale = entry<std::optional<double>>(given, "scale");
  options.soft_cap = entry<double>(given, "soft_cap");
  options.sink_logits = values_of<float>(entry<OptionalFloats>(given, "sink_logits"));
  options.query_numbers = take_numbers(given, "query_numbers", options.query_extents);
  options.key_numbers = take_numbers(given, "key_numbers", options.key_extents);
  options.axes = entry<std::string>(given, "axes");
  return options;
}

// The tensors of a call and their owners.
struct Tensors {
  std::vector<Array> arrays;
  HeadsView add(py::handle object, std::string_view name, const Options& options, Access access) {
    arrays.push_back(array_of(object, name));
    return heads_of(arrays.back(), options.axes, access);
  }
};

// Returns ln of the sum of e^score, [batch, heads, queries].
py::array_t<float> attend_call(const Options& options, py::handle q, py::handle k, py::handle v, py::handle output) {
  Tensors tensors;
  AttentionCall call = options.call();
  call.query = tensors.add(q, "q", options, Access::read);
  call.key = tensors.add(k, "k", options, Access::read);
  call.value = tensors.add(v, "v", options, Access::read);
  call.output = tensors.add(output, "output", options, Access::write);
  for (std::size_t i = 0; i < 3; ++i) check_apart(tensors.arrays[i], tensors.arrays[3]);
  py::array_t<float> log_sum_exp({call.query.batch, call.query.heads, call.query.tokens});
  call.log_sum_exp = log_sum_exp.mutable_data();
  const std::shared_ptr<Executor> threads = executor();
  call.executor = threads.get();
  const py::gil_scoped_release release;
  attend(call);
  return log_sum_exp;
}

// Writes the gradients of q, k and v, and returns those of the requested learned weights. `given` are the tensors of
// the call and their gradients by name.
py::dict attend_backward_call(const Options& options, const py::dict& given,
                              const py::array_t<float, py::array::c_style>& log_sum_exp, bool learned) {
  Tensors tensors;
  const auto view_of = [&](const char* name, Access access) { return tensors.add(given[name], name, options, access); };
  AttentionGradientCall call{.forward = options.call(),
                             .output_gradient = view_of("output_gradient", Access::read),
                             .query_gradient = view_of("q_gradient", Access::write),
                             .key_gradient = view_of("k_gradient", Access::write),
                             .value_gradient = view_of("v_gradient", Access::write)};
  call.forward.query = view_of("q", Access::read);
  call.forward.key = view_of("k", Access::read);
  call.forward.value = view_of("v", Access::read);
  call.forward.output = view_of("output", Access::read);
  require(log_sum_exp.size() == call.forward.query.batch * call.forward.query.heads * call.forward.query.tokens,
          "log_sum_exp must be [batch, heads, queries] as attention returned it");
  call.forward.log_sum_exp = const_cast<float*>(log_sum_exp.data());  // only read
  std::optional<NamedGradients> weights;
  std::vector<double> sinks(learned ? options.sink_logits.size() : 0);
  if (learned && options.encoding) call.learned = weights.emplace(*options.encoding).spans();
  call.learned.sink_logits = sinks;
  std::vector<double> of_query(learned ? options.query_numbers.size() : 0),
      of_key(learned ? options.key_numbers.size() : 0);
  if (!of_query.empty()) call.query_numbers_gradient = Options::numbers_of(of_query, options.query_extents);
  if (!of_key.empty()) call.key_numbers_gradient = Options::numbers_of(of_key, options.key_extents);
  const std::shared_ptr<Executor> threads = executor();
  call.forward.executor = threads.get();
  {
    const py::gil_scoped_release release;
    attend_backward(call);
  }
  py::dict result;
  const auto extents = [](const std::vector<std::int64_t>& all) {
    return std::vector<py::ssize_t>(all.begin(), all.end());
  };
  if (!of_query.empty()) result["query_numbers"] = numpy_of(of_query, extents(options.query_extents));
  if (!of_key.empty()) result["key_numbers"] = numpy_of(of_key, extents(options.key_extents));
  if (!sinks.empty()) result["sink_logits"] = numpy_of(sinks, {py::ssize_t(sinks.size())});
  if (!weights) return result;
  for (const LearnedWeight& weight : options.encoding->learned_weights()) {
    const std::vector<double> gradient = weights->of(weight);
    if (gradient.empty()) continue;
    result[py::str(std::string(weight.name))] =
        numpy_of(gradient, std::vector<py::ssize_t>(weight.shape.begin(), weight.shape.end()));
  }
  return result;
}

}  // namespace

void bind_attention(py::module_& module) {
  py::class_<Options>(module, "AttentionOptions").def(py::init(&make_options));
  module.def("attend", &attend_call, py::arg("options"), py::arg("q"), py::arg("k"), py::arg("v"), py::arg("output"));
  module.def("attend_backward", &attend_backward_call, py::arg("options"), py::arg("tensors"), py::arg("log_sum_exp"),
             py::arg("learned"));
}

}  // namespace locus::python

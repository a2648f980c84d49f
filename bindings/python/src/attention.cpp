// SPDX-License-Identifier: Apache-2.0
// Fused attention and its backward pass on the caller's memory.
#include "locus/attention.h"

#include <pybind11/stl.h>

#include <map>

#include "array.h"
#include "locus/attention_backward.h"
#include "locus/error.h"
#include "module.h"

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

/// All of a call but its tensors, held for the backward pass as well.
struct Options {
  std::optional<Encoding> encoding;
  std::vector<Position> query_ids, key_ids;
  Mask flags;
  std::vector<std::uint8_t> key_mask, pair_mask;
  std::vector<std::int64_t> query_boundaries, key_boundaries;
  std::optional<double> scale;
  double soft_cap = 0;
  std::vector<float> sink_logits;
  std::string axes;

  AttentionCall call() const {
    AttentionCall call;
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

Options make_options(std::optional<Encoding> encoding, const Ids& query_ids, const Ids& key_ids, bool causal,
                     bool by_index, std::int64_t prefix, std::int64_t window, std::int64_t sinks, const Bytes& key_mask,
                     const Bytes& pair_mask, const Boundaries& query_boundaries, const Boundaries& key_boundaries,
                     std::optional<double> scale, double soft_cap, const OptionalFloats& sink_logits,
                     std::string axes) {
  Options options;
  options.encoding = std::move(encoding);
  options.query_ids = values_of<Position>(query_ids);
  options.key_ids = values_of<Position>(key_ids);
  options.flags.causal = causal;
  options.flags.by_index = by_index;
  options.flags.prefix = prefix;
  options.flags.window = window;
  options.flags.sinks = sinks;
  options.key_mask = values_of<std::uint8_t>(key_mask);
  options.pair_mask = values_of<std::uint8_t>(pair_mask);
  options.query_boundaries = values_of<std::int64_t>(query_boundaries);
  options.key_boundaries = values_of<std::int64_t>(key_boundaries);
  options.scale = scale;
  options.soft_cap = soft_cap;
  options.sink_logits = values_of<float>(sink_logits);
  options.axes = std::move(axes);
  return options;
}

// The tensors of a call with what keeps them alive.
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

// Room for the gradients of what an encoding learns, by the names of its parameters.
class Learned {
 public:
  LearnedGradients wanted(const Options& options) {
    LearnedGradients gradients;
    sink_logits_.resize(options.sink_logits.size());
    gradients.sink_logits = sink_logits_;
    if (!options.encoding) return gradients;
    weights_ = options.encoding->learned_weights();
    for (const LearnedWeight& weight : weights_) {
      const auto member = gradient_member(weight.gradient);
      if (member == nullptr) continue;
      const bool per_head = weight.gradient == LearnedGradient::bias_parameters;
      columns_ = per_head ? options.encoding->score().parameters : columns_;
      std::int64_t count = per_head ? columns_ : 1;
      for (const std::int64_t extent : weight.shape) count *= extent;
      std::vector<double>& room = rooms_[weight.gradient];
      room.resize(static_cast<std::size_t>(count));
      gradients.*member = room;
    }
    return gradients;
  }

  py::dict to_python() const {
    py::dict result;
    if (!sink_logits_.empty()) result["sink_logits"] = numpy_of(sink_logits_, {py::ssize_t(sink_logits_.size())});
    for (const LearnedWeight& weight : weights_) {
      const auto room = rooms_.find(weight.gradient);
      if (room == rooms_.end()) continue;
      const std::vector<py::ssize_t> shape(weight.shape.begin(), weight.shape.end());
      const bool per_head = weight.gradient == LearnedGradient::bias_parameters;
      result[py::str(std::string(weight.name))] =
          numpy_of(per_head ? column_of(room->second, weight.column) : room->second, shape);
    }
    return result;
  }

 private:
  // Numbers per head share one array [heads, columns].
  std::vector<double> column_of(const std::vector<double>& all, std::int64_t column) const {
    std::vector<double> values;
    for (auto i = static_cast<std::size_t>(column); i < all.size(); i += static_cast<std::size_t>(columns_)) {
      values.push_back(all[i]);
    }
    return values;
  }

  std::span<const LearnedWeight> weights_;
  std::int64_t columns_ = 1;
  std::vector<double> sink_logits_;
  std::map<LearnedGradient, std::vector<double>> rooms_;
};

// Writes the gradients of q, k and v; returns those of learned weights, if they are wanted.
py::dict attend_backward_call(const Options& options, py::handle q, py::handle k, py::handle v, py::handle output,
                              const py::array_t<float, py::array::c_style>& log_sum_exp, py::handle output_gradient,
                              py::handle q_gradient, py::handle k_gradient, py::handle v_gradient, bool learned) {
  Tensors tensors;
  AttentionGradientCall call{
      .forward = options.call(), .output_gradient = {}, .query_gradient = {}, .key_gradient = {}, .value_gradient = {}};
  call.forward.query = tensors.add(q, "q", options, Access::read);
  call.forward.key = tensors.add(k, "k", options, Access::read);
  call.forward.value = tensors.add(v, "v", options, Access::read);
  call.forward.output = tensors.add(output, "output", options, Access::read);
  call.output_gradient = tensors.add(output_gradient, "output_gradient", options, Access::read);
  call.query_gradient = tensors.add(q_gradient, "q_gradient", options, Access::write);
  call.key_gradient = tensors.add(k_gradient, "k_gradient", options, Access::write);
  call.value_gradient = tensors.add(v_gradient, "v_gradient", options, Access::write);
  require(log_sum_exp.size() == call.forward.query.batch * call.forward.query.heads * call.forward.query.tokens,
          "log_sum_exp must be [batch, heads, queries] as attention returned it");
  call.forward.log_sum_exp = const_cast<float*>(log_sum_exp.data());  // only read
  Learned room;
  if (learned) call.learned = room.wanted(options);
  const std::shared_ptr<Executor> threads = executor();
  call.forward.executor = threads.get();
  {
    const py::gil_scoped_release release;
    attend_backward(call);
  }
  return room.to_python();
}

}  // namespace

void bind_attention(py::module_& module) {
  py::class_<Options>(module, "AttentionOptions")
      .def(py::init(&make_options), py::kw_only(), py::arg("encoding"), py::arg("query_ids"), py::arg("key_ids"),
           py::arg("causal"), py::arg("by_index"), py::arg("prefix"), py::arg("window"), py::arg("sinks"),
           py::arg("key_mask"), py::arg("pair_mask"), py::arg("query_boundaries"), py::arg("key_boundaries"),
           py::arg("scale"), py::arg("soft_cap"), py::arg("sink_logits"), py::arg("axes"));
  module.def("attend", &attend_call, py::arg("options"), py::arg("q"), py::arg("k"), py::arg("v"), py::arg("output"));
  module.def("attend_backward", &attend_backward_call, py::arg("options"), py::arg("q"), py::arg("k"), py::arg("v"),
             py::arg("output"), py::arg("log_sum_exp"), py::arg("output_gradient"), py::arg("q_gradient"),
             py::arg("k_gradient"), py::arg("v_gradient"), py::arg("learned"));
}

}  // namespace locus::python

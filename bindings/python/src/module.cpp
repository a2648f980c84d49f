// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include "locus/error.h"

PYBIND11_MODULE(_core, module) {
  using namespace locus::python;
  module.doc() = "The compiled part of the package locus; use that.";
  module.attr("__version__") = LOCUS_VERSION;
  pybind11::register_exception<locus::Error>(module, "Error", PyExc_ValueError).attr("__module__") = "locus";
  bind_registry(module);
  bind_encoding(module);
  bind_kernels(module);
  bind_attention(module);
  bind_cache(module);
  bind_positions(module);
  bind_models(module);
  bind_doctor(module);
  bind_probe(module);
  bind_threads(module);
#ifdef LOCUS_HAS_FIGURES
  bind_figures(module);
#endif
}

// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module locus._core, one file each. The Python package `locus` is built on them.
#pragma once

#include <pybind11/pybind11.h>

#include "locus/executor.h"

namespace locus::python {

void bind_registry(pybind11::module_& module);
void bind_encoding(pybind11::module_& module);
void bind_kernels(pybind11::module_& module);
void bind_attention(pybind11::module_& module);
void bind_cache(pybind11::module_& module);
void bind_positions(pybind11::module_& module);
void bind_models(pybind11::module_& module);
void bind_doctor(pybind11::module_& module);
void bind_probe(pybind11::module_& module);
void bind_figures(pybind11::module_& module);
void bind_threads(pybind11::module_& module);

/// Returns the threads that kernels share, held during a call; empty: only the calling thread.
std::shared_ptr<Executor> executor();

}  // namespace locus::python

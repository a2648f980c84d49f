// SPDX-License-Identifier: Apache-2.0
#include "model/blas.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/version.h>
#include "model/torch.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "locus/error.h"

namespace locus::lab {
namespace {

template <class Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Returns the best speed of a few products, in billions of multiplications and additions per second.
double matrix_speed() {
  const NoGradGuard no_gradients;
  constexpr std::int64_t size = 192;
  const at::Tensor a = at::ones({size, size}), b = at::ones({size, size});
  at::Tensor product = at::mm(a, b);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    at::mm_out(product, a, b);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2e-9 * static_cast<double>(size * size * size) / best;
}

}  // namespace

void use_one_thread() {
  at::set_num_threads(1);
  // Debian's OpenBLAS starts threads that torch does not control.
  if (auto* set_threads = symbol<void(int)>("openblas_set_num_threads")) set_threads(1);
}

std::string blas_name() {
  if (auto* config = symbol<const char*()>("openblas_get_config")) return config();
  if (symbol<void(char*, int)>("MKL_Get_Version_String") != nullptr) return "MKL";
  return "unknown";
}

std::string libtorch_version() { return TORCH_VERSION; }

void require_fast_blas() {
  use_one_thread();
  if (blas_name() != "unknown") return;
  // A BLAS with an unknown name may be fast (BLIS, ATLAS). The reference BLAS, compiled for SSE2, does about 2 billion
  // operations a second; any tuned one does more than 8 on the same processors.
  constexpr double least = 6;
  const double speed = matrix_speed();
  require(speed >= least, "the lab needs a fast BLAS: matrix products run at ", speed,
          " billion operations per second (at least ", least,
          "), as the reference BLAS does; install libopenblas0-pthread, which libtorch then uses");
}

}  // namespace locus::lab

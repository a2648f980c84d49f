// SPDX-License-Identifier: Apache-2.0
// The threads that all calls share. One call uses them at a time; the others wait, as documented in ThreadPool.
#include <memory>
#include <mutex>

#include "locus/error.h"
#include "module.h"

namespace locus::python {
namespace {

std::mutex guard;
std::shared_ptr<ThreadPool> pool;

void set_threads(int count) {
  require(count >= 1 && count <= 1024, "threads must be from 1 to 1024, got ", count);
  std::shared_ptr<ThreadPool> next = count == 1 ? nullptr : std::make_shared<ThreadPool>(count);
  const std::lock_guard lock(guard);
  pool.swap(next);  // the old pool ends with the last call that uses it
}

// A forked child has none of its parent's threads, and joining them would block forever, so the pool is leaked.
void forget_threads() { new std::shared_ptr<ThreadPool>(std::move(pool)); }

}  // namespace

std::shared_ptr<Executor> executor() {
  const std::lock_guard lock(guard);
  return pool;
}

void bind_threads(pybind11::module_& module) {
  module.def("set_threads", &set_threads, pybind11::arg("count"));
  module.def("threads", [] {
    const std::shared_ptr<Executor> current = executor();
    return current == nullptr ? std::int64_t{1} : current->concurrency();
  });
  module.def("_forget_threads", &forget_threads);
}

}  // namespace locus::python

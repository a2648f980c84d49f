// SPDX-License-Identifier: Apache-2.0
// The names under which locus.js finds the functions of the module.
#include <emscripten/bind.h>

#include "encodings.h"
#include "locus/rotate.h"
#include "numbers.h"
#include "texts.h"

namespace locus::wasm {

EMSCRIPTEN_BINDINGS(locus) {
  emscripten::function("range", &position_range);
  emscripten::function("rows", &rows);
  emscripten::function("similarity", &similarity);
  emscripten::function("bias", &bias);
  emscripten::function("buckets", &buckets);
  emscripten::function("rotate", &rotate_heads);
  emscripten::function("attend", &attend_heads);
  emscripten::function("scores", &score_parts);
  emscripten::function("command", &run_command);
  emscripten::function("phrase", &phrase);
  emscripten::function("fault", &fault);
  emscripten::function("results", &lab_results);
  emscripten::function("forget", &forget_encodings);
  emscripten::function(
      "target", +[] { return std::string(simd_target()); });
}

}  // namespace locus::wasm

// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tasks/tasks.h"

namespace locus::lab {

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names = {"verbs", "passkey", "back", "first", "order", "text"};
  return names;
}

std::unique_ptr<Task> make_task(const std::string& name, const std::string& text_file) {
  if (name == "verbs") return make_verbs();
  if (name == "passkey") return make_passkey();
  if (name == "back") return make_back();
  if (name == "first") return make_first();
  if (name == "order") return make_order();
  if (name == "text") return make_text(text_file);
  std::string known;
  for (const std::string& each : task_names()) known += (known.empty() ? "" : ", ") + each;
  fail("unknown task '", name, "'; the tasks are ", known);
}

}  // namespace locus::lab

// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "locus/names.h"
#include "tasks/tasks.h"

namespace locus::lab {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Task> (*make)(const std::string& text_file);
};

// One line per task, in the order in which they are listed.
constexpr std::array<Entry, 6> entries = {{
    {"verbs", [](const std::string&) { return make_verbs(); }},
    {"passkey", [](const std::string&) { return make_passkey(); }},
    {"back", [](const std::string&) { return make_back(); }},
    {"first", [](const std::string&) { return make_first(); }},
    {"order", [](const std::string&) { return make_order(); }},
    {"text", [](const std::string& file) { return make_text(file); }},
}};

}  // namespace

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : entries) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::unique_ptr<Task> make_task(const std::string& name, const std::string& text_file) {
  return find_named("task", entries, name, [](const Entry& entry) { return entry.name; }).make(text_file);
}

}  // namespace locus::lab

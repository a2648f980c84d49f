// SPDX-License-Identifier: Apache-2.0
// The lines of `locus bench`, group by group.
#pragma once

#include "case.h"

namespace locus::bench {

std::vector<Task> rotate_tasks();
std::vector<Task> add_tasks();
std::vector<Task> table_tasks();
/// With `quick`, without the longest sequences.
std::vector<Task> attention_tasks(bool quick);
std::vector<Task> probe_tasks();

/// The groups by name, in the order in which they run.
const std::vector<std::string>& group_names();

struct Plan {
  std::vector<std::string> groups = group_names();
  bool quick = false;
  std::string containing = {};  ///< only lines whose name has this in it
  Pairs pairs = {};             ///< its progress is not used
};

struct Listener {
  std::function<void(const Line&)> line;                                   ///< a line is done
  std::function<void(double lines_done, std::size_t lines_all)> progress;  ///< also within a line; may throw to stop
};

/// Measures line by line.
void run(const Plan& plan, const Listener& listener);

}  // namespace locus::bench

// SPDX-License-Identifier: Apache-2.0
#include "run/owner.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace locus::lab {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Returns eight digits of the kernel's boot id and the number of the namespace of process ids: "1f0c2a9b-4026531836".
std::string instance() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  file >> boot;
  std::error_code ignored;
  std::string space = std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();  // "pid:[4026531836]"
  std::erase_if(space, [](char c) { return c < '0' || c > '9'; });
  return boot.substr(0, 8) + '-' + space;
}

/// Returns state and start time (clock ticks since boot) of a process: fields 3 and 22 of its stat file; empty if it
/// does not exist. The name in field 2 may hold spaces and parentheses, so fields are counted from the last
/// parenthesis.
struct ProcessStat {
  std::string state, start;
};
ProcessStat stat_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
  ProcessStat stat;
  fields >> stat.state;
  for (int field = 4; field <= 22; ++field) fields >> stat.start;
  if (!fields) stat = {};
  return stat;
}

}  // namespace

std::string this_machine() {
  static const std::string machine = host_name() + '/' + instance();
  return machine;
}

std::string owner_of(pid_t process) {
  const std::string number = std::to_string(process);
  return this_machine() + '/' + number + '/' + stat_of(number).start;
}

std::string this_owner() { return owner_of(getpid()); }

std::string host_of(const std::string& owner) { return owner.substr(0, owner.find('/')); }

bool is_gone(const std::string& owner) {
  const std::size_t second = owner.rfind('/');
  const std::size_t first = second == std::string::npos || second == 0 ? second : owner.rfind('/', second - 1);
  if (first == std::string::npos || first == second || owner.substr(0, first) != this_machine()) return false;
  const ProcessStat stat = stat_of(owner.substr(first + 1, second - first - 1));
  return stat.start != owner.substr(second + 1) || stat.state == "Z" || stat.state == "X";
}

}  // namespace locus::lab

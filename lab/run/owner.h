// SPDX-License-Identifier: Apache-2.0
// Who holds a claim: a process, by machine, number and the moment it started, since numbers come again.
#pragma once

#include <sys/types.h>

#include <string>

namespace locus::lab {

/// "machine/pid/start"; of a process of this machine that runs or was not yet waited for.
std::string owner_of(pid_t process);
std::string this_owner();

/// True only if the owner is of this machine and its process is surely gone.
bool is_gone(const std::string& owner);

}  // namespace locus::lab

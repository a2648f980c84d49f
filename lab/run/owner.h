// SPDX-License-Identifier: Apache-2.0
// Identifies the process that holds a lease by machine, process id and start time: process ids are reused.
#pragma once

#include <sys/types.h>

#include <string>

namespace locus::lab {

/// Returns "host/instance"; the instance distinguishes containers and machines with the same host name.
std::string this_machine();

/// Returns "host/instance/pid/start" of a process of this machine that runs or has not been waited for.
std::string owner_of(pid_t process);
std::string this_owner();

/// Returns the name of the host, for messages.
std::string host_of(const std::string& owner);

/// Returns true only if the owner is a process of this machine that no longer exists.
bool is_gone(const std::string& owner);

}  // namespace locus::lab

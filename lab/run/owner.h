// SPDX-License-Identifier: Apache-2.0
// Who holds a lease: a process, by machine, process id and start time, since process ids are reused.
#pragma once

#include <sys/types.h>

#include <string>

namespace locus::lab {

/// "host/instance": the instance tells containers and machines with the same host name apart.
std::string this_machine();

/// "host/instance/pid/start" of a process of this machine that runs or has not been waited for.
std::string owner_of(pid_t process);
std::string this_owner();

/// For readers: the host's name.
std::string host_of(const std::string& owner);

/// True only if the owner is of this machine and its process no longer exists.
bool is_gone(const std::string& owner);

}  // namespace locus::lab

// SPDX-License-Identifier: Apache-2.0
#include "run/slurm.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <span>
#include <sstream>

#include "locus/io/atomic_file.h"
#include "run/store_url.h"

namespace locus::lab {
namespace {

namespace fs = std::filesystem;

/// Quotes a text for a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Runs a program with our output; returns its exit code, or 127 if there is no such program.
int run_and_wait(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  const pid_t child = fork();
  require(child >= 0, "cannot start ", words.front(), ": ", std::strerror(errno));
  if (child == 0) {
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::string slurm_script(const Request& request, const std::string& program) {
  const std::string out = fs::absolute(request.out).string();
  std::ostringstream script;
  script << "#!/bin/sh\n"
            "#SBATCH --job-name=locus-lab\n"
            "#SBATCH --array=0-"
         << request.tasks - 1
         << "\n"
            "#SBATCH --requeue\n"
            "#SBATCH --open-mode=append\n"
            "# SLURM_ARRAY_TASK_ID is the same after a requeue, so the task finds its results that the store has not "
            "got.\n"
            "exec "
         << quoted(program) << " work --store " << quoted(request.store) << " --out " << quoted(out)
         << "/task-\"$SLURM_ARRAY_TASK_ID\" --workers "
         << (request.workers ? std::to_string(*request.workers) : "\"${SLURM_CPUS_PER_TASK:-1}\"") << " --until "
         << quoted(request.until) << " --lease " << request.lease_seconds << " --patience " << request.patience << '\n';
  return script.str();
}

int submit_to_slurm(const Request& request) {
  require(is_postgresql(request.store),
          "locus lab slurm needs a store that all nodes reach: --store postgresql://USER@HOST/DATABASE");
  require(without_password(request.store) == request.store,
          "--store must not contain a password, which would be written to the job script: use ~/.pgpass or PGPASSFILE");
  open_store(request);  // creates it, and reports errors now
  std::error_code error;
  const std::string program = fs::read_symlink("/proc/self/exe", error).string();
  require(!error, "cannot find the path of this program: ", error.message());
  const std::string script = slurm_script(request, program);
  const fs::path file = fs::absolute(request.out) / "slurm.sh";
  const io::ByteChunk chunk = std::as_bytes(std::span(script));
  io::write_atomically(file, std::span(&chunk, 1));
  std::vector<std::string> words = {"sbatch", "--output=" + (file.parent_path() / "slurm-%A_%a.log").string()};
  words.insert(words.end(), request.sbatch.begin(), request.sbatch.end());
  words.push_back(file.string());
  const int code = run_and_wait(words);
  require(code != 127, "sbatch was not found in PATH; the job script is ", file.string());
  return code == 0 ? 0 : 1;
}

}  // namespace locus::lab

// SPDX-License-Identifier: Apache-2.0
#include "interruption.h"

#include <csignal>
#include <cstdlib>

namespace locus::tools {
namespace {

volatile std::sig_atomic_t noted = 0;

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  // Once only, and system calls go on: reading from a peer program must not fail half-way.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  noted = 0;
  for (const int signal : {SIGINT, SIGTERM}) set_handler(signal, [](int which) { noted = which; });
}

Interruption::~Interruption() {
  for (const int signal : {SIGINT, SIGTERM}) set_handler(signal, SIG_DFL);
}

bool Interruption::happened() const { return noted != 0; }

void Interruption::end_program() const {
  set_handler(noted, SIG_DFL);
  std::raise(noted);
  std::abort();  // not reached: the signal ends the program
}

}  // namespace locus::tools

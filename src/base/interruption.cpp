// SPDX-License-Identifier: Apache-2.0
#include "base/interruption.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace locus {
namespace {

constexpr std::array<int, 2> signals = {SIGINT, SIGTERM};
std::array<struct sigaction, signals.size()> before;

volatile std::sig_atomic_t noted = 0;
volatile std::time_t noted_at = 0;

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // an interrupted read from a peer program must be resumed
  sigaction(signal, &action, nullptr);
}

// `timeout` sends its signal twice at once, to the program and to its group; a person presses Ctrl-C again after a
// while.
void note(int signal) {
  const std::time_t now = std::time(nullptr);
  if (noted != 0 && now > noted_at + 1) {
    set_handler(signal, SIG_DFL);
    std::raise(signal);
  }
  if (noted == 0) noted_at = now;
  noted = signal;
}

}  // namespace

Interruption::Interruption() {
  noted = 0;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before[i]);
    set_handler(signals[i], note);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before[i], nullptr);
}

bool Interruption::happened() const { return noted != 0; }

void Interruption::end_program() const {
  set_handler(noted, SIG_DFL);
  std::raise(noted);
  std::abort();  // not reached: the signal ends the program
}

}  // namespace locus

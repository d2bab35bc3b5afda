#include "boolgrad/cli/interruption.h"

#include <csignal>

namespace boolgrad::cli {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

extern "C" void ask_to_stop(int signal) {
  asked_to_stop = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_for_interruption() {
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  // The terminal was closed; nohup ignores that.
  if (std::signal(SIGHUP, ask_to_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool interrupted() { return asked_to_stop != 0; }

}  // namespace boolgrad::cli

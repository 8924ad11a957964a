#include "cli/signals.h"

namespace ecosort::cli {

namespace {

constexpr int handled[3] = {SIGINT, SIGTERM, SIGHUP};

// A signal handler can reach nothing but globals; these belong to the one living SignalGuard.
std::atomic<int> received_signal = 0;
std::atomic<io::Queue*> queue_to_wake = nullptr;

void on_signal(int number) {
  received_signal = number;
  if (io::Queue* queue = queue_to_wake) queue->notify();
}

}  // namespace

SignalGuard::SignalGuard(io::Queue* queue) {
  received_signal = 0;
  queue_to_wake = queue;
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 3; ++i) {
    sigaction(handled[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(handled[i], &action, nullptr);
  }
}

SignalGuard::~SignalGuard() {
  for (int i = 0; i < 3; ++i) sigaction(handled[i], &before_[i], nullptr);
  queue_to_wake = nullptr;
}

const std::atomic<int>& SignalGuard::received() const noexcept { return received_signal; }

}  // namespace ecosort::cli

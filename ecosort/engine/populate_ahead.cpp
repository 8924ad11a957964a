#include "engine/populate_ahead.h"

#include <system_error>

#include "base/blocked_signals.h"
#include "base/memory.h"

namespace ecosort::engine {
namespace {

constexpr std::size_t step = std::size_t{4} << 20U;  // bytes: a few milliseconds

}  // namespace

void PopulateAhead::add(std::span<std::byte> bytes) {
  if (bytes.size() >= step) wanted_.push_back(bytes.first(round_down(bytes.size(), step)));
}

void PopulateAhead::end() {
  thread_ = {};  // is asked to stop and waited for
  wanted_.clear();
}

void PopulateAhead::begin() {
  if (wanted_.empty()) return;
  const BlockedSignals blocked;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      for (const std::span<std::byte> bytes : wanted_)
        for (std::size_t at = 0; at < bytes.size() && !stop.stop_requested(); at += step) populate(bytes.data() + at, step);
    });
  } catch (const std::system_error&) {
    wanted_.clear();
  }
}

}  // namespace ecosort::engine

#include "pipeline/populate_ahead.h"

#include <algorithm>
#include <system_error>

#include "base/memory.h"
#include "io/blocked_signals.h"

namespace ecosort::pipeline {
namespace {

constexpr std::size_t step = std::size_t{4} << 20U;  // bytes: a few milliseconds

}  // namespace

void PopulateAhead::add(const RunBuffer& run, std::uint64_t bytes) {
  const std::size_t size = std::min<std::uint64_t>(bytes, run.bytes.size());
  for (std::size_t at = 0; at + step <= size; at += step) parts_.push_back({run.bytes.data() + at, step});
}

void PopulateAhead::end() {
  thread_ = {};  // is asked to stop and waited for
  parts_.clear();
}

void PopulateAhead::begin() {
  if (parts_.empty()) return;
  const io::BlockedSignals blocked;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      for (const Part& part : parts_) {
        if (stop.stop_requested()) return;
        populate(part.data, part.size);
      }
    });
  } catch (const std::system_error&) {
    parts_.clear();
  }
}

}  // namespace ecosort::pipeline

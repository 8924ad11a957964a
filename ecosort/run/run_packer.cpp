#include "run/run_packer.h"

#include <algorithm>
#include <utility>

#include "base/thread_time.h"

namespace ecosort::run {
namespace {

// A trial costs as much as the block that it packs, with every codec; and small memory makes many runs.
constexpr unsigned most_runs_of_a_trial = 8;

// The blocks of both shrink alike.
bool are_alike(std::span<const Trial> some, std::span<const Trial> others) {
  constexpr double difference = 1.1;
  const auto alike = [](const Trial& a, const Trial& b) { return std::max(a.ratio / b.ratio, b.ratio / a.ratio) < difference; };
  return std::ranges::equal(some, others, alike);
}

}  // namespace

// A coder that no one else has meanwhile.
class RunPacker::Loan {
 public:
  explicit Loan(RunPacker& packer) : packer_(packer) {
    std::unique_lock lock(packer.mutex_);
    packer.given_back_.wait(lock, [&] { return !packer.idle_.empty(); });
    coder_ = packer.idle_.back();
    packer.idle_.pop_back();
  }
  ~Loan() {
    {
      const std::lock_guard lock(packer_.mutex_);
      packer_.idle_.push_back(coder_);
    }
    packer_.given_back_.notify_one();
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  [[nodiscard]] PackedBlockCoder* operator->() const noexcept { return coder_; }

 private:
  RunPacker& packer_;
  PackedBlockCoder* coder_;
};

RunPacker::RunPacker(const planner::PackingPlan& plan, const BlockShape& shape, MemoryBudget& memory)
    : plan_(plan), shape_(shape) {
  const std::uint64_t each = PackedBlockCoder::memory_bytes(plan.wanted.terms, shape);
  memory_ = memory.allocate(plan.coders * each, "coders of runs", Pages::small);
  coders_.reserve(plan.coders);
  for (unsigned i = 0; i < plan.coders; ++i)
    coders_.emplace_back(plan.wanted.terms, shape, std::span(memory_.data() + i * each, each));
  for (PackedBlockCoder& coder : coders_) idle_.push_back(&coder);
}

void RunPacker::set_pace(const Pace& pace) {
  const std::lock_guard lock(mutex_);
  pace_ = pace;
}

std::vector<Trial> RunPacker::try_all(const std::byte* first_block, BlockContents contents) {
  constexpr double least_gain = 1.05;  // of truncation alone, or it is not tried in front of a codec
  std::vector<Trial> trials;
  const Loan coder(*this);
  for (const PackTerms& terms : ways_to_pack(plan_.wanted, shape_.record_size)) {
    if (terms.truncates && !trials.empty() && trials.front().terms.truncates && trials.front().ratio < least_gain) continue;
    const double begin_s = thread_cpu_s(), bytes = contents.used_bytes;
    const std::size_t stored = coder->try_out(terms, first_block, contents);
    trials.push_back({terms, std::max(bytes / static_cast<double>(stored), 1.0), (thread_cpu_s() - begin_s) / bytes});
  }
  return trials;
}

// Returns the trials of the run before for 1, 2, 4, 8 runs, as long as new ones differ little.
std::vector<Trial> RunPacker::trials_of(const std::byte* first_block, BlockContents contents) {
  {
    const std::lock_guard lock(mutex_);
    if (untried_ > 0) {
      --untried_;
      return tried_;
    }
  }
  std::vector<Trial> now = try_all(first_block, contents);
  const std::lock_guard lock(mutex_);
  tried_for_ = are_alike(now, tried_) ? std::min(2 * tried_for_, most_runs_of_a_trial) : 1;
  untried_ = tried_for_ - 1;
  tried_ = now;
  ++report_.tried_blocks;
  for (const Trial& trial : now) report_.try_s += trial.pack_s * static_cast<double>(contents.used_bytes);
  return now;
}

bool RunPacker::has_choice() const {
  const std::lock_guard lock(mutex_);
  if (plan_.wanted.is_auto && !could_pay(pace_, plan_.power)) return false;
  return ways_to_pack(plan_.wanted, shape_.record_size).size() > 1;
}

PackTerms RunPacker::choose(const std::byte* first_block, BlockContents contents) {
  const std::vector<Trial> trials = has_choice() ? trials_of(first_block, contents) : std::vector<Trial>();
  const std::lock_guard lock(mutex_);
  CodecChoice choice = choose_terms(plan_, pace_, trials);
  report_.last = choice.terms;
  report_.why = std::move(choice.why);
  return choice.terms;
}

template <class Work>
auto RunPacker::with_coder(double PackingReport::* spent_s, const Work& work) {
  const auto timed = [&] {
    const Loan coder(*this);
    const double begin_s = thread_cpu_s();
    auto done = work(coder);
    return std::pair{std::move(done), thread_cpu_s() - begin_s};
  }();
  const std::lock_guard lock(mutex_);
  report_.*spent_s += timed.second;
  return timed.first;
}

std::size_t RunPacker::pack(const PackTerms& terms, const std::byte* block, BlockContents contents, std::uint64_t seed,
                            std::byte* to) {
  return with_coder(&PackingReport::pack_s, [&](const Loan& coder) { return coder->pack(terms, block, contents, seed, to); });
}

std::optional<BlockContents> RunPacker::unpack(const std::byte* packed, std::size_t stored_bytes, std::byte* block,
                                               std::size_t block_bytes) {
  return with_coder(&PackingReport::unpack_s,
                    [&](const Loan& coder) { return coder->unpack(packed, stored_bytes, block, block_bytes); });
}

std::optional<TruncatedBlock> RunPacker::unpack_truncated(const std::byte* packed, std::size_t stored_bytes, std::byte* block) {
  return with_coder(&PackingReport::unpack_s,
                    [&](const Loan& coder) { return coder->unpack_truncated(packed, stored_bytes, block); });
}

void RunPacker::account(std::size_t plain_bytes, std::size_t stored_bytes, bool is_packed) {
  const std::lock_guard lock(mutex_);
  report_.plain_bytes += plain_bytes;
  report_.stored_bytes += stored_bytes;
  ++report_.blocks;
  report_.packed_blocks += is_packed ? 1 : 0;
}

PackingReport RunPacker::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace ecosort::run

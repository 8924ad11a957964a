#include "run/run_packer.h"

#include <time.h>

#include <algorithm>

namespace ecosort::run {
namespace {

double thread_s() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

std::uint64_t PackingPlan::space_of(std::uint64_t bytes) const noexcept {
  constexpr std::uint64_t thousandths = 1000;
  if (coders == 0) return bytes;
  if (reserves_nothing) return 0;
  if (assumed_ratio <= thousandths) return bytes;
  return round_up(bytes / assumed_ratio * thousandths + bytes % assumed_ratio * thousandths / assumed_ratio, page_bytes);
}

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

RunPacker::RunPacker(const PackingPlan& plan, std::size_t block_bytes, MemoryBudget& memory) : plan_(plan) {
  const std::uint64_t each = PackedBlockCoder::memory_bytes(plan.wanted.terms, block_bytes);
  memory_ = memory.allocate(plan.coders * each, "coders of runs", Pages::small);
  coders_.reserve(plan.coders);
  for (unsigned i = 0; i < plan.coders; ++i)
    coders_.emplace_back(plan.wanted.terms, block_bytes, std::span(memory_.data() + i * each, each));
  for (PackedBlockCoder& coder : coders_) idle_.push_back(&coder);
}

void RunPacker::set_pace(const Pace& pace) {
  const std::lock_guard lock(mutex_);
  pace_ = pace;
}

codec::BlockTerms RunPacker::choose(const std::byte* first_block, BlockContents contents) {
  CodecChoice choice{plan_.wanted.terms, "asked for"};
  if (plan_.wanted.is_auto) {
    std::vector<Trial> trials;
    const Loan coder(*this);
    for (const codec::BlockTerms& terms : {codec::BlockTerms{codec::BlockCodec::lz4, 0}, plan_.wanted.terms}) {
      if (!trials.empty() && trials.front().terms == terms) continue;
      const double begin_s = thread_s(), bytes = contents.used_bytes;
      const std::size_t stored = coder->try_out(terms, first_block, contents);
      trials.push_back({terms, std::max(bytes / static_cast<double>(stored), 1.0), (thread_s() - begin_s) / bytes});
    }
    const std::lock_guard lock(mutex_);
    choice = choose_codec(pace_, trials);
  }
  const std::lock_guard lock(mutex_);
  report_.last = choice.terms;
  report_.why = std::move(choice.why);
  return choice.terms;
}

std::size_t RunPacker::pack(const codec::BlockTerms& terms, std::byte* block, std::uint64_t seed, BlockContents contents) {
  double spent_s = 0;
  std::size_t stored = 0;
  {
    const Loan coder(*this);
    const double begin_s = thread_s();
    stored = coder->pack(terms, block, seed, contents);
    spent_s = thread_s() - begin_s;
  }
  const std::lock_guard lock(mutex_);
  report_.pack_s += spent_s;
  return stored;
}

std::optional<BlockContents> RunPacker::unpack(std::byte* block, std::size_t stored_bytes) {
  double spent_s = 0;
  std::optional<BlockContents> contents;
  {
    const Loan coder(*this);
    const double begin_s = thread_s();
    contents = coder->unpack(block, stored_bytes);
    spent_s = thread_s() - begin_s;
  }
  const std::lock_guard lock(mutex_);
  report_.unpack_s += spent_s;
  return contents;
}

void RunPacker::write_begins() noexcept {
  if (writes_++ == 0) writing_since_ = Clock::now();
}

void RunPacker::write_ends(std::size_t bytes) noexcept {
  written_bytes_ += bytes;
  if (--writes_ == 0) writing_ += Clock::now() - writing_since_;
}

double RunPacker::write_s_per_byte() const noexcept {
  if (written_bytes_ == 0) return 0;
  const Clock::duration now = writes_ > 0 ? Clock::now() - writing_since_ : Clock::duration{0};
  return std::chrono::duration<double>(writing_ + now).count() / static_cast<double>(written_bytes_);
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

#include "replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <random>

#include "base/errors.h"
#include "engine/populate_ahead.h"

namespace ecosort::bench {

namespace {

using Clock = std::chrono::steady_clock;

[[nodiscard]] double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// The files of the trace, opened when they are first needed and closed after their last request, as in the sort.
class Files {
 public:
  Files(const Trace& trace, const ReplayJob& job, io::Storage& storage)
      : trace_(trace), job_(job), storage_(storage), files_(trace.files.size()), open_requests_(trace.files.size()) {
    for (const TracedFile& file : trace.files)
      if (file.role == io::Role::run) first_run_ = std::min(first_run_, file.number);
  }

  const io::File& use(std::uint32_t index) {
    if (!files_[index]) {
      files_[index] = open(trace_.files[index]);
      if (files_[index]->role() == io::Role::input) input_bytes_ = files_[index]->facts().size_bytes;
    }
    ++open_requests_[index];
    return *files_[index];
  }

  // A request on the file has completed; `submitted` requests of the trace have been submitted.
  void done(std::uint32_t index, std::size_t submitted) {
    const TracedFile& file = trace_.files[index];
    if (--open_requests_[index] == 0 && file.role == io::Role::run && submitted > file.last_request)
      storage_.close(std::move(files_[index]));
  }

  void publish_output() {
    for (io::FilePtr& file : files_) {
      if (!file || file->role() != io::Role::output) continue;
      if (input_bytes_ > 0) storage_.set_size(*file, input_bytes_);  // the last block was padded
      (void)storage_.publish(*file, job_.output);
      storage_.close(std::move(file));
    }
  }

 private:
  [[nodiscard]] io::FilePtr open(const TracedFile& traced) {
    constexpr io::Caching caching = io::Caching::direct_if_possible;
    if (traced.role == io::Role::input) return storage_.open_input(job_.input, caching);
    if (traced.role == io::Role::output) {
      const std::string parent = std::filesystem::path(job_.output).parent_path().string();
      io::FilePtr file = storage_.create_unnamed(parent.empty() ? "." : parent, traced.role, caching);
      storage_.set_size(*file, traced.end);
      if (const std::uint64_t size = std::min(traced.reserves_from, traced.end); job_.reserve && size > 0)
        (void)storage_.reserve(*file, 0, size);
      return file;
    }
    // The run store creates one file per directory and run, in the order of the directories, and reserves its space.
    const std::string& directory = job_.directories[(traced.number - first_run_) % job_.directories.size()];
    io::FilePtr file = storage_.create_unnamed(directory, traced.role, caching);
    if (job_.reserve) (void)storage_.reserve(*file, 0, traced.end);
    return file;
  }

  const Trace& trace_;
  const ReplayJob& job_;
  io::Storage& storage_;
  std::vector<io::FilePtr> files_;
  std::vector<std::size_t> open_requests_;
  std::uint64_t first_run_ = ~std::uint64_t{0};
  std::uint64_t input_bytes_ = 0;
};

class Replayer {
 public:
  Replayer(const Trace& trace, const ReplayJob& job, io::Storage& storage, io::Queue& queue)
      : trace_(trace), job_(job), queue_(queue), files_(trace, job, storage), memory_(~std::uint64_t{0}) {
    make_buffers(depth_of(trace, job));
  }

  ReplayReport run() {
    const Clock::time_point begin = idle_since_ = Clock::now();
    for (std::size_t i = 0; i < trace_.requests.size(); ++i) {
      while (!may_submit(i)) reap();
      submit(i);
    }
    while (in_flight() > 0) reap();
    files_.publish_output();
    report_.io_idle_s += seconds(Clock::now() - idle_since_);
    report_.requests = submitted_;
    report_.wall_s = seconds(Clock::now() - begin);
    return report_;
  }

 private:
  struct Slot {
    io::IoRequest request;
    std::uint32_t file;
  };

  // Random content: what a drive might compress away would be no floor. Buffers beyond those in flight are read into before they
  // are written.
  void make_buffers(unsigned depth) {
    const std::size_t size = round_up(std::max<std::size_t>(trace_.largest_bytes, page_bytes), page_bytes);
    const std::size_t count = std::max<std::size_t>(depth, job_.memory_bytes / size);
    buffers_ = memory_.allocate(size * count, "replay buffers");
    std::mt19937_64 random(1);
    for (std::uint64_t& word : buffers_.as<std::uint64_t>().first(size * depth / sizeof(std::uint64_t))) word = random();
    populate_ahead_.add(buffers_.as<std::byte>().subspan(size * depth));
    populate_ahead_.begin();
    slots_.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      slots_[i].request.data = buffers_.data() + i * size;
      free_slots_.push_back(i);
    }
  }

  [[nodiscard]] std::size_t in_flight() const noexcept { return submitted_ - completed_; }

  [[nodiscard]] bool may_submit(std::size_t i) const {
    const TracedRequest& next = trace_.requests[i];
    if (job_.pace == ReplayPace::recorded || next.others == 0) return completed_ + next.others >= i;
    if (next.operation == io::Operation::read) return reads_ < job_.read_depth;
    if (next.operation == io::Operation::write) return writes_ < job_.write_depth;
    return others_ < 2;  // as the reactor bounds them
  }

  // The one that was used last, or in turn.
  [[nodiscard]] unsigned next_free_slot() {
    const bool in_turn = job_.memory_bytes > 0;
    const unsigned number = in_turn ? free_slots_.front() : free_slots_.back();
    if (in_turn) {
      free_slots_.pop_front();
    } else {
      free_slots_.pop_back();
    }
    return number;
  }

  void submit(std::size_t i) {
    const TracedRequest& traced = trace_.requests[i];
    const unsigned number = next_free_slot();
    Slot& slot = slots_[number];
    slot.file = traced.file;
    slot.request = {traced.operation, &files_.use(traced.file), traced.offset, traced.size, slot.request.data, number};
    if (in_flight() == 0) report_.io_idle_s += seconds(Clock::now() - idle_since_);
    ++submitted_;
    ++counter(traced.operation);
    queue_.submit(slot.request);
  }

  [[nodiscard]] unsigned& counter(io::Operation operation) {
    return operation == io::Operation::read ? reads_ : operation == io::Operation::write ? writes_ : others_;
  }

  void reap() {
    completions_.clear();
    queue_.wait(completions_, true);
    for (const io::Completion& completion : completions_) complete(completion);
    if (in_flight() == 0) idle_since_ = Clock::now();
  }

  void complete(const io::Completion& completion) {
    Slot& slot = slots_[completion.tag];
    io::IoRequest& request = slot.request;
    const std::int64_t result = completion.result;
    if (result == -EINTR || result == -EAGAIN) return queue_.submit(request);
    const bool is_space = request.operation == io::Operation::release || request.operation == io::Operation::reserve;
    if (result < 0 && !(is_space && result == -EOPNOTSUPP))
      throw IoError::from_call(to_string(request.operation), request.file->path(), static_cast<int>(-result), request.offset,
                               request.size);
    if (is_cut_short(request, result)) {
      request.offset += static_cast<std::uint64_t>(result);
      request.size -= static_cast<std::size_t>(result);
      return queue_.submit(request);
    }
    request.data = buffers_.data() + completion.tag * (buffers_.size() / slots_.size());
    ++completed_;
    --counter(request.operation);
    files_.done(slot.file, submitted_);
    free_slots_.push_back(static_cast<unsigned>(completion.tag));
  }

  // A transfer that moved a part. A read that ends at the end of the file is whole; the rest must keep the file's alignment.
  [[nodiscard]] bool is_cut_short(const io::IoRequest& request, std::int64_t result) {
    const auto moved = static_cast<std::uint64_t>(result);
    if (request.operation == io::Operation::read) {
      report_.bytes_read += moved;
      const bool at_end = request.file->role() == io::Role::input && request.offset + moved >= request.file->facts().size_bytes;
      if (moved == request.size || at_end) return false;
    } else if (request.operation == io::Operation::write) {
      report_.bytes_written += moved;
      if (moved == request.size) return false;
    } else {
      return false;
    }
    if (moved == 0 || moved % request.file->alignment() != 0)
      throw IoError(
          fmt::format("a {} of {} bytes at {} in '{}' moved {} only; does the input have the size it had when it was traced?",
                      to_string(request.operation), request.size, request.offset, request.file->path(), moved));
    return true;
  }

  const Trace& trace_;
  const ReplayJob& job_;
  io::Queue& queue_;
  Files files_;
  MemoryBudget memory_;
  Buffer buffers_;
  engine::PopulateAhead populate_ahead_;
  std::vector<Slot> slots_;
  std::deque<unsigned> free_slots_;
  std::vector<io::Completion> completions_;
  std::size_t submitted_ = 0, completed_ = 0;
  unsigned reads_ = 0, writes_ = 0, others_ = 0;
  Clock::time_point idle_since_;
  ReplayReport report_;
};

}  // namespace

unsigned depth_of(const Trace& trace, const ReplayJob& job) {
  return job.pace == ReplayPace::recorded ? std::max(trace.most_in_flight, 1U) : job.read_depth + job.write_depth + 2;
}

ReplayReport replay(const Trace& trace, const ReplayJob& job, io::Storage& storage, io::Queue& queue) {
  return Replayer(trace, job, storage, queue).run();
}

}  // namespace ecosort::bench

#include "demsort_inplace/given_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/lines_in_place.h"
#include "demsort_inplace/row_files.h"

namespace ecosort::demsort_inplace {

Task<void> make_hole(JobBench& bench, const io::File& file, std::uint64_t begin, std::uint64_t end) {
  bool is_made = true;
  if (begin < end) is_made = co_await bench.reactor.release(file, begin, end - begin);
  if (!is_made)
    throw IoError(fmt::format("'{}' cannot give back space at its beginning: its file system makes no holes", file.path()));
}

GivenInput::GivenInput(LinesBench& bench)
    : bench_(bench), input_(*bench.job.inputs.front().file), spare_(*bench.files.spare), state_(bench.storage.state(input_)) {}

std::uint64_t GivenInput::in_runs() const { return bytes_before(bench_.header.inputs, bench_.next_place()); }

void GivenInput::make_room(std::uint64_t bytes) {
  std::uint64_t used = round_up(bench_.header.inputs.front().size_bytes, bench_.unit()) - given_;
  for (const RunDone& run : bench_.done) used += run_file_bytes(bench_.header, run.lines->bytes, 0);
  used += run_file_bytes(bench_.header, bytes, 0);
  const std::uint64_t total = bench_.header.lines->total_bytes, spare = total - std::min(total, used);
  if (bench_.storage.state(spare_).size_bytes > spare) bench_.storage.set_size(spare_, spare);
}

void GivenInput::check_unchanged() const { check_same_file(bench_.storage, input_, state_); }

Task<void> GivenInput::give() {
  const std::uint64_t end = std::min(round_down(in_runs(), bench_.unit()), state_.size_bytes);
  co_await make_hole(bench_, input_, given_, end);
  given_ = std::max(given_, end);
  state_ = bench_.storage.state(input_);
}

GivenRuns::GivenRuns(LinesBench& bench, const std::vector<engine::rows::MergeInput>& inputs)
    : bench_(bench), inputs_(inputs), given_(inputs.size(), 0) {}

Task<void> GivenRuns::give(const std::vector<std::uint64_t>& consumed) {
  const JobHeader& header = bench_.header;
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const std::uint64_t bytes = inputs_[i].run.bytes, gone = consumed.empty() ? 0 : consumed[i];
    const std::uint64_t blocks = consumed_blocks(header, bytes, gone), head = header.layout.head_bytes;
    const std::uint64_t block = header.lines->block_bytes;
    co_await make_hole(bench_, bench_.run_files.run(inputs_[i].run.stored).file(), head + given_[i] * block,
                       head + blocks * block);
    given_[i] = std::max(given_[i], blocks);
    left += run_file_bytes(header, bytes, gone);
  }
  const std::uint64_t most = round_up(most_output_bytes(header), bench_.unit());
  const std::uint64_t room = std::min(header.lines->total_bytes - std::min(header.lines->total_bytes, left), most);
  io::File& output = *bench_.files.output;
  const std::uint64_t has = bench_.storage.state(output).size_bytes;
  if (has < room) (void)co_await bench_.reactor.reserve(output, has, room - has);
}

}  // namespace ecosort::demsort_inplace

#include "demsort_inplace/form_pieces.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace ecosort::inplace {

FormPieces::FormPieces(io::Storage& storage, io::Reactor& reactor, Journal& journal, const Layout& layout,
                       pipeline::RunStore& store, const std::vector<std::size_t>& numbers, io::File& input, io::File& spare,
                       std::vector<RunDone>& done, const std::atomic<int>& interrupted)
    : storage_(storage),
      reactor_(reactor),
      journal_(journal),
      layout_(layout),
      store_(store),
      numbers_(numbers),
      input_(input),
      spare_(spare),
      done_(done),
      interrupted_(interrupted),
      first_(done.size()),
      kept_(reactor.gate()),
      input_state_(storage.state(input)) {}

std::vector<pipeline::RunPart> FormPieces::parts() const {
  std::vector<pipeline::RunPart> parts;
  for (std::uint64_t run = first_; run < layout_.runs(); ++run)
    parts.push_back({layout_.records_left(run + 1), layout_.run_records(run), numbers_[run]});
  return parts;
}

// One run at a time may take space; what it needs besides that of the piece before comes from the spare file.
Task<void> FormPieces::before_store(std::size_t part) {
  const std::size_t run = first_ + part;
  while (done_.size() < run) co_await kept_.changed();
  if (const std::uint64_t spare = layout_.spare_bytes(run); storage_.state(spare_).size_bytes > spare)
    storage_.set_size(spare_, spare);
  (void)co_await reactor_.reserve(store_.file(numbers_[run]), 0, layout_.run_file_bytes(run, 0));
}

Task<void> FormPieces::after_store(std::size_t part, pipeline::Tally read, pipeline::Tally written) {
  const std::size_t run = first_ + part;
  if (read.hash != written.hash || read.hash.count != layout_.run_records(run))
    throw VerificationError(
        fmt::format("verification failed: {} records with hash {} were read as piece {}, {} with hash {} were "
                    "written as run; the piece is still in the input",
                    read.hash.count, read.hash.to_hex(), run, written.hash.count, written.hash.to_hex()));
  co_await reactor_.sync(store_.file(numbers_[run]));
  check_input_unchanged();
  const RunDone done{run, read};
  co_await journal_.append(done);
  check_input_unchanged();
  storage_.set_size(input_, layout_.input_length(layout_.records_left(run + 1)));
  input_state_ = storage_.state(input_);
  done_.push_back(done);
  kept_.notify();
  if (const int signal_number = interrupted_.load(); signal_number != 0) throw Interrupted(signal_number);
}

void FormPieces::check_input_unchanged() const {
  const io::FileState now = storage_.state(input_);
  if (now.inode != input_state_.inode || now.size_bytes != input_state_.size_bytes || now.modified_ns != input_state_.modified_ns)
    throw IoError(
        fmt::format("'{}' was changed by someone else while it is being sorted; nothing more of it was given up", input_.path()));
}

}  // namespace ecosort::inplace

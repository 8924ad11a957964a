#include "demsort_inplace/form_pieces.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "demsort_inplace/first_phase.h"

namespace ecosort::inplace {

FormPieces::FormPieces(Workbench& bench)
    : bench_(bench),
      input_(*bench.files.input),
      spare_(*bench.files.spare),
      first_(bench.done.size()),
      kept_(bench.reactor.scope()),
      input_state_(bench.storage.state(input_)) {}

// One run at a time may take space; what it needs besides that of the piece before comes from the spare file.
Task<void> FormPieces::before_store(std::size_t part) {
  const std::size_t run = first_ + part;
  while (bench_.done.size() < run) co_await kept_.changed();
  const Layout& layout = bench_.layout;
  if (const std::uint64_t spare = layout.spare_bytes(run); bench_.storage.state(spare_).size_bytes > spare)
    bench_.storage.set_size(spare_, spare);
  const io::File& file = bench_.store->run(bench_.numbers[run]).file();
  if (!co_await bench_.reactor.reserve(file, 0, layout.run_file_bytes(run, 0)))
    throw IoError(fmt::format("cannot reserve space in '{}', although that was possible before", file.path()));
}

Task<void> FormPieces::after_store(std::size_t part, engine::Tally read, engine::Tally written) {
  const std::size_t run = first_ + part;
  const Layout& layout = bench_.layout;
  check_run(layout, run, read, written);
  co_await make_run_durable(bench_, run, read);
  check_input_unchanged();
  const RunDone done{run, read};
  co_await bench_.journal->append(done);
  check_input_unchanged();
  bench_.storage.set_size(input_, layout.input_length(layout.records_left(run + 1)));
  input_state_ = bench_.storage.state(input_);
  bench_.done.push_back(done);
  kept_.notify();
  if (const int signal_number = bench_.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
}

void FormPieces::check_input_unchanged() const {
  const io::FileState now = bench_.storage.state(input_);
  if (now.inode != input_state_.inode || now.size_bytes != input_state_.size_bytes || now.modified_ns != input_state_.modified_ns)
    throw IoError(
        fmt::format("'{}' was changed by someone else while it is being sorted; nothing more of it was given up", input_.path()));
}

}  // namespace ecosort::inplace

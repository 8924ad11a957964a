// The first phase: pieces of the input become durable runs, from its tail on.
//
//   run i written -> run i durable -> both sums equal -> journal says so, durable -> input cut off before piece i
//
// The next piece is read and sorted meanwhile, but not written before the input has given up its space.
#pragma once

#include <atomic>
#include <vector>

#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/journal.h"
#include "demsort_inplace/layout.h"
#include "pipeline/form_runs.h"
#include "pipeline/run_store.h"

namespace ecosort::inplace {

// Coordinator only. Everything it is given outlives it.
class FormPieces : public pipeline::RunKeeper {
 public:
  // `done` are in the journal already; the others follow. `numbers`: of every run in the store.
  FormPieces(io::Storage& storage, io::Reactor& reactor, Journal& journal, const Layout& layout, pipeline::RunStore& store,
             const std::vector<std::size_t>& numbers, io::File& input, io::File& spare, std::vector<RunDone>& done,
             const std::atomic<int>& interrupted);

  // What is left to be formed.
  [[nodiscard]] std::vector<pipeline::RunPart> parts() const;

  Task<void> before_store(std::size_t part) override;
  Task<void> after_store(std::size_t part, pipeline::Tally read, pipeline::Tally written) override;

 private:
  void check_input_unchanged() const;

  io::Storage& storage_;
  io::Reactor& reactor_;
  Journal& journal_;
  const Layout& layout_;
  pipeline::RunStore& store_;
  const std::vector<std::size_t>& numbers_;
  io::File& input_;
  io::File& spare_;
  std::vector<RunDone>& done_;
  const std::atomic<int>& interrupted_;
  const std::size_t first_;  // run of the first part
  Signal kept_;
  io::FileState input_state_;
};

}  // namespace ecosort::inplace

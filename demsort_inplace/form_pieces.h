// The first phase in place: pieces of the input become durable runs, from its tail on.
//
//   run i written -> run i durable -> both sums equal -> journal says so, durable -> input cut off before piece i
//
// The next piece is read and sorted meanwhile, but not written before the input has given up its space.
#pragma once

#include "demsort_inplace/workbench.h"
#include "engine/fixed/form_runs.h"

namespace ecosort::inplace {

// Coordinator only. The bench outlives it, and so do the files `input` and `spare` on it.
class FormPieces : public engine::RunKeeper {
 public:
  explicit FormPieces(Workbench& bench);

  Task<void> before_store(std::size_t part) override;
  Task<void> after_store(std::size_t part, engine::Tally read, engine::Tally written) override;

 private:
  void check_input_unchanged() const;

  Workbench& bench_;
  io::File& input_;
  io::File& spare_;
  const std::size_t first_;  // run of the first part
  Signal kept_;
  io::FileState input_state_;
};

}  // namespace ecosort::inplace

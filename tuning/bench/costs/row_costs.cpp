#include "costs/cost.h"
#include "rows/row_steps.h"

namespace ecosort::bench {

namespace {

template <class Shape>
Costs kernels_of(unsigned runs) {
  Run<Shape> run;
  const std::size_t bytes = run.bytes();
  MemoryBudget memory{~std::uint64_t{0}};
  const Buffer out = memory.allocate(blocks * block_bytes, "output");
  Costs costs;
  costs.emplace_back("enter", cost(bytes, [&] { run.enter(); }));
  costs.emplace_back("index_sort", cost(bytes, [&] { run.enter(); }, [&] { run.sort(); }));
  costs.emplace_back("gather", cost(bytes, [&] { run.gather(out.data()); }));
  RowMerge<Shape> merge(run, run.sorted(), runs);
  costs.emplace_back("merge", cost(bytes, [&] { keep(merge().low); }));
  return costs;
}

}  // namespace

Costs row_verification_costs() { return {{"granule_verify", verify_cost(block_bytes)}}; }

Costs text_kernel_costs(unsigned runs) { return kernels_of<LineShape>(runs); }
Costs number_kernel_costs(unsigned runs) { return kernels_of<Numbers>(runs); }

}  // namespace ecosort::bench

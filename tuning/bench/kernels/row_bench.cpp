// Computes for a row of text, step by step, on one thread and beside no request, the least that a sort of rows by two passes
// takes of the processor. `text`: lines of 60 to 140 bytes; `number`: rows of CSV of 52 bytes, by a number among them, as
// `ecosort_make_lines text` and `table` make them. `per_row`: CPU time of a row.
//
//   run formation   enter    rows are found, checked and hashed, their windows enter the index
//                   sort     the index is sorted
//                   gather   rows are put in their order, their blocks sealed
//   merge           find     the next row of a run and its window
//                   choose   the tree of 47 runs is replayed
//                   emit     the row is copied and hashed
//                   merge    all three in turn, row by row, as a merge does them
//
// `paths` and other kinds of people's lines have the two steps that depend on what the rows are: sort, merge.
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/prefetch.h"
#include "bench_support.h"
#include "peoples_lines.h"
#include "rows/row_steps.h"

namespace ecosort::bench {
namespace {

template <class Shape>
void enter_rows(benchmark::State& state) {
  Run<Shape> run;
  for (auto _ : state) run.enter();
  set_per_row(state, run.rows());
}

template <class Shape>
void sort_rows(benchmark::State& state) {
  Run<Shape> run;
  for (auto _ : state) {
    state.PauseTiming();
    run.enter();
    state.ResumeTiming();
    run.sort();
  }
  set_per_row(state, run.rows());
}

template <class Shape>
void gather_rows(benchmark::State& state) {
  Run<Shape> run;
  run.sort();
  const LargePages<std::byte> out(blocks * block_bytes);
  for (auto _ : state) run.gather(out.data());
  set_per_row(state, run.rows());
}

template <class Shape>
void find_next(benchmark::State& state) {
  Run<Shape> run;
  run.sort();
  const std::string text = run.sorted();
  std::uint64_t sum = 0;
  for (auto _ : state) {
    find_rows(run.format(), text, [&](std::string_view, records::KeyWindow window) { sum += window.prefix; });
    benchmark::DoNotOptimize(sum);
  }
  set_per_row(state, run.rows());
}

template <class Shape>
void choose_next(benchmark::State& state) {
  Run<Shape> run;
  run.sort();
  const std::string text = run.sorted();
  std::mt19937_64 random(2);
  std::array<std::vector<records::KeyWindow>, merged_runs> windows;
  find_rows(run.format(), text,
            [&](std::string_view, records::KeyWindow window) { windows[random() % merged_runs].push_back(window); });
  const auto cursors = make_cursors(merged_runs);
  for (auto _ : state) {
    std::array<std::size_t, merged_runs> next{};
    for (std::size_t i = 0; i < merged_runs; ++i) {
      cursors[i]->exhausted = false;
      cursors[i]->window = windows[i][next[i]++];
    }
    engine::rows::MergeTree tree(run.format(), cursors);
    for (tree.build(); !tree.empty(); tree.replay()) {
      engine::rows::MergeCursor& cursor = tree.winner();
      std::size_t& at = next[cursor.index];
      cursor.exhausted = at == windows[cursor.index].size();
      if (cursor.exhausted) continue;
      cursor.window = windows[cursor.index][at++];
      prefetch(&windows[cursor.index][at] + 8);
    }
  }
  set_per_row(state, run.rows());
}

template <class Shape>
void emit_rows(benchmark::State& state) {
  Run<Shape> run;
  run.sort();
  const std::string text = run.sorted();
  std::vector<std::string_view> rows;
  find_rows(run.format(), text, [&](std::string_view row, records::KeyWindow) { rows.push_back(row); });
  while (text.data() + text.size() - rows.back().data() < 2 * static_cast<std::ptrdiff_t>(lines::copy_step)) rows.pop_back();
  const LargePages<std::byte> out(blocks * block_bytes);
  char* const begin = reinterpret_cast<char*>(out.data());
  for (auto _ : state) {
    lines::LateHash hash(lines::line_kernels());
    std::size_t filled = 0;
    for (const std::string_view row : rows) {
      if (filled + 2 * lines::copy_step > blocks * block_bytes) {
        hash.settle();
        filled = 0;
      }
      std::memcpy(begin + filled, row.data(), lines::copy_step);
      if (row.size() >= lines::copy_step)
        std::memcpy(begin + filled + lines::copy_step, row.data() + lines::copy_step, row.size() + 1 - lines::copy_step);
      hash.add({begin + filled, row.size()});
      filled += row.size() + 1;
    }
    hash.settle();
    benchmark::DoNotOptimize(hash.sum());
  }
  set_per_row(state, rows.size());
}

template <class Shape>
void merge_rows(benchmark::State& state) {
  Run<Shape> run;
  run.sort();
  RowMerge<Shape> merge(run, run.sorted(), merged_runs);
  for (auto _ : state) {
    const hash::MultisetHash hash = merge();
    benchmark::DoNotOptimize(hash);
  }
  set_per_row(state, run.rows());
}

template <class Shape>
void add_steps(const std::string& shape) {
  add_step(shape + "/enter", enter_rows<Shape>);
  add_step(shape + "/sort", sort_rows<Shape>);
  add_step(shape + "/gather", gather_rows<Shape>);
  add_step(shape + "/find", find_next<Shape>);
  add_step(shape + "/choose", choose_next<Shape>);
  add_step(shape + "/emit", emit_rows<Shape>);
  add_step(shape + "/merge", merge_rows<Shape>);
}

[[maybe_unused]] const bool registered = [] {
  add_steps<LineShape>("text");
  add_steps<Numbers>("number");
  for_peoples_lines([]<class Shape>(const std::string& kind, Shape) {
    add_step(kind + "/sort", sort_rows<Shape>);
    add_step(kind + "/merge", merge_rows<Shape>);
  });
  return true;
}();

}  // namespace
}  // namespace ecosort::bench

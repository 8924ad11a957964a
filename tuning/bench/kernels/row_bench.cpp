// What is computed for a row of text, step by step, on one thread and beside no request: the least that a sort of rows by two
// passes takes of the processor. `text`: lines of 60 to 140 bytes; `number`: rows of CSV of 52 bytes, by a number among them, as
// `ecosort_make_lines text` and `table` make them. `per_row`: CPU time of a row.
//
//   run formation   enter    rows are found, checked and hashed, their windows enter the index
//                   sort     the index is sorted
//                   gather   rows are put in their order, their blocks sealed
//   merge           find     the next row of a run and its window
//                   choose   the tree of 47 runs is replayed
//                   emit     the row is copied and hashed
//                   merge    all three in turn, row by row, as a merge does them
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/prefetch.h"
#include "bench_support.h"
#include "engine/rows/merge_tree.h"
#include "formats/csv/csv_format.h"
#include "formats/lines/gather_lines.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/late_hash.h"
#include "formats/lines/line_order.h"
#include "run/run_block.h"

namespace ecosort::bench {
namespace {

constexpr std::size_t run_bytes = std::size_t{128} << 20U;              // beyond the caches
constexpr std::size_t block_bytes = std::size_t{1} << 20U, blocks = 8;  // that a sort with 1 GiB writes
constexpr std::size_t merged_runs = 47;

std::string printable(std::mt19937_64& random, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('0' + random() % 64);
  return text;
}

struct Lines {
  static constexpr const char* name = "text";
  static auto format() { return std::make_unique<lines::LineOrder>(lines::LineOrderTerms{}); }
  static std::string row(std::mt19937_64& random) { return printable(random, 59 + random() % 81); }
};

struct Numbers {
  static constexpr const char* name = "number";
  static auto format() {
    csv::CsvTerms terms;
    terms.keys.resize(1);
    terms.keys[0].name = "number";
    terms.keys[0].type = keys::KeyType::number;
    auto format = std::make_unique<csv::CsvFormat>(terms);
    (void)format->take_first_row("", "id,number,text");
    return format;
  }
  static std::string row(std::mt19937_64& random) {
    const std::uint64_t value = random();
    return std::to_string(random() % 1'000'000'000) + "," + (value >> 63U != 0 ? "-" : "") +
           std::to_string(value % 1'000'000'000) + "." + std::to_string(value / 1'000'000'000 % 90 + 10) + "," +
           printable(random, 8 + random() % 40);
  }
};

// A run in memory, and how far it has come.
template <class Shape>
class Run {
 public:
  Run() {
    std::mt19937_64 random(1);
    std::string text;
    while (text.size() < run_bytes) text += Shape::row(random) + '\n';
    bytes_ = text.size();
    run_.memory = memory_.allocate(2 * bytes_, "a run");
    std::memcpy(run_.bytes(), text.data(), text.size());
    run_.format = format_.get();
    enter();
  }

  [[nodiscard]] const auto& format() const { return *format_; }
  [[nodiscard]] std::size_t rows() const { return run_.count; }

  void enter() {
    run_.count = 0;
    run_.line_bytes = bytes_;
    (void)lines::index_lines(run_, *format_, 0, bytes_, SIZE_MAX, 1, none_);
  }
  void sort() { lines::sort_index(run_, *format_, 1); }
  void gather(std::byte* out) {
    lines::GatherLines gather(run_, *format_, lines::GatherLines::Checks::none);
    for (std::size_t block = 0; !gather.finished(); block = (block + 1) % blocks) {
      std::byte* const to = out + block * block_bytes;
      const auto filled = gather.fill(reinterpret_cast<char*>(to), block_bytes - run::trailer_bytes);
      run::seal_block(to, block_bytes, block, {.used_bytes = static_cast<std::uint32_t>(filled.bytes)});
    }
  }
  // The rows in their order.
  [[nodiscard]] std::string sorted() {
    std::string text;
    text.reserve(bytes_ + 2 * lines::line_slack_bytes);
    for (std::size_t i = 0; i < run_.count; ++i) {
      text += run_.line(run_.entries()[i]);
      text += '\n';
    }
    return text;
  }

 private:
  MemoryBudget memory_{~std::uint64_t{0}};
  decltype(Shape::format()) format_ = Shape::format();
  lines::LineRun run_;
  std::size_t bytes_ = 0;
  std::vector<lines::DuplicateFilter> none_;
};

void set_per_row(benchmark::State& state, std::size_t rows) {
  state.counters["per_row"] =
      benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

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
  const Pages<std::byte> out(blocks * block_bytes);
  for (auto _ : state) run.gather(out.data());
  set_per_row(state, run.rows());
}

// The end of the row that begins there, and its window.
template <class Format>
const char* find_row(const Format& format, const char* at, const char* end, records::KeyWindow& window) {
  if constexpr (requires { format.plain_row_end(at, end, window); }) {
    return format.plain_row_end(at, end, window);
  } else {
    bool is_inside = false;
    const char* const row_end = format.row_end(at, end, is_inside);
    window = format.window({at, static_cast<std::size_t>(row_end - at)});
    return row_end;
  }
}

// `use(row, window)` of all rows of a text.
template <class Format, class Use>
void find_rows(const Format& format, const std::string& text, const Use& use) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    records::KeyWindow window{};
    const char* const row_end = find_row(format, at, end, window);
    use(std::string_view(at, static_cast<std::size_t>(row_end - at)), window);
    at = row_end + 1;
  }
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

std::vector<std::unique_ptr<lines::MergeCursor>> make_cursors() {
  std::vector<std::unique_ptr<lines::MergeCursor>> cursors(merged_runs);
  for (std::size_t i = 0; i < merged_runs; ++i) {
    cursors[i] = std::make_unique<lines::MergeCursor>();
    cursors[i]->index = static_cast<std::uint32_t>(i);
  }
  return cursors;
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
  const auto cursors = make_cursors();
  for (auto _ : state) {
    std::array<std::size_t, merged_runs> next{};
    for (std::size_t i = 0; i < merged_runs; ++i) {
      cursors[i]->exhausted = false;
      cursors[i]->window = windows[i][next[i]++];
    }
    lines::MergeTree tree(run.format(), cursors);
    for (tree.build(); !tree.empty(); tree.replay()) {
      lines::MergeCursor& cursor = tree.winner();
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
  const Pages<std::byte> out(blocks * block_bytes);
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

// As a cursor of a merge continues.
template <class Format>
void go_on(const Format& format, lines::MergeCursor& cursor) {
  cursor.exhausted = cursor.at == cursor.end;
  if (cursor.exhausted) return;
  cursor.line_end = find_row(format, cursor.at, cursor.end, cursor.window);
  cursor.fetch_ahead();
}

template <class Shape>
void merge_rows(benchmark::State& state) {
  Run<Shape> run;
  run.sort();
  const std::string text = run.sorted();
  std::mt19937_64 random(2);
  std::array<std::string, merged_runs> texts;
  find_rows(run.format(), text,
            [&](std::string_view row, records::KeyWindow) { texts[random() % merged_runs].append(row) += '\n'; });
  const auto cursors = make_cursors();
  const Pages<std::byte> out(blocks * block_bytes);
  char* const begin = reinterpret_cast<char*>(out.data());
  for (auto _ : state) {
    for (std::size_t i = 0; i < merged_runs; ++i) {
      cursors[i]->at = texts[i].data();
      cursors[i]->end = texts[i].data() + texts[i].size();
      go_on(run.format(), *cursors[i]);
    }
    lines::MergeTree tree(run.format(), cursors);
    lines::LateHash hash(lines::line_kernels());
    std::size_t filled = 0;
    for (tree.build(); !tree.empty(); tree.replay()) {
      lines::MergeCursor& cursor = tree.winner();
      const lines::Text row = cursor.line();
      if (filled + row.size() + 2 * lines::copy_step > blocks * block_bytes) {
        hash.settle();
        filled = 0;
      }
      if (row.size() < lines::copy_step)
        std::memcpy(begin + filled, row.data(), lines::copy_step);
      else
        std::memcpy(begin + filled, row.data(), row.size() + 1);
      hash.add({begin + filled, row.size()});
      filled += row.size() + 1;
      cursor.at = cursor.line_end + 1;
      go_on(run.format(), cursor);
    }
    hash.settle();
    benchmark::DoNotOptimize(hash.sum());
  }
  set_per_row(state, run.rows());
}

[[maybe_unused]] const bool registered = [] {
  const auto add = [](const std::string& name, auto* step) {
    benchmark::RegisterBenchmark(name.c_str(), step)->Unit(benchmark::kMillisecond);
  };
  const auto add_shape = [&]<class Shape>(Shape) {
    const std::string shape = Shape::name;
    add("rows/" + shape + "/enter", enter_rows<Shape>);
    add("rows/" + shape + "/sort", sort_rows<Shape>);
    add("rows/" + shape + "/gather", gather_rows<Shape>);
    add("rows/" + shape + "/find", find_next<Shape>);
    add("rows/" + shape + "/choose", choose_next<Shape>);
    add("rows/" + shape + "/emit", emit_rows<Shape>);
    add("rows/" + shape + "/merge", merge_rows<Shape>);
  };
  add_shape(Lines{});
  add_shape(Numbers{});
  return true;
}();

}  // namespace
}  // namespace ecosort::bench

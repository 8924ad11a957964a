// The steps of a sort of rows by two passes, each as the sort takes it, on rows in memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "engine/rows/merge_tree.h"
#include "formats/csv/csv_format.h"
#include "formats/lines/gather_lines.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/late_hash.h"
#include "formats/lines/line_order.h"
#include "run/run_block.h"

namespace ecosort::bench {

inline constexpr std::size_t run_bytes = std::size_t{128} << 20U;              // beyond the caches
inline constexpr std::size_t block_bytes = std::size_t{1} << 20U, blocks = 8;  // that a sort with 1 GiB writes

inline std::string printable_text(std::mt19937_64& random, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('0' + random() % 64);
  return text;
}

// A shape of rows has rows, with their ends, of at least so many bytes, and their format.
template <class Make>
std::string rows_of(std::size_t bytes, Make append_row) {
  std::string text;
  while (text.size() < bytes) {
    append_row(text);
    text += '\n';
  }
  return text;
}

struct LineShape {
  static auto format() { return std::make_unique<lines::LineOrder>(lines::LineOrderTerms{}); }
  static std::string rows(std::size_t bytes) {
    std::mt19937_64 random(1);
    return rows_of(bytes, [&](std::string& text) { text += printable_text(random, 59 + random() % 81); });
  }
};

// Lines as people have them (line_input/peoples_text.h).
template <void (*append_line)(std::string&, Random&, std::uint64_t)>
struct PeoplesLines {
  static auto format() { return LineShape::format(); }
  static std::string rows(std::size_t bytes) {
    Random random(1);
    return rows_of(bytes, [&, number = std::uint64_t{0}](std::string& text) mutable { append_line(text, random, number++); });
  }
};

struct Numbers {
  static auto format() {
    csv::CsvTerms terms;
    terms.keys.resize(1);
    terms.keys[0].name = "number";
    terms.keys[0].type = ValueType::number;
    auto format = std::make_unique<csv::CsvFormat>(terms);
    (void)format->take_first_row("", "id,number,text");
    return format;
  }
  static std::string rows(std::size_t bytes) {
    std::mt19937_64 random(1);
    return rows_of(bytes, [&](std::string& text) { text += row(random); });
  }

 private:
  static std::string row(std::mt19937_64& random) {
    const std::uint64_t value = random();
    return std::to_string(random() % 1'000'000'000) + "," + (value >> 63U != 0 ? "-" : "") +
           std::to_string(value % 1'000'000'000) + "." + std::to_string(value / 1'000'000'000 % 90 + 10) + "," +
           printable_text(random, 8 + random() % 40);
  }
};

// A run in memory, and how far it has come.
template <class Shape>
class Run {
 public:
  Run() {
    const std::string text = Shape::rows(run_bytes);
    bytes_ = text.size();
    const auto rows = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    run_.memory = memory_.allocate(bytes_ + rows * lines::index_bytes_per_line + block_bytes, "a run");
    std::memcpy(run_.bytes(), text.data(), text.size());
    run_.format = format_.get();
    enter();
  }

  [[nodiscard]] const auto& format() const { return *format_; }
  [[nodiscard]] std::size_t rows() const { return run_.count; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

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

// The end of the row that begins there, and its window.
template <class Format>
const char* find_row(const Format& format, const char* at, const char* end, records::KeyWindow& window) {
  if constexpr (requires { format.plain_row_end(at, end, window); }) {
    return format.plain_row_end(at, end, window);
  } else {
    formats::Inside inside;
    const char* const row_end = format.row_end(at, end, inside);
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

// Continues as a cursor of a merge does. `last`: the row that went out last, if rows have codes.
template <class Format>
void go_on(const Format& format, const engine::rows::RowCodes* codes, Text last, engine::rows::MergeCursor& cursor) {
  cursor.exhausted = cursor.at == cursor.end;
  if (cursor.exhausted) return;
  if (codes == nullptr) {
    cursor.line_end = find_row(format, cursor.at, cursor.end, cursor.window);
  } else {
    formats::Inside inside;
    cursor.line_end = format.row_end(cursor.at, cursor.end, inside);
    const Text row = cursor.line();
    cursor.window = codes->code(row, engine::rows::RowCodes::common(row, last), cursor.keys);
  }
  cursor.fetch_ahead();
}

inline std::vector<std::unique_ptr<engine::rows::MergeCursor>> make_cursors(std::size_t runs) {
  std::vector<std::unique_ptr<engine::rows::MergeCursor>> cursors(runs);
  for (std::size_t i = 0; i < runs; ++i) {
    cursors[i] = std::make_unique<engine::rows::MergeCursor>();
    cursors[i]->index = static_cast<std::uint32_t>(i);
  }
  return cursors;
}

// The rows of a run, dealt to several runs at random, and merged again.
template <class Shape>
class RowMerge {
 public:
  // `sorted`: the rows of `run`, which stays.
  RowMerge(const Run<Shape>& run, const std::string& sorted, std::size_t runs)
      : format_(run.format()), cursors_(make_cursors(runs)), ends_(runs) {
    deal(sorted);
    choose_codes();
  }

  hash::MultisetHash operator()() {
    rewind();
    char* const begin = reinterpret_cast<char*>(out_.data());
    engine::rows::MergeTree tree(format_, cursors_);
    if (codes()) tree.use(*codes());
    lines::LateHash hash(lines::line_kernels());
    std::size_t filled = 0;
    for (tree.build(); !tree.empty(); tree.replay()) {
      engine::rows::MergeCursor& cursor = tree.winner();
      const Text row = cursor.line();
      if (filled + row.size() + 2 * lines::copy_step > blocks * block_bytes) {
        hash.settle();
        filled = 0;
      }
      if (row.size() < lines::copy_step)
        std::memcpy(begin + filled, row.data(), lines::copy_step);
      else
        std::memcpy(begin + filled, row.data(), row.size() + 1);
      const Text last(begin + filled, row.size());
      hash.add(last);
      filled += row.size() + 1;
      cursor.at = cursor.line_end + 1;
      go_on(format_, codes(), last, cursor);
    }
    hash.settle();
    return hash.sum();
  }

 private:
  using Format = std::remove_cvref_t<decltype(std::declval<const Run<Shape>&>().format())>;

  void deal(const std::string& sorted) {
    std::vector<std::string> texts(cursors_.size());
    std::mt19937_64 random(2);
    find_rows(format_, sorted,
              [&](std::string_view row, records::KeyWindow) { texts[random() % texts.size()].append(row) += '\n'; });
    runs_ = memory_.allocate(sorted.size() + 2 * lines::line_slack_bytes, "runs");
    char* at = reinterpret_cast<char*>(runs_.data());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::memcpy(at, texts[i].data(), texts[i].size());
      ends_[i] = at += texts[i].size();
    }
  }
  void rewind() {
    const char* at = reinterpret_cast<const char*>(runs_.data());
    for (std::size_t i = 0; i < ends_.size(); at = ends_[i++]) {
      cursors_[i]->at = at;
      cursors_[i]->end = ends_[i];
      go_on(format_, codes(), {}, *cursors_[i]);
    }
  }
  // Chooses as a merge does: rows have codes where neighbours begin alike.
  void choose_codes() {
    if (!engine::rows::RowCodes::can_code(format_)) return;
    rewind();
    std::vector<std::size_t> common;
    for (const auto& cursor : cursors_) {
      const Text row = cursor->line();
      formats::Inside inside;
      const char* const next = cursor->line_end + 1;
      if (next == cursor->end) continue;
      const char* const next_end = format_.row_end(next, cursor->end, inside);
      common.push_back(engine::rows::RowCodes::common(row, {next, static_cast<std::size_t>(next_end - next)}));
    }
    constexpr std::size_t least = 4;
    if (std::accumulate(common.begin(), common.end(), std::size_t{0}) < least * common.size()) return;
    codes_.emplace(format_);
    codes_->align(common);
  }
  [[nodiscard]] const engine::rows::RowCodes* codes() const noexcept { return codes_ ? &*codes_ : nullptr; }

  const Format& format_;
  std::vector<std::unique_ptr<engine::rows::MergeCursor>> cursors_;
  std::vector<const char*> ends_;                // of the runs
  std::optional<engine::rows::RowCodes> codes_;  // where they pay
  MemoryBudget memory_{~std::uint64_t{0}};
  Buffer runs_, out_ = memory_.allocate(blocks * block_bytes, "output");
};

}  // namespace ecosort::bench

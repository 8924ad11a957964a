// Other sorters of strings and a merge by common beginnings, on the lines of `rows/KIND/sort` and `rows/KIND/merge`, one thread.
//
//   sort_std   std::sort of string views
//   sort_tlx   tlx::sort_strings, of Engineering Parallel String Sorting (Bingmann, Eberle, Sanders), where PEER_DIR has `tlx`
//   merge_lcp  its loser tree of longest common prefixes, then the rows copied, where PEER_DIR has `parallel-string-sorting`, too
//              (and libnuma-dev is installed). It is given pointers and what each row shares with the one before, and hashes
//              nothing.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "peoples_lines.h"
#if __has_include(<tlx/sort/strings.hpp>)
#include <tlx/sort/strings.hpp>
#define HAS_TLX 1
#endif
#if HAS_TLX && __has_include(<sequential/bingmann-lcp_losertree.hpp>) && __has_include(<numa.h>)
#include <sequential/bingmann-lcp_losertree.hpp>
#include <tools/stringptr.hpp>
#include <tools/stringtools.hpp>
#define HAS_LCP_TREE 1
#endif

namespace ecosort::bench {
namespace {

using View = std::string_view;

std::vector<View> views_of(const std::string& text, char end) {
  std::vector<View> views;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t row_end = text.find(end, at);
    views.emplace_back(text.data() + at, row_end - at);
    at = row_end + 1;
  }
  return views;
}

template <class Shape>
void sort_std(benchmark::State& state) {
  const std::string text = Shape::rows(run_bytes);
  const std::vector<View> rows = views_of(text, '\n');
  std::vector<View> sorted;
  for (auto _ : state) {
    state.PauseTiming();
    sorted = rows;
    state.ResumeTiming();
    std::ranges::sort(sorted);
  }
  set_per_row(state, rows.size());
}

#ifdef HAS_TLX
// Rows that end with a zero, as both peers want them.
class ZeroEnded {
 public:
  explicit ZeroEnded(std::string text) : text_(std::move(text)) {
    std::ranges::replace(text_, '\n', '\0');
    for (const View row : views_of(text_, '\0')) rows_.push_back(reinterpret_cast<unsigned char*>(const_cast<char*>(row.data())));
  }
  [[nodiscard]] const std::vector<unsigned char*>& rows() const noexcept { return rows_; }

 private:
  std::string text_;
  std::vector<unsigned char*> rows_;
};

bool are_sorted(const std::vector<unsigned char*>& rows) {
  return std::ranges::is_sorted(rows, [](const unsigned char* a, const unsigned char* b) {
    return View(reinterpret_cast<const char*>(a)) < View(reinterpret_cast<const char*>(b));
  });
}

template <class Shape>
void sort_tlx(benchmark::State& state) {
  const ZeroEnded input(Shape::rows(run_bytes));
  std::vector<unsigned char*> sorted;
  for (auto _ : state) {
    state.PauseTiming();
    sorted = input.rows();
    state.ResumeTiming();
    tlx::sort_strings(sorted.data(), sorted.size());
  }
  if (!are_sorted(sorted)) state.SkipWithError("not in order");
  set_per_row(state, sorted.size());
}
#endif

#ifdef HAS_LCP_TREE
// Sorted rows dealt to runs at random, the rows of a run behind one another, each with what it shares with the one before.
class LcpRuns {
 public:
  explicit LcpRuns(const ZeroEnded& input) : texts_(merged_runs), rows_(merged_runs), shared_(merged_runs), next_(merged_runs) {
    std::vector<unsigned char*> sorted = input.rows();
    tlx::sort_strings(sorted.data(), sorted.size());
    std::mt19937_64 random(2);
    for (const unsigned char* row : sorted) texts_[random() % merged_runs].append(reinterpret_cast<const char*>(row)) += '\0';
    for (std::size_t i = 0; i < merged_runs; ++i) {
      for (const View row : views_of(texts_[i], '\0')) {
        auto* const begin = reinterpret_cast<unsigned char*>(const_cast<char*>(row.data()));
        shared_[i].push_back(rows_[i].empty() ? 0 : stringtools::calc_lcp(rows_[i].back(), begin));
        next_[i].push_back(begin[shared_[i].back()]);
        rows_[i].push_back(begin);
      }
    }
  }
  // Returns what the tree reads.
  [[nodiscard]] std::vector<stringtools::LcpCacheStringPtr> streams() {
    std::vector<stringtools::LcpCacheStringPtr> streams;
    for (std::size_t i = 0; i < merged_runs; ++i)
      streams.emplace_back(rows_[i].data(), shared_[i].data(), next_[i].data(), rows_[i].size());
    return streams;
  }

 private:
  std::vector<std::string> texts_;
  std::vector<std::vector<unsigned char*>> rows_;
  std::vector<std::vector<stringtools::lcp_t>> shared_;
  std::vector<std::vector<unsigned char>> next_;  // bytes behind what is shared
};

template <class Shape>
void merge_lcp(benchmark::State& state) {
  constexpr std::size_t leaves = 64, batch = 1024;  // rows that are copied while they are in the cache
  const ZeroEnded input(Shape::rows(run_bytes));
  LcpRuns runs(input);
  const std::size_t count = input.rows().size();
  std::vector<unsigned char*> merged(count);
  const LargePages<char> out(blocks * block_bytes);
  for (auto _ : state) {
    const std::vector<stringtools::LcpCacheStringPtr> streams = runs.streams();
    bingmann::LcpCacheStringLoserTree<leaves> tree(streams.data(), streams.size());
    for (std::size_t done = 0, filled = 0; done < count; done += batch) {
      const std::size_t end = std::min(done + batch, count);
      tree.writeElementsToStream(&merged[done], end - done);
      for (std::size_t i = done; i < end; ++i) {
        const std::size_t size = std::strlen(reinterpret_cast<const char*>(merged[i])) + 1;
        if (filled + size > out.size()) filled = 0;
        std::memcpy(out.data() + filled, merged[i], size);
        filled += size;
      }
    }
  }
  if (!are_sorted(merged)) state.SkipWithError("not in order");
  set_per_row(state, count);
}
#endif

[[maybe_unused]] const bool registered = [] {
  for_peoples_lines([]<class Shape>(const std::string& kind, Shape) {
    add_step(kind + "/sort_std", sort_std<Shape>);
#ifdef HAS_TLX
    add_step(kind + "/sort_tlx", sort_tlx<Shape>);
#endif
#ifdef HAS_LCP_TREE
    add_step(kind + "/merge_lcp", merge_lcp<Shape>);
#endif
  });
  return true;
}();

}  // namespace
}  // namespace ecosort::bench

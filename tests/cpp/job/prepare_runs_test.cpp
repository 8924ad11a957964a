// Runs that somebody made on purpose: whatever is in their blocks, behind checksums that are right, is no more believed than the
// contents of any file.
#include "job/prepare_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/errors.h"
#include "engine/phase_log.h"
#include "engine/progress.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/line_order.h"
#include "formats/lines/line_run.h"
#include "io/backends.h"
#include "run/description.h"
#include "run/order_bytes.h"

namespace ecosort::job {
namespace {

using run::Description;
using testing::HasSubstr;

constexpr std::uint64_t MiB = std::uint64_t{1} << 20U;

Description of_rows(const formats::RowFormat& format, const std::string& text) {
  Description d;
  d.format = format.format();
  d.head_bytes = d.block_bytes = 4096;
  d.job = 99;
  d.bytes = text.size();
  d.order = format.order_bytes();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    d.longest = std::max<std::uint64_t>(d.longest, end + 1 - at);
    lines::add_line(d.hash, std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  d.longest = std::min(d.longest, d.bytes);
  return d;
}

class PrepareRuns : public testing::Test {
 protected:
  PrepareRuns() : place_(std::filesystem::temp_directory_path() / ("ecosort-runs-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(place_);
  }
  ~PrepareRuns() override { std::filesystem::remove_all(place_); }
  PrepareRuns(const PrepareRuns&) = delete;
  PrepareRuns& operator=(const PrepareRuns&) = delete;

  // The text in blocks as they should be.
  std::string write(const Description& d, const std::string& text) const {
    std::vector<std::byte> file = run::encode(d);
    for (std::uint64_t block = 0; block < d.blocks(); ++block) {
      std::vector<std::byte> data(d.block_bytes);
      const auto used = static_cast<std::uint32_t>(d.used_bytes(block));
      std::memcpy(data.data(), text.data() + block * (d.block_bytes - run::trailer_bytes), used);
      run::seal_block(data.data(), data.size(), run::run_seed(d.job, d.run) + block, {used, 0});
      file.insert(file.end(), data.begin(), data.end());
    }
    const std::string path = place_ / ("run-" + std::to_string(d.run));
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    return path;
  }

  // Returns what the merge of these runs gives; or the line of its error.
  [[nodiscard]] std::string merged(const std::vector<std::string>& paths) const {
    const std::string out = place_ / "out";
    try {
      Request request;
      request.inputs = paths;
      request.place.output = out;
      request.means.memory_bytes = 2 * MiB;
      request.means.threads = 2;
      io::PosixStorage storage;
      PreparedRuns prepared = prepare_runs(request, {}, storage);
      const io::Backend backend = io::make_queue(io::BackendChoice::pool, 40);
      engine::Progress progress;
      engine::PhaseLog log{""};
      const std::atomic<int> nothing = 0;
      (void)engine::rows::sort_lines(prepared.rows.value().job, {storage, *backend.queue, progress, log, nothing});
    } catch (const Error& error) {
      EXPECT_FALSE(std::filesystem::exists(out));
      return error.what();
    }
    std::ifstream file(out, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(out);
    return text;
  }

  const jsonl::JsonlFormat json_{{.keys = {{"n", ValueType::number, false}}, .date_format = ""}};
  const lines::LineOrder lines_{{}};
  const std::filesystem::path place_;
};

TEST_F(PrepareRuns, RowsThatAreAsTheyShouldBeAreMerged) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "{\"n\": " + std::to_string(i) + ", \"s\": \"" + std::string(i % 50, 'x') + "\"}\n";
  EXPECT_EQ(merged({write(of_rows(json_, text), text)}), text);
}

TEST_F(PrepareRuns, RowsThatAreNoneAreRefused) {
  for (const std::string bad :
       {"{\"n\": 5, \"s\": \"", "[[[[", "{\"n\"", "\"", "{\"n\": 1}}", "{\"n\" 1}", "{\"a\": {\"n\": 2}"}) {
    const std::string text = "{\"n\": 1}\n" + bad + "\n{\"n\": 9}\n";
    EXPECT_THAT(merged({write(of_rows(json_, text), text)}), HasSubstr("line 2")) << bad;
  }
}

TEST_F(PrepareRuns, RowsOutOfOrderAreRefused) {
  const std::string text = "b\na\nc\n";
  EXPECT_THAT(merged({write(of_rows(lines_, text), text)}), HasSubstr("would not be in order"));
}

TEST_F(PrepareRuns, RowsThatAreOthersThanDescribedAreRefused) {
  const std::string text = "a\nb\nc\n";
  Description d = of_rows(lines_, text);
  ++d.hash.low;
  EXPECT_THAT(merged({write(d, text)}), HasSubstr("verification failed"));
  d = of_rows(lines_, text);
  d.hash.count = 2;
  EXPECT_THAT(merged({write(d, text)}), HasSubstr("verification failed"));
}

// The stated length of the longest row is a hint that a mere reader does not need.
TEST_F(PrepareRuns, ALengthThatIsWrongDoesNoHarm) {
  std::string text;
  for (const char c : std::string("abcdefghij")) text += std::string(20'000, c) + '\n';
  for (const std::uint64_t longest : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{text.size()}}) {
    Description d = of_rows(lines_, text);
    d.longest = longest;
    EXPECT_EQ(merged({write(d, text)}), text);
  }
}

TEST_F(PrepareRuns, ALastRowThatLacksItsEndGetsOne) {
  const std::string text = "a\nb\nc";
  EXPECT_EQ(merged({write(of_rows(lines_, text), text)}), text + "\n");
}

TEST_F(PrepareRuns, RunsWithBlocksOfDifferentSizesGoTogether) {
  std::string a, b, both;
  for (int i = 10'000; i < 20'000; ++i) {
    (i % 3 == 0 ? a : b) += std::to_string(i) + "\n";
    both += std::to_string(i) + "\n";
  }
  Description x = of_rows(lines_, a), y = of_rows(lines_, b);
  y.block_bytes = 16'384;
  y.run = y.position = 1;
  EXPECT_EQ(merged({write(x, a), write(y, b)}), both);
}

}  // namespace
}  // namespace ecosort::job

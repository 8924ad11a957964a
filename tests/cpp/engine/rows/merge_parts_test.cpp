// The last merge of lines in parts: where runs are cut, what becomes of pages that two parts share, and the sort as a whole under
// faults in one of its parts.
#include "engine/rows/merge_parts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/errors.h"
#include "base/random.h"
#include "cpp/support/line_words.h"
#include "cpp/support/test_environment.h"
#include "cpp/support/watchdog.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"
#include "doubles/memory_store.h"
#include "engine/rows/lines_sort.h"
#include "engine/rows/merge_lines.h"
#include "engine/rows/output_parts.h"
#include "engine/rows/split_runs.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"

namespace ecosort::engine::rows {
namespace {

using Run = std::vector<std::string>;

constexpr std::uint64_t memory_bytes = std::uint64_t{4} << 20U;
constexpr unsigned depth = 40;

// A disk in memory, and what a merge works with.
class Bench {
 public:
  explicit Bench(const std::vector<std::string>& words = {}, std::uint64_t seed = 1, std::uint64_t capacity_bytes = UINT64_MAX)
      : order(lines::order_of_words(words)),
        store(io::DiskImage{}, {.seed = seed, .capacity_bytes = capacity_bytes, .records_events = false}),
        queue(store.make_queue(depth)),
        plan(planner::plan_lines(memory_bytes, 0, SIZE_MAX, false)),
        desk({store, *queue, progress, log, interrupted}, {memory_bytes, 0, plan.read_depth, plan.write_depth}),
        pool(reactor.scope(), of_blocks.allocate(plan.write_bytes(), "write blocks"), plan.block_bytes, plan.write_blocks) {
    store.make_directory("/disk");
    files = std::make_unique<run::RowRuns>(store, reactor, std::vector<std::string>{"/disk"}, plan.block_bytes, "");
  }

  void run(Task<void> task) {
    TaskGroup group(reactor.scope());
    group.spawn(std::move(task));
    reactor.run(group, interrupted);
  }

  [[nodiscard]] RowTools tools() { return {{desk, plan, order}, *files, pool}; }

  [[nodiscard]] std::vector<MergeInput> store_runs(const std::vector<Run>& runs) {
    std::vector<MergeInput> inputs;
    for (const Run& lines : runs) {
      inputs.emplace_back();
      run(store_run(lines, inputs.back().run));
    }
    return inputs;
  }

  // Overwrites the blocks of a run with those of another one, as far as both go.
  void overwrite(const run::RowRun& to, const run::RowRun& from) {
    const Buffer block = memory.allocate(plan.block_bytes, "a block");
    for (std::uint64_t i = 0; i < std::min(to.blocks(plan.block_bytes), from.blocks(plan.block_bytes)); ++i) {
      run(files->read(from.stored, i, block.data(), plan.block_bytes));
      run(files->write_block(to, i, block.data()));
    }
  }

  const lines::LineOrder order;
  const std::atomic<int> interrupted{0};
  io::MemoryStore store;
  std::unique_ptr<io::Queue> queue;
  planner::LinePlan plan;
  Progress progress;
  PhaseLog log{""};
  engine::Bench desk;
  MemoryBudget& memory = desk.memory;
  io::Reactor& reactor = desk.reactor;
  MemoryBudget of_blocks{memory_bytes};
  BlockPool pool;
  std::unique_ptr<run::RowRuns> files;

 private:
  Task<void> store_run(const Run& lines, run::RowRun& stored) {
    std::string text;
    std::size_t longest = 0;
    for (const std::string& line : lines) {
      text += line + '\n';
      longest = std::max(longest, line.size() + 1);
    }
    stored = files->create(text.size());
    stored.longest = longest;
    stored.lines = lines.size();
    const Buffer block = memory.allocate(plan.block_bytes, "a block");
    const std::size_t payload = plan.block_bytes - run::trailer_bytes;
    for (std::uint64_t number = 0; number < stored.blocks(plan.block_bytes); ++number) {
      const std::string part = text.substr(number * payload, payload);
      part.copy(reinterpret_cast<char*>(block.data()), part.size());
      const std::size_t at = number * payload;
      const bool begins_here = at == 0 || text[at - 1] == '\n';
      const std::size_t carried = begins_here ? 0 : std::min(text.find('\n', at) + 1 - at, part.size());
      files->seal(files->run(stored.stored), number, block.data(),
                  {static_cast<std::uint32_t>(part.size()), static_cast<std::uint32_t>(carried)});
      co_await files->write_block(stored, number, block.data());
    }
  }
};

std::string random_text(Random& random, std::size_t least, std::size_t most) {
  std::string text;
  for (std::uint64_t size = least + random.below(most - least + 1); size > 0; --size)
    text += static_cast<char>('a' + random.below(26));
  return text;
}

struct Kind {
  const char* name;
  std::function<std::string(Random&, std::size_t run)> line;
  std::vector<std::size_t> run_bytes;
};

std::vector<Kind> kinds() {
  const std::vector<std::size_t> alike(9, 150'000);
  const auto some = [](Random& random, std::size_t) { return random_text(random, 0, 80); };
  return {
      {"random", some, alike},
      {"one run", some, {300'000}},
      {"two runs", some, {200'000, 400'000}},
      {"runs of all sizes", some, {10, 200'000, 90'000, 1, 16'000, 300'000, 30'000}},
      {"all equal", [](Random&, std::size_t) { return std::string("the same line again"); }, alike},
      {"few", [](Random& random, std::size_t) { return std::to_string(random.below(3)); }, alike},
      {"sorted", [](Random& random, std::size_t run) { return std::to_string(10 + run) + random_text(random, 3, 50); }, alike},
      {"reverse", [](Random& random, std::size_t run) { return std::to_string(90 - run) + random_text(random, 3, 50); }, alike},
      {"long",
       [](Random& random, std::size_t) {
         return random.below(50) == 0 ? random_text(random, 8000, 8180) : random_text(random, 0, 30);
       },
       alike},
      {"empty lines", [](Random& random, std::size_t) { return std::string(random.below(2), ' '); }, alike},
  };
}

std::vector<Run> make_runs(const Kind& kind, const lines::LineOrder& order, std::uint64_t seed) {
  Random random(seed);
  std::vector<Run> runs;
  for (const std::size_t bytes : kind.run_bytes) {
    Run run;
    for (std::size_t made = 0; made < bytes; made += run.back().size() + 1) run.push_back(kind.line(random, runs.size()));
    std::ranges::stable_sort(run, [&](const std::string& a, const std::string& b) { return order.compare(a, b) < 0; });
    runs.push_back(std::move(run));
  }
  return runs;
}

// Every line of a run lies whole on one side, and on the right one; of equal lines those on the left come first, by run and
// place.
void check_cut(const SplitRuns& split, unsigned part, const std::vector<Run>& runs, const lines::LineOrder& order) {
  const std::string splitter(split.splitter(part));
  bool is_right = false;  // an equal line before this one went there
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::uint64_t cut = split.ranges(part)[i].end;
    ASSERT_EQ(split.ranges(part + 1)[i].begin, cut);
    std::uint64_t at = 0;
    bool is_border = cut == 0;
    for (const std::string& line : runs[i]) {
      const int relation = order.compare(line, splitter);
      ASSERT_TRUE(at < cut ? relation <= 0 : relation >= 0) << "run " << i << " byte " << at << " cut " << cut;
      if (relation == 0) {
        ASSERT_FALSE(is_right && at < cut) << "run " << i << " byte " << at << " cut " << cut;
        is_right = at >= cut;
      }
      at += line.size() + 1;
      is_border |= at == cut;
    }
    ASSERT_TRUE(is_border) << "run " << i << " is cut within a line";
  }
}

void check_split(const Kind& kind, unsigned parts, const std::vector<std::string>& words) {
  SCOPED_TRACE(kind.name + std::string(", parts: ") + std::to_string(parts) + (words.empty() ? "" : words.front()));
  Bench bench(words, parts);
  const std::vector<Run> runs = make_runs(kind, bench.order, parts);
  std::vector<MergeInput> inputs = bench.store_runs(runs);
  ASSERT_TRUE(SplitRuns::can_split(bench.plan, inputs));
  SplitRuns split(bench.tools(), inputs, parts);
  bench.run(split.split());
  std::uint64_t total = 0;
  for (unsigned part = 0; part < parts; ++part) total += split.bytes(part);
  std::uint64_t bytes = 0;
  for (const MergeInput& input : inputs) bytes += input.run.bytes;
  ASSERT_EQ(total, bytes);
  for (unsigned part = 0; part + 1 < parts; ++part) check_cut(split, part, runs, bench.order);
  for (unsigned part = 0; part < parts; ++part) {
    EXPECT_GE(split.bytes(part), total / parts / 2) << part;
    EXPECT_LE(split.bytes(part), total / parts * 2) << part;
  }
  EXPECT_EQ(bench.memory.used_bytes(), SplitRuns::kept_bytes(inputs, parts));
  EXPECT_LE(bench.memory.peak_bytes(), SplitRuns::search_bytes(bench.plan, inputs, parts) + page_bytes);
}

TEST(LineSplitters, CutRunsBetweenLinesInTheOrderOfTheMergeAndEvenly) {
  const std::vector<std::vector<std::string>> options{{}, {std::string("-r")}, {std::string("-s"), std::string("-k1.2,1.2")}};
  std::size_t turn = 0;
  for (const Kind& kind : kinds()) {
    for (const unsigned parts : {2U, 3U, 4U})
      for (const std::vector<std::string>& words : options)
        if (turn++ % 4 == 0 || is_soak()) check_split(kind, parts, words);  // nine of a kind: each comes in another order
  }
}

// Reads are what the search costs.
TEST(LineSplitters, AreFoundWithFewReadsOfEachRun) {
  Bench bench;
  Kind random = kinds().front();
  random.run_bytes.assign(8, 800'000);
  std::vector<MergeInput> inputs = bench.store_runs(make_runs(random, bench.order, 3));
  const std::uint64_t before = bench.reactor.traffic().bytes_read;
  SplitRuns split(bench.tools(), inputs, 2);
  bench.run(split.split());
  EXPECT_LE(bench.reactor.traffic().bytes_read - before, inputs.size() * 6 * bench.plan.block_bytes);
}

TEST(LineSplitters, NoticeADamagedBlock) {
  Bench bench;
  std::vector<MergeInput> inputs = bench.store_runs(make_runs(kinds().front(), bench.order, 4));
  bench.overwrite(inputs[5].run, inputs[4].run);
  SplitRuns split(bench.tools(), inputs, 2);
  EXPECT_THROW(bench.run(split.split()), IoError);
}

// Puts a text into a sink as a merge does.
Task<void> fill(PartSink& sink, const std::string& text) {
  const std::string bytes = std::string(sink.lead(), '?') + text;
  std::size_t done = 0;
  do {
    std::byte* const block = co_await sink.take();
    const std::size_t size = std::min(sink.capacity(), bytes.size() - done);
    bytes.copy(reinterpret_cast<char*>(block), size, done);
    sink.complete(block, {.used_bytes = static_cast<std::uint32_t>(size)}, 0);
    sink.put(block, size);
    done += size;
  } while (done < bytes.size());
  co_await sink.settle();
}

Task<void> write_parts(Bench& bench, const io::File& file, const std::vector<std::string>& texts) {
  std::vector<std::uint64_t> borders;
  std::uint64_t end = 0;
  for (const std::string& text : texts) {
    if (&text != &texts.front()) borders.push_back(end);
    end += text.size();
  }
  BorderPages pages(bench.memory, file, borders, end);
  std::vector<std::unique_ptr<PartSink>> sinks;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < texts.size(); begin += texts[i++].size())
    sinks.push_back(
        std::make_unique<PartSink>(bench.tools(), file, pages, ByteRange{begin, begin + texts[i].size()}, i + 1 == texts.size()));
  TaskGroup group(bench.reactor.scope());
  for (std::size_t i = 0; i < texts.size(); ++i) group.spawn(fill(*sinks[i], texts[i]));
  co_await group.join();
  for (const auto& sink : sinks) sink->check_complete();
  co_await pages.write(bench.reactor);
}

TEST(PartsOfTheOutput, StandBehindEachOtherWhateverTheirSizes) {
  Random random(5);
  const std::size_t sizes[] = {0, 1, 100, 4095, 4096, 4097, 8192, 20'000, 100'000};
  for (int round = 0; round < 200; ++round) {
    const io::Caching caching = round % 4 == 0 ? io::Caching::buffered : io::Caching::direct_if_possible;
    Bench bench({}, static_cast<std::uint64_t>(round) + 1);
    const io::FilePtr file = bench.store.create_named("/disk/out", io::Role::output, caching);
    std::vector<std::string> texts;
    std::string all;
    for (std::uint64_t parts = 1 + random.below(5); parts > 0; --parts) {
      std::size_t size = sizes[random.below(std::size(sizes))] + random.below(10);
      if (random.below(3) == 0) size = round_up(all.size() + size, page_bytes) - all.size();  // ends with a page
      texts.push_back(random_text(random, size, size));
      all += texts.back();
    }
    bench.run(write_parts(bench, *file, texts));
    bench.store.set_size(*file, all.size());
    ASSERT_EQ(bench.store.contents("/disk/out"), all) << round;
  }
}

TEST(PartsOfTheOutput, MustBeWhatTheyWereSaidToBe) {
  Bench bench;
  const io::FilePtr file = bench.store.create_named("/disk/out", io::Role::output, io::Caching::direct_if_possible);
  BorderPages pages(bench.memory, *file, {5000}, 10'000);
  PartSink sink(bench.tools(), *file, pages, {5000, 10'000}, true);
  bench.run(fill(sink, std::string(4999, 'x')));
  EXPECT_THROW(sink.check_complete(), InternalError);
  const std::byte byte{};
  EXPECT_THROW(pages.keep(0, &byte, 1), InternalError);
  EXPECT_THROW(pages.keep(8192, &byte, 1), InternalError);
  EXPECT_THROW(bench.run(pages.write(bench.reactor)), InternalError);
}

constexpr std::uint64_t MiB = std::uint64_t{1} << 20U, ahead_end = 40 * MiB + 100;

// Returns what is allocated when writes have come to each of the places.
std::vector<std::uint64_t> taken_ahead(Bench& bench, io::Caching caching, const std::vector<std::uint64_t>& places,
                                       const ByteRange& part = {0, ahead_end}) {
  const io::FilePtr file = bench.store.create_named("/disk/out", io::Role::output, caching);
  SpaceAhead ahead(bench.desk, *file, part, ahead_end);
  std::vector<std::uint64_t> taken;
  for (const std::uint64_t place : places) {
    TaskGroup tasks(bench.reactor.scope());
    ahead.reach(place, tasks);
    bench.reactor.run(tasks, bench.interrupted);
    taken.push_back(bench.store.allocated_bytes());
  }
  EXPECT_EQ(ahead.has_taken(), taken.back() > 0);
  return taken;
}

TEST(SpaceAhead, IsTakenInStepsUpToTheEnd) {
  constexpr io::Caching direct = io::Caching::direct_if_possible;
  const std::uint64_t end = round_up(ahead_end, page_bytes);
  Bench bench;
  EXPECT_THAT(taken_ahead(bench, direct, {0, 7 * MiB, 9 * MiB, 24 * MiB, 25 * MiB, 39 * MiB}),
              testing::ElementsAre(16 * MiB, 16 * MiB, 32 * MiB, 32 * MiB, end, end));
  Bench late;
  EXPECT_THAT(taken_ahead(late, direct, {24 * MiB, 33 * MiB}, {24 * MiB, ahead_end}),
              testing::ElementsAre(16 * MiB, end - 24 * MiB));
}

TEST(SpaceAhead, IsNotTakenWhereItGainsNothingOrOthersMayLackIt) {
  constexpr io::Caching direct = io::Caching::direct_if_possible;
  Bench cached, few, full({}, 1, ahead_end - 5000);
  EXPECT_THAT(taken_ahead(cached, io::Caching::buffered, {0}), testing::ElementsAre(0));
  EXPECT_THAT(taken_ahead(few, direct, {0}, {0, 15 * MiB}), testing::ElementsAre(0));
  EXPECT_THAT(taken_ahead(full, direct, {0, 16 * MiB}), testing::ElementsAre(0, 0));
}

// The rows of the last run that is left go out in pieces, which are compared as single rows are: behind each other, and at their
// borders.
TEST(RowsOfOneRun, AreRefusedWhereverTheyAreOutOfOrder) {
  constexpr std::size_t rows = 20'000;
  for (const std::string rest : {"", " behind what a window holds"}) {
    for (const std::size_t wrong : {std::size_t{0}, std::size_t{1}, rows / 3, rows - 2, rows}) {
      Bench bench;
      std::vector<std::string> run;
      for (std::size_t i = 0; i < rows; ++i) run.push_back(std::to_string(100'000 + i) + rest);
      if (wrong < rows) std::swap(run[wrong], run[wrong + 1]);
      std::string text;
      for (const std::string& row : run) text += row + '\n';
      std::vector<MergeInput> inputs = bench.store_runs({run, {}});
      const io::FilePtr file = bench.store.create_named("/disk/out", io::Role::output, io::Caching::direct_if_possible);
      BorderPages pages(bench.memory, *file, {}, text.size());
      PartSink sink(bench.tools(), *file, pages, {0, text.size()}, true);
      MergeLines merge(bench.tools(), {}, inputs, 2);
      if (wrong < rows) {
        EXPECT_THROW(bench.run(merge.merge_to(sink, "")), VerificationError) << wrong << rest;
        continue;
      }
      bench.run(merge.merge_to(sink, ""));
      bench.store.set_size(*file, text.size());
      EXPECT_EQ(bench.store.contents("/disk/out"), text);
      EXPECT_EQ(merge.merged().out.count, rows);
      EXPECT_EQ(merge.merged().longest, 7 + rest.size());
    }
  }
}

std::string random_words(Random& random) {
  constexpr std::string_view words[] = {"compression ", "of temporary ", "runs which ", "are shorter ", "than before "};
  std::string text;
  for (std::uint64_t count = random.below(11); count > 0; --count) text += words[random.below(5)];
  return text + std::to_string(random.below(1000));
}

struct Case {
  Format kind;
  codec::BlockTerms packing{};  // of runs
};

// A whole sort in two parts, on a disk in memory: of lines, or of rows of CSV with newlines and quotes in their values.
class WholeSort {
 public:
  // Made once by a process: all tests of a case sort the same.
  static const WholeSort& of(const Case& what) {
    static std::map<std::tuple<Format, codec::BlockCodec, int>, WholeSort> made;
    const std::tuple key{what.kind, what.packing.codec, static_cast<int>(what.packing.level)};
    return made.try_emplace(key, what).first->second;
  }
  explicit WholeSort(const Case& what) : kind_(what.kind), packing_(what.packing) {
    Random random(6);
    std::vector<std::string> lines;
    for (int i = 0; i < 40'000; ++i) lines.push_back(is_packed() ? random_words(random) : random_text(random, 0, 120));
    input_ = join(lines);
    std::ranges::sort(lines);
    output_ = join(lines);
  }

  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] bool is_packed() const { return packing_.codec != codec::BlockCodec::none; }

  // Runs the sort; throws what it throws, after a look at what it left.
  LinesReport run(const std::string& faults, std::uint64_t seed, std::string& written, bool rereads = false) const {
    io::MemoryStore store(io::make_image({{"/disk/in", input_}}), {.seed = seed, .records_events = false});
    const std::unique_ptr<io::Queue> below = store.make_queue(depth);
    io::FaultPlan plan(io::parse_faults(faults));
    io::FaultyQueue queue(*below, plan);
    io::FaultyStorage storage(store, plan);
    LinesJob job;
    job.plan = planner::plan_lines(std::uint64_t{2} << 20U, 2, SIZE_MAX, false);
    job.inputs.emplace_back();
    job.inputs.back().name = "/disk/in";
    job.inputs.back().open(store);
    job.output = "/disk/out";
    job.directories = {"/disk"};
    job.format = make_format();
    job.header_bytes = 4096;
    job.reread = rereads;
    if (is_packed())
      job.codecs.runs = {.wanted = {false, packing_},
                         .coders = 2,
                         .index_bytes = std::uint64_t{64} << 10U,
                         .coder_bytes = 2 * run::PackedBlockCoder::memory_bytes(packing_, {job.plan.block_bytes})};
    Progress progress;
    PhaseLog log("");
    const std::atomic<int> nothing{0};
    try {
      LinesReport report = sort_lines(job, {storage, queue, progress, log, nothing});
      written = store.contents("/disk/out");
      EXPECT_LE(report.peak_memory_bytes, job.plan.memory_bytes + job.header_bytes + job.codecs.bytes());
      EXPECT_EQ(report.run_packing && report.run_packing->packed_blocks > 0, is_packed());
      return report;
    } catch (const Error&) {
      EXPECT_FALSE(store.exists("/disk/out"));
      EXPECT_EQ(store.open_files(), 1U);  // the input
      throw;
    }
  }

 private:
  [[nodiscard]] std::unique_ptr<formats::RowFormat> make_format() const {
    if (kind_ == Format::lines) return std::make_unique<lines::LineOrder>(lines::order_of_words({}));
    if (kind_ == Format::jsonl) {
      jsonl::JsonlTerms terms;
      terms.keys = {ValueKey("key")};
      return std::make_unique<jsonl::JsonlFormat>(terms);
    }
    csv::CsvTerms terms;
    terms.keys = {ValueKey("key")};
    return std::make_unique<csv::CsvFormat>(terms);
  }

  [[nodiscard]] std::string join(const std::vector<std::string>& lines) const {
    std::string text = kind_ == Format::csv ? "rest,key\n" : "";
    for (const std::string& line : lines) text += row_of(line);
    return text;
  }
  [[nodiscard]] std::string row_of(const std::string& line) const {
    if (kind_ == Format::csv) return "\"\n,\"\"" + line.substr(0, 9) + "\",\"" + line + ",\n\"\n";
    if (kind_ == Format::jsonl) return "{\"rest\": [" + std::to_string(line.size()) + "],\"key\":\"" + line + "\"}\n";
    return line + '\n';
  }

  Format kind_;
  codec::BlockTerms packing_;
  std::string input_, output_;
};

std::string name_of(const testing::TestParamInfo<Case>& one) {
  const Format kind = one.param.kind;
  const codec::BlockCodec codec = one.param.packing.codec;
  return std::string(kind == Format::csv     ? "csv"
                     : kind == Format::jsonl ? "jsonl"
                                             : "lines") +
         (codec == codec::BlockCodec::none     ? ""
          : codec == codec::BlockCodec::prefix ? "_truncated"
                                               : "_packed");
}

constexpr Case all_cases[]{{Format::lines},
                           {Format::csv, {codec::BlockCodec::zstd, 1}},
                           {Format::jsonl, {codec::BlockCodec::prefix, 0}},
                           {Format::csv},
                           {Format::jsonl},
                           {Format::lines, {codec::BlockCodec::lz4, 0}},
                           {Format::lines, {codec::BlockCodec::prefix, 0}},
                           {Format::csv, {codec::BlockCodec::prefix, 0}}};

class RowsInParts : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Formats, RowsInParts, testing::ValuesIn(all_cases), name_of);

// Rows hardly change what becomes of the output: three cases have each format and each way to keep runs.
class OutputOfParts : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Formats, OutputOfParts,
                         testing::ValuesIn(std::begin(all_cases), is_soak() ? std::end(all_cases) : all_cases + 3), name_of);

// The output and its name were synced by then, as those of records.
TEST_P(OutputOfParts, AreThereThoughTheOutputCannotBeClosed) {
  const WholeSort& sort = WholeSort::of(GetParam());
  std::string written;
  const LinesReport report = sort.run("output:close:1:EIO", 1, written);
  EXPECT_EQ(written, sort.output());
  EXPECT_THAT(report.notices, testing::Contains(testing::HasSubstr("the output is complete and was synced before")));
}

TEST_P(RowsInParts, AreSortedWhateverTheOrderOfRequests) {
  const WholeSort& sort = WholeSort::of(GetParam());
  Watchdog watchdog("");
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    watchdog.next("seed " + std::to_string(seed));
    std::string written;
    const LinesReport report = sort.run(seed == 3 ? "output:write:1:short=512:persistent" : "", seed, written);
    EXPECT_EQ(report.merge_parts, 2U);
    EXPECT_GT(report.runs, 2U);
    ASSERT_EQ(written, sort.output());
  }
}

TEST_P(OutputOfParts, AreReadBackWhereThatIsAsked) {
  const WholeSort& sort = WholeSort::of(GetParam());
  std::string written;
  const LinesReport report = sort.run("", 1, written, true);
  EXPECT_EQ(written, sort.output());
  const std::uint64_t without = sort.run("", 1, written).traffic.bytes_read, size = sort.output().size();
  EXPECT_GT(report.traffic.bytes_read, without + size * 99 / 100);
  EXPECT_LT(report.traffic.bytes_read, without + size * 101 / 100);
}

// A drive that says it has written what it has not, or that reads something else. Whole pages are told apart by half of
// them: the output may begin with hundreds of empty lines, whose exchange changes nothing.
TEST_P(OutputOfParts, ThatCameOutOtherThanTheyWereAreNoticedWhenTheyAreReadBack) {
  const WholeSort& sort = WholeSort::of(GetParam());
  for (const std::string fault : {"output:write:1:flip", "output:write:9:lost", "output:write:5:repeat=2048",
                                  "output:read:1:flip", "output:read:2:swap=2048"}) {
    std::string written;
    try {
      (void)sort.run(fault, 1, written, true);
      ADD_FAILURE() << fault;
    } catch (const VerificationError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("what was read back from the output is not what was written to it")) << fault;
    }
  }
}

// One part fails: the other one ends, too, and nothing is left. Numbers beyond the requests there are would not fail.
TEST_P(RowsInParts, EndWithTheFirstErrorAndLeaveNothing) {
  const WholeSort& sort = WholeSort::of(GetParam());
  Watchdog watchdog("");
  std::vector<std::string> faults;
  for (const int nth : is_soak() ? std::vector{1, 9, 25, 60, 150, 200} : std::vector{1, 25, 200}) {
    faults.push_back("run:read:" + std::to_string(nth) + ":EIO");
    faults.push_back("run:read:" + std::to_string(nth) + ":flip");
    faults.push_back("output:write:" + std::to_string(nth) + ":ENOSPC");
  }
  for (const std::string& fault : faults) {
    watchdog.next(fault);
    std::string written;
    EXPECT_THROW(sort.run(fault, 1, written), IoError) << fault;
  }
}

}  // namespace
}  // namespace ecosort::engine::rows

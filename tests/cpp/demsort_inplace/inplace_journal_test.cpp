// The journal of an in-place job: what was appended comes back, and what was torn counts as never written.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "cpp/demsort_inplace/inplace_harness.h"
#include "demsort_inplace/journal.h"
#include "hash/block_checksum.h"

namespace ecosort::demsort_inplace {

namespace {

// A journal on a disk in memory, which can be opened anew from any image.
class Bench {
 public:
  explicit Bench(io::DiskImage image = {}) : disk_(std::move(image), {.records_events = false}), reactor_(*disk_.queue, 2, 2) {
    file_ = disk_.store.exists(path) ? disk_.store.open_named(path, io::Role::journal, io::Caching::direct_if_possible)
                                     : disk_.store.create_named(path, io::Role::journal, io::Caching::direct_if_possible);
    journal_.emplace(reactor_, *file_);
  }

  void run(Task<void> task) {
    const std::atomic<int> nothing{0};
    TaskGroup group(reactor_.scope());
    group.spawn(std::move(task));
    reactor_.run(group, nothing);
  }
  void create(const JobHeader& header) { run(journal_->create(header)); }
  template <class Record>
  void append(const Record& record) {
    run(journal_->append(record));
  }
  [[nodiscard]] std::optional<JournalContents> open() {
    std::optional<JournalContents> contents;
    const auto read = [&]() -> Task<void> { contents = co_await journal_->open(); };
    run(read());
    return contents;
  }
  [[nodiscard]] std::string bytes() const { return disk_.store.contents(path); }

  static constexpr const char* path = "/journal";

 private:
  MemoryMachine disk_;
  io::Reactor reactor_;
  io::FilePtr file_;
  std::optional<Journal> journal_;
};

std::optional<JournalContents> reopen(const std::string& bytes) { return Bench(io::make_image({{Bench::path, bytes}})).open(); }

JobHeader header_of(std::uint64_t runs, std::size_t keys = 1) {
  SmallJob job{.format = {1'200, {}},
               .records = runs * 10,
               .piece_records = 10,
               .run_block_bytes = 8'192,
               .memory_bytes = std::uint64_t{1} << 30U};
  constexpr RecordKeyType types[] = {RecordKeyType::bytes, RecordKeyType::nocase, RecordKeyType::dec,
                                     RecordKeyType::unsigned_integer, RecordKeyType::signed_integer};
  for (std::uint32_t i = 0; i < keys; ++i) job.format.keys.push_back({i, 1, i % 2 == 0, types[i % 5], i % 3 == 0});
  return job.header();
}

RunDone run_done(std::uint64_t run) {
  RunDone done{.run = run, .tally = {}};
  done.tally.hash = {run * 3 + 1, run * 5 + 2, 10};
  done.tally.checksum.sum = make_uint128(run, 7);
  return done;
}

State state_at(std::uint64_t records, std::uint64_t runs, State::Kind kind = State::Kind::merging) {
  State state{.kind = kind, .records = records, .hash = {records, records + 1, records}};
  for (std::uint64_t run = 0; run < runs; ++run) state.consumed.push_back((records + run) % 10);
  return state;
}

void expect_same(const State& a, const State& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.records, b.records);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.consumed, b.consumed);
  EXPECT_EQ(a.tail, b.tail);
}

}  // namespace

TEST(InPlaceJournal, TheHeaderKeepsWhatAResumableSortMustRemember) {
  JobHeader header = header_of(3);
  header.kind = JobHeader::Kind::resumable_sort;
  header.layout.keeps_runs = true;
  header.reread = true;
  header.threads = 5;
  header.inputs = {{"/a/first", 17, 12'000, -5}, {std::string(5'000, 'x'), 18, 24'000, 1'700'000'000'000'000'001}};
  Bench bench;
  bench.create(header);
  bench.append(run_done(0));
  const auto contents = reopen(bench.bytes());
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->header.kind, header.kind);
  EXPECT_EQ(contents->header.inputs, header.inputs);
  EXPECT_TRUE(contents->header.layout.keeps_runs);
  EXPECT_TRUE(contents->header.reread);
  EXPECT_EQ(contents->header.threads, 5U);
  EXPECT_EQ(contents->runs.size(), 1U);
}

TEST(InPlaceJournal, WhatWasAppendedComesBack) {
  // One run; as many as need several blocks for a state; keys that need several blocks for the header.
  for (const auto& [runs, keys] : {std::pair{1UL, 1UL}, std::pair{7UL, 3UL}, std::pair{1'500UL, 400UL}}) {
    const JobHeader header = header_of(runs, keys);
    Bench bench;
    bench.create(header);
    EXPECT_EQ(bench.bytes().size(), Journal::size_bytes(header));
    for (std::uint64_t run = 0; run < runs; ++run) bench.append(run_done(run));
    State last;
    for (std::uint64_t records = 1; records <= 9; ++records) {
      last = state_at(records, runs);
      if (records == 9) last.tail.assign(4'095, std::byte{0x5a});
      bench.append(last);
    }
    EXPECT_EQ(bench.bytes().size(), Journal::size_bytes(header)) << "appending takes no space";
    const auto contents = reopen(bench.bytes());
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->header.job, header.job);
    EXPECT_EQ(contents->header.format.keys, header.format.keys);
    EXPECT_EQ(contents->header.memory_bytes, header.memory_bytes);
    EXPECT_EQ(contents->header.layout.total_bytes(), header.layout.total_bytes());
    ASSERT_EQ(contents->runs.size(), runs);
    for (std::uint64_t run = 0; run < runs; ++run) {
      EXPECT_EQ(contents->runs[run].tally.hash, run_done(run).tally.hash);
      EXPECT_EQ(contents->runs[run].tally.checksum, run_done(run).tally.checksum);
    }
    ASSERT_TRUE(contents->state);
    expect_same(*contents->state, last);
  }
}

TEST(InPlaceJournal, WhoOpensItGoesOnWhereItEnded) {
  Bench first;
  first.create(header_of(2));
  first.append(run_done(0));
  Bench second(io::make_image({{Bench::path, first.bytes()}}));
  EXPECT_EQ(second.open()->runs.size(), 1U);
  second.append(run_done(1));
  for (std::uint64_t records = 1; records < 4; ++records) second.append(state_at(records, 2));
  Bench third(io::make_image({{Bench::path, second.bytes()}}));
  EXPECT_EQ(third.open()->state->records, 3U);
  third.append(state_at(4, 2, State::Kind::merged));
  expect_same(*reopen(third.bytes())->state, state_at(4, 2, State::Kind::merged));
}

// The records before the block that was being written last hold, whatever a crash makes of it.
TEST(InPlaceJournal, ATornLastRecordCountsAsNeverWritten) {
  const JobHeader header = header_of(3);
  Bench bench;
  bench.create(header);
  std::vector<std::string> after{bench.bytes()};
  for (std::uint64_t run = 0; run < 3; ++run) {
    bench.append(run_done(run));
    after.push_back(bench.bytes());
  }
  for (std::uint64_t records = 1; records <= 6; ++records) {
    bench.append(state_at(records, 3));
    after.push_back(bench.bytes());
  }
  for (std::size_t i = 1; i < after.size(); ++i) {
    const std::string& before = after[i - 1];
    for (std::size_t at = 0; at < before.size(); ++at) {
      if (before[at] == after[i][at]) continue;
      std::string torn = after[i];
      torn[at] = static_cast<char>(torn[at] ^ 0x40);
      const auto contents = reopen(torn);
      ASSERT_TRUE(contents);
      ASSERT_EQ(contents->runs.size(), std::min<std::size_t>(i - 1, 3)) << "byte " << at;
      if (i <= 4)
        ASSERT_FALSE(contents->state);
      else
        ASSERT_EQ(contents->state->records, i - 4) << "byte " << at;
    }
  }
}

TEST(InPlaceJournal, WithoutAValidHeaderThereIsNoJob) {
  EXPECT_FALSE(reopen(""));
  EXPECT_FALSE(reopen(std::string(3, 'x')));
  EXPECT_FALSE(reopen(std::string(100'000, '\0')));
  EXPECT_FALSE(reopen(std::string(100'000, '\xff')));
  Bench bench;
  bench.create(header_of(2));
  for (std::size_t at = 0; at < 32 + 14 * 8; ++at) {
    std::string damaged = bench.bytes();
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(reopen(damaged)) << "byte " << at;
  }
}

// The program that began such a job can end it, this version cannot: its states are elsewhere.
TEST(InPlaceJournal, AnOlderFormatIsRefusedWithWhatToDo) {
  Bench bench;
  bench.create(header_of(2));
  std::string bytes = bench.bytes();
  constexpr std::size_t frame = 32, checksum = 8;
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + frame - sizeof size, sizeof size);
  bytes[frame] = 5;
  const std::uint64_t sum =
      hash::block_checksum(reinterpret_cast<const std::byte*>(bytes.data()) + checksum, frame - checksum + size, 0);
  std::memcpy(bytes.data(), &sum, sizeof sum);
  try {
    (void)reopen(bytes);
    FAIL() << "it was taken for one of this format";
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("finish the job with the version that began it"));
  }
}

TEST(InPlaceJournal, AJobOfLinesComesBackFromAJournalThatGrew) {
  JobHeader header{.job = 77, .kind = JobHeader::Kind::resumable_lines};
  header.layout.unit = page_bytes;
  header.layout.keeps_runs = true;
  header.lines = LineTerms{.command = "csv",
                           .request = R"({"schema": "ecosort.request/1"})",
                           .mark_bytes = 3,
                           .first_row = "a,\"b\nc\"",
                           .block_bytes = 8192,
                           .most_merged = 900,
                           .run_places = 3};
  header.layout.packs = true;
  header.layout.assumed_ratio = 2'500;
  header.compression = {true, {codec::BlockCodec::zstd, 3}};
  Bench bench;
  bench.create(header);
  for (std::uint64_t run = 0; run < 8; ++run) {
    RunDone done = run_done(run);
    done.lines = LineRunDone{
        .bytes = run + 5, .longest = run + 6, .next = {1, run, 2, '\r'}, .dropped = {4, 5, run}, .is_header = run == 0};
    done.packed_bytes = run * page_bytes;
    done.lines->blank_lines = 17 + run;
    done.lines->key_counts = {{run, 2, 1}, {3, 4, 2, run / 7}};
    done.lines->repeated_header = {run, "/in", 9};
    if (run > 5) {
      done.lines->first = 1;
      done.lines->merged = 2;
    }
    bench.append(done);
  }
  State last = state_at(5, 900);
  last.lines = LineState{.bytes = 123, .last_row = 45, .blank_lines = 6, .dropped = {7, 8, 9}};
  bench.append(state_at(4, 900));
  bench.append(last);
  EXPECT_EQ(bench.bytes().size(), Journal::size_bytes(header) + 6 * page_bytes);
  const auto contents = reopen(bench.bytes());
  ASSERT_TRUE(contents);
  ASSERT_TRUE(contents->header.lines);
  EXPECT_EQ(contents->header.lines->command, "csv");
  EXPECT_EQ(contents->header.lines->mark_bytes, 3U);
  EXPECT_EQ(contents->header.lines->first_row, header.lines->first_row);
  EXPECT_EQ(contents->header.lines->request, header.lines->request);
  EXPECT_FALSE(contents->header.lines->old);
  EXPECT_EQ(contents->header.lines->most_merged, 900U);
  EXPECT_TRUE(contents->header.layout.packs);
  EXPECT_EQ(contents->header.layout.assumed_ratio, 2'500U);
  EXPECT_TRUE(contents->header.compression.is_auto);
  EXPECT_EQ(contents->header.compression.terms, header.compression.terms);
  EXPECT_EQ(contents->runs[7].packed_bytes, 7 * page_bytes);
  ASSERT_EQ(contents->runs.size(), 8U);
  const LineRunDone& run = contents->runs[7].lines.value();
  EXPECT_EQ(run.bytes, 12U);
  EXPECT_EQ(run.longest, 13U);
  EXPECT_EQ(run.next, (engine::rows::ReadPlace{1, 7, 2, '\r'}));
  EXPECT_EQ(run.blank_lines, 24U);
  ASSERT_EQ(run.key_counts.size(), 2U);
  EXPECT_EQ(run.key_counts[0].empty, 7U);
  EXPECT_EQ(run.key_counts[1].unparsable, 4U);
  EXPECT_EQ(run.key_counts[1].absent, 2U);
  EXPECT_EQ(run.key_counts[1].repeated, 1U);
  EXPECT_EQ(contents->runs[6].lines->key_counts[1].repeated, 0U);
  EXPECT_EQ(run.repeated_header.rows, 7U);
  EXPECT_EQ(run.repeated_header.input, "/in");
  EXPECT_EQ(run.repeated_header.line, 9U);
  EXPECT_EQ(run.dropped, (hash::MultisetHash{4, 5, 7}));
  EXPECT_EQ(run.merged, 2U);
  EXPECT_FALSE(run.is_header);
  EXPECT_TRUE(contents->runs[0].lines->is_header);
  ASSERT_TRUE(contents->state);
  expect_same(*contents->state, last);
  EXPECT_EQ(contents->state->lines->bytes, 123U);
  EXPECT_EQ(contents->state->lines->last_row, 45U);
  EXPECT_EQ(contents->state->lines->blank_lines, 6U);
  EXPECT_EQ(contents->state->lines->dropped, last.lines->dropped);
}

// A program of format 9 wrote it so: words where the request is now, and their rules and salt behind the first row.
TEST(InPlaceJournal, AJobThatAnOlderProgramBeganHasItsWords) {
  JobHeader header{.job = 79, .kind = JobHeader::Kind::resumable_lines};
  header.layout.unit = page_bytes;
  header.layout.keeps_runs = true;
  header.lines = LineTerms{.command = "csv", .request = "REQUEST", .mark_bytes = 3, .block_bytes = 8192, .most_merged = 9};
  std::vector<std::byte> bytes = encode(header);
  const auto text_of = [](const std::vector<std::string>& texts) {
    ByteWriter out;
    for (const std::string& text : texts) out.add(text);
    return out.take();
  };
  const std::vector<std::byte> request = text_of({"REQUEST"});
  const auto at = std::ranges::search(bytes, request).begin();
  ASSERT_NE(at, bytes.end());
  ByteWriter old;
  old.append(bytes.data(), static_cast<std::size_t>(at - bytes.begin()));
  old.add(std::uint64_t{2});
  const std::vector<std::byte> words = text_of({"--by", "a file"});
  old.append(words.data(), words.size());
  constexpr std::size_t mark_and_no_row = 2 * sizeof(std::uint64_t);
  const std::byte* const behind = &*at + request.size();
  old.append(behind, mark_and_no_row);
  for (const std::uint64_t rule : {1U, 0U}) old.add(rule);
  old.add(std::string(16, '\x7f'));
  old.append(behind + mark_and_no_row, static_cast<std::size_t>(bytes.data() + bytes.size() - behind) - mark_and_no_row);
  bytes = old.take();
  bytes.front() = std::byte{9};
  const JobHeader found = decode_header(bytes);
  ASSERT_TRUE(found.lines && found.lines->old);
  EXPECT_EQ(found.lines->command, "csv");
  EXPECT_EQ(found.lines->request, "");
  EXPECT_EQ(found.lines->old->words, (std::vector<std::string>{"--by", "a file"}));
  EXPECT_EQ(found.lines->old->rules, (lines::PosixRules{true, false}));
  EXPECT_EQ(found.lines->old->salt[15], 0x7f);
  EXPECT_EQ(found.lines->mark_bytes, 3U);
  EXPECT_EQ(found.lines->most_merged, 9U);
  bytes.front() = std::byte{8};
  EXPECT_THROW((void)decode_header(bytes), IoError);
}

// A program of format 10 wrote it so: its runs keep no keys, so that they are read for these.
TEST(InPlaceJournal, AJobThatAnOlderProgramBeganKeepsNoKeys) {
  const JobHeader header = small_jobs().front().header();
  ASSERT_GT(header.layout.key_stride, 0U);
  std::vector<std::byte> bytes = encode(header);
  EXPECT_EQ(decode_header(bytes).layout.key_stride, header.layout.key_stride);
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  bytes.front() = std::byte{10};
  const JobHeader found = decode_header(bytes);
  EXPECT_EQ(found.layout.key_stride, 0U);
  EXPECT_EQ(found.layout.head_bytes, header.layout.head_bytes);
}

TEST(InPlaceJournal, AJobOfLinesInPlaceKnowsItsSpace) {
  JobHeader header{.job = 78, .kind = JobHeader::Kind::lines_in_place, .inputs = {{.path = "/f", .size_bytes = 9}}};
  header.layout.unit = page_bytes;
  header.lines = LineTerms{.block_bytes = 8192, .most_merged = 5, .run_places = 5, .total_bytes = 123'456'789};
  Bench bench;
  bench.create(header);
  const auto contents = reopen(bench.bytes());
  ASSERT_TRUE(contents);
  EXPECT_TRUE(contents->header.is_in_place());
  EXPECT_EQ(contents->header.lines.value().total_bytes, 123'456'789U);
  EXPECT_EQ(contents->header.inputs.front().size_bytes, 9U);
}

TEST(InPlaceJournal, RecordsOfAnotherJobAreNone) {
  JobHeader header = header_of(2);
  Bench ours;
  ours.create(header);
  header.job ^= 1;
  Bench theirs;
  theirs.create(header);
  theirs.append(run_done(0));
  std::string mixed = theirs.bytes();
  mixed.replace(0, 4096, ours.bytes(), 0, 4096);
  EXPECT_TRUE(reopen(mixed)->runs.empty());
}

}  // namespace ecosort::demsort_inplace

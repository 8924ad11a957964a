#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "cpp/io/test_support.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"
#include "doubles/memory_store.h"
#include "io/counting_queue.h"

namespace ecosort::io {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t block = 4096;
constexpr unsigned depth = 8;

struct Fixture {
  MemoryStore store{DiskImage{}, {.completes_in_order = true}};
  std::unique_ptr<Queue> queue = store.make_queue(depth);
};

std::int64_t perform(Queue& queue, const IoRequest& request) {
  queue.submit(request);
  std::vector<Completion> out;
  while (out.empty()) queue.wait(out, true);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].tag, request.tag);
  return out[0].result;
}

}  // namespace

TEST(CountingQueue, CountsRequestsBytesAndFailuresByRoleAndOperation) {
  Fixture io;
  CountingQueue queue(*io.queue, depth);
  const FilePtr run = io.store.create_unnamed("/", Role::run, Caching::buffered);
  const FilePtr out = io.store.create_unnamed("/", Role::output, Caching::buffered);
  const File closed(-1, {.role = Role::input, .path = "closed"});
  const AlignedBuffer buffer(pattern(2 * block));
  EXPECT_EQ(perform(queue, {Operation::write, run.get(), 0, 2 * block, buffer.data(), 1}), 8192);
  EXPECT_EQ(perform(queue, {Operation::read, run.get(), block, 2 * block, buffer.data(), 2}), 4096);
  EXPECT_EQ(perform(queue, {Operation::write, out.get(), 0, 100, buffer.data(), 3}), 100);
  EXPECT_EQ(perform(queue, {Operation::read, &closed, 0, 100, buffer.data(), 4}), -EBADF);
  EXPECT_EQ(perform(queue, {Operation::release, run.get(), 0, block, nullptr, 5}), 0);
  const IoCounts counts = queue.counts();
  EXPECT_EQ(counts.of(Role::run, Operation::write).bytes, 2 * block);
  EXPECT_EQ(counts.of(Role::run, Operation::read).bytes, block) << "what was moved, not what was asked for";
  EXPECT_EQ(counts.of(Role::run, Operation::release).bytes, block);
  EXPECT_EQ(counts.of(Role::input, Operation::read).failed, 1u);
  EXPECT_EQ(counts.of(Role::input, Operation::read).bytes, 0u);
  EXPECT_EQ(counts.bytes(Operation::write), 2 * block + 100);
  EXPECT_STREQ(queue.backend_name(), "memory");
}

TEST(CountingQueue, KnowsHowManyAreInFlightAndHowLongNoneWas) {
  Fixture io;
  CountingQueue queue(*io.queue, depth);
  const FilePtr run = io.store.create_unnamed("/", Role::run, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  EXPECT_EQ(queue.counts().idle.count(), 0) << "nothing was submitted yet";
  for (std::uint64_t tag = 0; tag < 3; ++tag) queue.submit({Operation::write, run.get(), tag * block, block, buffer.data(), tag});
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(queue.counts().in_flight, 3u);
  EXPECT_EQ(queue.counts().idle.count(), 0);
  std::vector<Completion> out;
  queue.wait(out, true);
  EXPECT_EQ(out.size(), 3u);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const IoCounts counts = queue.counts();
  EXPECT_EQ(counts.in_flight, 0u);
  EXPECT_EQ(counts.most_in_flight, 3u);
  EXPECT_GE(counts.idle, std::chrono::milliseconds(30));
  EXPECT_LT(counts.idle, std::chrono::seconds(20));
}

TEST(CountingQueue, TellsEveryRequestToTheSinkInOrder) {
  Fixture io;
  std::vector<std::string> trace;
  CountingQueue queue(*io.queue, depth, [&](const TraceEvent& event) {
    trace.push_back(std::string(to_string(event.role)) + std::to_string(event.file_id) + " " + to_string(event.operation) + " " +
                    std::to_string(event.offset) + "+" + std::to_string(event.size) + " #" + std::to_string(event.order) +
                    " with " + std::to_string(event.in_flight));
  });
  const FilePtr run = io.store.create_unnamed("/", Role::run, Caching::buffered);
  const FilePtr out = io.store.create_unnamed("/", Role::output, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  queue.submit({Operation::write, run.get(), 0, block, buffer.data(), 1});
  queue.submit({Operation::write, out.get(), block, 100, buffer.data(), 2});
  std::vector<Completion> done;
  queue.wait(done, true);
  queue.submit({Operation::sync, out.get(), 0, 0, nullptr, 3});
  queue.wait(done, true);
  EXPECT_THAT(trace,
              ElementsAre("run1 write 0+4096 #0 with 0", "output2 write 4096+100 #1 with 1", "output2 sync 0+0 #2 with 0"));
}

TEST(FaultPlan, IsReadFromText) {
  const std::vector<Fault> faults = parse_faults(
      "run:write:3:ENOSPC:once,input:read:1:short=1000:persistent,output:rename:2:SIGKILL,"
      "journal:write:4:zero,output:write:5:swap=100,run:read:6:decay:persistent");
  ASSERT_EQ(faults.size(), 6u);
  EXPECT_EQ(faults[0].role, Role::run);
  EXPECT_EQ(faults[0].point, FaultPoint::write);
  EXPECT_EQ(faults[0].nth, 3u);
  EXPECT_EQ(faults[0].effect.kind, Effect::Kind::error);
  EXPECT_EQ(faults[0].effect.number, ENOSPC);
  EXPECT_FALSE(faults[0].is_persistent);
  EXPECT_EQ(faults[1].effect.kind, Effect::Kind::short_count);
  EXPECT_EQ(faults[1].effect.bytes, 1000u);
  EXPECT_TRUE(faults[1].is_persistent);
  EXPECT_EQ(faults[2].effect.kind, Effect::Kind::signal);
  EXPECT_EQ(faults[2].effect.number, SIGKILL);
  EXPECT_EQ(faults[3].effect.kind, Effect::Kind::short_count);
  EXPECT_EQ(faults[3].effect.bytes, 0u);
  EXPECT_EQ(faults[4].effect.kind, Effect::Kind::alteration);
  EXPECT_EQ(faults[4].effect.alteration, Alteration::swap);
  EXPECT_EQ(faults[4].effect.bytes, 100u);
  EXPECT_EQ(faults[5].effect.alteration, Alteration::decay);
  EXPECT_TRUE(parse_faults("").empty());
}

TEST(FaultPlan, EveryPointHasANameThatIsReadBack) {
  for (std::size_t i = 0; i < fault_point_count; ++i) {
    const auto point = static_cast<FaultPoint>(i);
    EXPECT_EQ(parse_faults(std::string("run:") + to_string(point) + ":1:EIO").at(0).point, point);
  }
  for (const Operation operation : {Operation::read, Operation::write, Operation::sync, Operation::release, Operation::reserve})
    EXPECT_STREQ(to_string(fault_point(operation)), to_string(operation));
}

TEST(FaultPlan, TextThatIsNoFaultIsShownWithTheForm) {
  for (const char* text :
       {"run:write:3", "run:write:0:EIO", "run:write:x:EIO", "tape:write:1:EIO", "run:melt:1:EIO", "run:write:1:EBOGUS",
        "run:write:1:EIO:twice", "run:sync:1:short=3", "run:write:1:short=0", "run:sync:1:flip", "run:read:1:lost",
        "run:write:1:decay", "run:write:1:swap=0", "run:write:1:repeat", "run:write:1:EIO,", "run:write:1:SIGBOGUS"})
    EXPECT_THAT(line_of<UsageError>([&] { (void)parse_faults(text); }), HasSubstr("run:write:3:ENOSPC")) << text;
}

TEST(FaultyQueue, TheNthRequestOfARoleFailsOnceOrFromThenOn) {
  for (const bool persistent : {false, true}) {
    Fixture io;
    FaultPlan plan(parse_faults(persistent ? "run:write:2:EIO:persistent" : "run:write:2:EIO"));
    FaultyQueue queue(*io.queue, plan);
    const FilePtr run = io.store.create_unnamed("/", Role::run, Caching::buffered);
    const FilePtr out = io.store.create_unnamed("/", Role::output, Caching::buffered);
    const AlignedBuffer buffer(pattern(block));
    const auto write = [&](const FilePtr& file) {
      return perform(queue, {Operation::write, file.get(), 0, block, buffer.data(), 9});
    };
    EXPECT_EQ(write(run), 4096);
    EXPECT_EQ(write(out), 4096) << "another role";
    EXPECT_EQ(write(out), 4096);
    EXPECT_EQ(plan.fired(), 0u);
    EXPECT_EQ(write(run), -EIO);
    EXPECT_EQ(write(run), persistent ? -EIO : 4096);
    EXPECT_EQ(plan.seen(Role::run, FaultPoint::write), 3u);
    EXPECT_EQ(plan.fired(), persistent ? 2u : 1u);
  }
}

TEST(FaultyQueue, AFailedWriteLeavesTheFileAlone) {
  Fixture io;
  FaultPlan plan(parse_faults("run:write:1:ENOSPC"));
  FaultyQueue queue(*io.queue, plan);
  const FilePtr run = io.store.create_named("/r", Role::run, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  EXPECT_EQ(perform(queue, {Operation::write, run.get(), 0, block, buffer.data(), 9}), -ENOSPC);
  EXPECT_EQ(io.store.contents("/r"), "");
}

TEST(FaultyQueue, BehindAWriteOnAStreamThatFailsNothingIsWrittenUntilThatIsKnown) {
  Fixture io;
  FaultPlan plan(parse_faults("output:write:2:EIO"));
  FaultyQueue queue(*io.queue, plan);
  const File stream(-1, {.role = Role::output, .path = "(pipe)", .is_stream = true});
  const FilePtr other = io.store.create_unnamed("/", Role::run, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  for (std::uint64_t tag = 1; tag <= 3; ++tag) queue.submit({Operation::write, &stream, 0, block, buffer.data(), tag});
  queue.submit({Operation::write, other.get(), 0, block, buffer.data(), 4});
  std::vector<Completion> out;
  while (out.size() < 4) queue.wait(out, true);
  std::map<std::uint64_t, std::int64_t> results;
  for (const Completion& completion : out) results[completion.tag] = completion.result;
  // The store in memory has no streams: -EBADF is what reached it.
  EXPECT_EQ(results, (std::map<std::uint64_t, std::int64_t>{{1, -EBADF}, {2, -EIO}, {3, -EIO}, {4, 4096}}));
  EXPECT_EQ(perform(queue, {Operation::write, &stream, 0, block, buffer.data(), 5}), -EBADF);
}

TEST(FaultyQueue, ShortCountsRespectTheAlignmentAndAlwaysMakeProgress) {
  Fixture io;
  FaultPlan plan(parse_faults("run:write:1:short=1300:persistent,run:read:1:short=1:persistent"));
  FaultyQueue queue(*io.queue, plan);
  const FilePtr direct = io.store.create_unnamed("/", Role::run, Caching::direct_if_possible);
  const FilePtr buffered = io.store.create_unnamed("/", Role::run, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  EXPECT_EQ(perform(queue, {Operation::write, direct.get(), 0, block, buffer.data(), 1}), 1024);
  EXPECT_EQ(perform(queue, {Operation::write, buffered.get(), 0, block, buffer.data(), 1}), 1300);
  EXPECT_EQ(perform(queue, {Operation::write, buffered.get(), 0, 7, buffer.data(), 1}), 7) << "never longer than asked for";
  EXPECT_EQ(perform(queue, {Operation::read, direct.get(), 0, block, buffer.data(), 1}), 512);
  EXPECT_EQ(perform(queue, {Operation::read, buffered.get(), 0, block, buffer.data(), 1}), 1);
}

TEST(FaultyQueue, ZeroAndErrorsCompleteAmongOthersInFlight) {
  Fixture io;
  FaultPlan plan(parse_faults("run:write:2:zero,run:write:3:EINTR"));
  FaultyQueue queue(*io.queue, plan);
  const FilePtr run = io.store.create_unnamed("/", Role::run, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  for (std::uint64_t tag = 1; tag <= 4; ++tag)
    queue.submit({Operation::write, run.get(), tag * block, block, buffer.data(), tag});
  std::vector<Completion> out;
  while (out.size() < 4) queue.wait(out, true);
  std::map<std::uint64_t, std::int64_t> results;
  for (const Completion& completion : out) results[completion.tag] = completion.result;
  EXPECT_EQ(results, (std::map<std::uint64_t, std::int64_t>{{1, 4096}, {2, 0}, {3, -EINTR}, {4, 4096}}));
}

TEST(FaultyQueue, AlteredDataIsReportedAsMoved) {
  const std::string text = pattern(2 * block);
  std::string flipped = text;
  flipped[block] = static_cast<char>(flipped[block] ^ 1);
  const std::vector<std::pair<const char*, std::string>> alterations{
      {"flip", flipped},
      {"swap=300", text.substr(300, 300) + text.substr(0, 300) + text.substr(600)},
      {"repeat=300", text.substr(0, 300) + text.substr(0, 300) + text.substr(600)},
      {"swap=5000", text}};  // does not fit twice
  for (const auto& [effect, altered] : alterations) {
    for (const std::string operation : {"write", "read"}) {
      Fixture io;
      FaultPlan plan(parse_faults("run:" + operation + ":1:" + effect));
      FaultyQueue queue(*io.queue, plan);
      const FilePtr run = io.store.create_named("/r", Role::run, Caching::buffered);
      const AlignedBuffer source(text), target(text.size());
      EXPECT_EQ(perform(queue, {Operation::write, run.get(), 0, text.size(), source.data(), 1}), 8192);
      EXPECT_EQ(perform(queue, {Operation::read, run.get(), 0, text.size(), target.data(), 2}), 8192);
      EXPECT_EQ(io.store.contents("/r"), operation == "write" ? altered : text) << effect;
      EXPECT_EQ(target.text(text.size()), altered) << operation << " " << effect;
      EXPECT_EQ(plan.fired(), 1u);
    }
  }
}

TEST(FaultyQueue, ALostWriteLeavesTheFileAlone) {
  Fixture io;
  FaultPlan plan(parse_faults("run:write:1:lost"));
  FaultyQueue queue(*io.queue, plan);
  const FilePtr run = io.store.create_named("/r", Role::run, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  EXPECT_EQ(perform(queue, {Operation::write, run.get(), 0, block, buffer.data(), 9}), 4096);
  EXPECT_EQ(io.store.contents("/r"), "");
}

TEST(FaultyQueue, WhatDecaysIsReadWellAndChangesOnceTheReaderHasWaitedAgain) {
  Fixture io;
  FaultPlan plan(parse_faults("input:read:1:decay"));
  FaultyQueue queue(*io.queue, plan);
  const FilePtr run = io.store.create_named("/r", Role::run, Caching::buffered);
  const std::string text = pattern(2 * block);
  const AlignedBuffer source(text), target(text.size());
  const auto write = [&] { return perform(queue, {Operation::write, run.get(), 0, text.size(), source.data(), 1}); };
  EXPECT_EQ(write(), 8192);
  const FilePtr input = io.store.open_input("/r", Caching::buffered);
  EXPECT_EQ(perform(queue, {Operation::read, input.get(), 0, text.size(), target.data(), 2}), 8192);
  EXPECT_EQ(target.text(text.size()), text);
  EXPECT_EQ(write(), 8192);  // may be the answer to what was read
  EXPECT_EQ(target.text(text.size()), text);
  EXPECT_EQ(write(), 8192);
  std::string decayed = text;
  for (const std::size_t at : {block - 1, 2 * block - 1}) decayed[at] = static_cast<char>(decayed[at] ^ 0x80);
  EXPECT_EQ(target.text(text.size()), decayed);
}

TEST(FaultyQueue, ASignalIsRaisedAndTheRequestIsServed) {
  static volatile std::sig_atomic_t seen;
  seen = 0;
  const auto before = std::signal(SIGUSR1, [](int) { seen = 1; });
  Fixture io;
  FaultPlan plan(parse_faults("run:write:1:SIGUSR1"));
  FaultyQueue queue(*io.queue, plan);
  const FilePtr run = io.store.create_unnamed("/", Role::run, Caching::buffered);
  const AlignedBuffer buffer(pattern(block));
  EXPECT_EQ(perform(queue, {Operation::write, run.get(), 0, block, buffer.data(), 1}), 4096);
  std::signal(SIGUSR1, before);
  EXPECT_EQ(seen, 1);
}

namespace {

// One pass over every call of both seams that has a fault point, in a store of its own.
void use_everything(NamedStorage& storage) {
  FilePtr input = storage.open_input("/in", Caching::buffered);
  (void)storage.state(*input);
  FilePtr run = storage.create_unnamed("/", Role::run, Caching::buffered);
  if (!storage.reserve(*run, 0, block)) throw IoError("not reserved", EOPNOTSUPP);
  FilePtr out = storage.create_unnamed("/", Role::output, Caching::buffered);
  storage.set_size(*out, 100);
  storage.sync(*out);
  (void)storage.publish(*out, "/out");
  storage.close(std::move(out));
  storage.close(std::move(run));
  storage.close(std::move(input));
  storage.make_directory("/job");
  FilePtr journal = storage.create_named("/job/journal", Role::journal, Caching::buffered);
  storage.close(std::move(journal));
  journal = storage.open_named("/job/journal", Role::journal, Caching::buffered);
  storage.rename("/job/journal", "/job/old");
  storage.rename_new("/job/old", "/job/older");
  storage.sync_directory("/job");
  (void)storage.list("/job");
  storage.remove("/job/older");
  storage.remove_directory("/job");
}

}  // namespace

TEST(FaultyStorage, EveryCallCanFailAndSaysWhichAndWhere) {
  const std::vector<std::pair<std::string, std::string>> calls{{"input:open", "'/in'"},
                                                               {"input:state", "'/in'"},
                                                               {"run:create", "'/'"},
                                                               {"run:reserve", "(unnamed run)"},
                                                               {"output:create", "'/'"},
                                                               {"output:set_size", "unnamed"},
                                                               {"output:sync", "unnamed"},
                                                               {"output:attributes", "'/out'"},
                                                               {"output:link", "'/out'"},
                                                               {"output:rename", "'/out'"},
                                                               {"output:sync_directory", "'/out'"},
                                                               {"output:close", "unnamed"},
                                                               {"run:close", "unnamed"},
                                                               {"input:close", "'/in'"},
                                                               {"journal:create", "journal'"},
                                                               {"journal:close", "journal'"},
                                                               {"journal:open", "journal'"},
                                                               {"journal:rename", "'/job/old"},
                                                               {"journal:sync_directory", "'/job'"},
                                                               {"journal:list", "'/job'"},
                                                               {"journal:remove", "'/job/older'"},
                                                               {"journal:make_directory", "'/job'"},
                                                               {"journal:remove_directory", "'/job'"}};
  for (const auto& [address, path] : calls) {
    const bool replaces = address == "output:rename";  // a new output takes its name without one
    MemoryStore store(replaces ? make_image({{"/in", "data"}, {"/out", "old"}}) : make_image({{"/in", "data"}}));
    FaultPlan plan(parse_faults(address + ":1:EIO"));
    FaultyStorage storage(store, plan);
    const std::string line = line_of<IoError>([&] { use_everything(storage); });
    EXPECT_THAT(line, HasSubstr("Input/output error")) << address;
    EXPECT_THAT(line, HasSubstr(path)) << address;
    EXPECT_EQ(plan.fired(), 1u) << address;
    EXPECT_EQ(store.open_files(), 0u) << address;
    if (address.starts_with("output:") && address != "output:close") {
      EXPECT_EQ(store.exists("/out") ? store.contents("/out") : "none", replaces ? "old" : "none") << address;
    }
  }
}

TEST(FaultyStorage, ASweepEndsWithTheRunThatMeetsNoFault) {
  std::uint64_t closes = 0;
  for (std::uint64_t n = 1;; ++n) {
    MemoryStore store(make_image({{"/in", "data"}}));
    FaultPlan plan(parse_faults("journal:close:" + std::to_string(n) + ":EIO"));
    FaultyStorage storage(store, plan);
    const bool failed = !line_of<IoError>([&] { use_everything(storage); }).empty();
    EXPECT_EQ(failed, plan.fired() == 1);
    if (plan.fired() == 0) break;
    ++closes;
  }
  EXPECT_EQ(closes, 1u);
}

TEST(FaultyStorage, AFileSystemThatCannotReserveIsNoError) {
  MemoryStore store;
  FaultPlan plan(parse_faults("run:reserve:1:EOPNOTSUPP"));
  FaultyStorage storage(store, plan);
  const FilePtr run = storage.create_unnamed("/", Role::run, Caching::buffered);
  EXPECT_FALSE(storage.reserve(*run, 0, block));
  EXPECT_TRUE(storage.reserve(*run, 0, block));
}

}  // namespace ecosort::io

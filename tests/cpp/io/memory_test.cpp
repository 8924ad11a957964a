// The disk in memory and what a power cut leaves of it.
#include <gmock/gmock.h>

#include <cerrno>
#include <functional>

#include "cpp/io/test_support.h"
#include "doubles/crash_model.h"
#include "doubles/memory_store.h"
#include "io/posix_storage.h"

namespace ecosort::io {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t block = 4096;
constexpr unsigned depth = 16;
constexpr std::array policies{CutPolicy::all_kept, CutPolicy::all_lost, CutPolicy::random_subset, CutPolicy::torn};

std::string text_of(const PagedBytes& contents) {
  std::string text(contents.size(), '\0');
  contents.read(0, reinterpret_cast<std::byte*>(text.data()), text.size());
  return text;
}

// The contents of a file of an image, or "(absent)".
std::string file_in(const DiskImage& image, const std::string& path) {
  const auto found = image.files.find(path);
  return found == image.files.end() ? "(absent)" : text_of(found->second);
}

// A model of everything the store went through.
CrashModel model_of(const MemoryStore& store, const DiskImage& initial = {}) {
  CrashModel model(initial);
  for (const StoreEvent& event : store.log()) model.apply(event);
  return model;
}

// Drives a queue for tests that care about the disk, not about the order of completions.
class Driver {
 public:
  explicit Driver(MemoryStore& store) : queue_(store.make_queue(depth)) {}

  std::int64_t perform(const File& file, Operation operation, std::uint64_t offset, std::size_t size, std::byte* data = nullptr) {
    submit(file, operation, offset, size, data);
    return finish().back().result;
  }
  void write(const File& file, std::uint64_t offset, const std::string& text) {
    const AlignedBuffer buffer(text);
    ASSERT_EQ(perform(file, Operation::write, offset, text.size(), buffer.data()), static_cast<std::int64_t>(text.size()));
  }
  void sync(const File& file) { ASSERT_EQ(perform(file, Operation::sync, 0, 0), 0); }

  void submit(const File& file, Operation operation, std::uint64_t offset, std::size_t size, std::byte* data,
              std::uint64_t tag = 0) {
    queue_->submit({operation, &file, offset, size, data, tag});
    ++in_flight_;
  }
  std::vector<Completion> finish() {
    std::vector<Completion> out;
    while (out.size() < in_flight_) queue_->wait(out, true);
    in_flight_ = 0;
    return out;
  }

 private:
  std::unique_ptr<Queue> queue_;
  std::size_t in_flight_ = 0;
};

}  // namespace

TEST(PagedBytes, HolesReadAsZerosAndCostNothing) {
  PagedBytes bytes;
  const AlignedBuffer data(pattern(100));
  bytes.write(10 * block + 50, data.data(), 100);
  EXPECT_EQ(bytes.size(), 10 * block + 150);
  EXPECT_EQ(bytes.allocated_bytes(), block);
  std::string text = std::string(10 * block + 50, '\0') + pattern(100);
  EXPECT_EQ(text_of(bytes), text);
  EXPECT_TRUE(bytes.holds(text));
  EXPECT_FALSE(bytes.holds(text + '\0'));
  for (const std::size_t at : {std::size_t{0}, 10 * block + 49, text.size() - 1}) {
    text[at] ^= 1;
    EXPECT_FALSE(bytes.holds(text)) << at;
    text[at] ^= 1;
  }
}

TEST(PagedBytes, WhatWasCutOffDoesNotComeBackWhenTheFileGrowsAgain) {
  PagedBytes bytes;
  const AlignedBuffer data(pattern(2 * block));
  bytes.write(0, data.data(), data.size());
  bytes.resize(100);
  EXPECT_EQ(bytes.allocated_bytes(), block);
  bytes.resize(2 * block);
  EXPECT_EQ(text_of(bytes), pattern(2 * block).substr(0, 100) + std::string(2 * block - 100, '\0'));
}

TEST(PagedBytes, CopiesAreIndependent) {
  PagedBytes bytes;
  const AlignedBuffer data(pattern(block)), other(pattern(block, 2));
  bytes.write(0, data.data(), block);
  const PagedBytes copy = bytes;
  bytes.write(0, other.data(), 10);
  EXPECT_EQ(text_of(copy), pattern(block));
  EXPECT_EQ(text_of(bytes), pattern(block, 2).substr(0, 10) + pattern(block).substr(10));
}

TEST(PagedBytes, ReleaseGivesWholePagesBackAndZeroesTheRest) {
  PagedBytes bytes;
  bytes.reserve(0, 4 * block);
  const AlignedBuffer data(std::string(4 * block, 'x'));
  bytes.write(0, data.data(), data.size());
  bytes.release(block / 2, 2 * block);
  EXPECT_EQ(bytes.allocated_bytes(), 3 * block);
  EXPECT_EQ(bytes.missing_bytes(0, 4 * block), block);
  EXPECT_EQ(text_of(bytes), std::string(block / 2, 'x') + std::string(2 * block, '\0') + std::string(block + block / 2, 'x'));
}

TEST(MemoryStore, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto order = [](std::uint64_t seed) {
    MemoryStore store(DiskImage{}, {.seed = seed});
    Driver driver(store);
    const FilePtr file = store.create_unnamed("/", Role::run, Caching::buffered);
    const AlignedBuffer buffer(pattern(block));
    for (std::uint64_t tag = 0; tag < 10; ++tag) driver.submit(*file, Operation::write, tag * block, block, buffer.data(), tag);
    std::vector<std::uint64_t> tags;
    for (const Completion& completion : driver.finish()) tags.push_back(completion.tag);
    return tags;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(MemoryStore, RefusesWhatDirectIoRefuses) {
  MemoryStore store;
  Driver driver(store);
  const FilePtr file = store.create_unnamed("/", Role::run, Caching::direct_if_possible);
  const AlignedBuffer buffer(pattern(2 * block));
  EXPECT_EQ(driver.perform(*file, Operation::write, 512, 512, buffer.data()), 512);
  EXPECT_EQ(driver.perform(*file, Operation::write, 100, 512, buffer.data()), -EINVAL);
  EXPECT_EQ(driver.perform(*file, Operation::write, 512, 100, buffer.data()), -EINVAL);
  EXPECT_EQ(driver.perform(*file, Operation::write, 512, 512, buffer.data() + 1), -EINVAL);
}

TEST(MemoryStore, AFullDiskTakesWhatFitsAndThenNothing) {
  MemoryStore store(DiskImage{}, {.capacity_bytes = 5 * block});
  Driver driver(store);
  const FilePtr first = store.create_unnamed("/", Role::run, Caching::buffered);
  const FilePtr second = store.create_unnamed("/", Role::run, Caching::buffered);
  EXPECT_TRUE(store.reserve(*first, 0, 2 * block));
  EXPECT_EQ(store.free_bytes("/"), 3 * block);
  const AlignedBuffer buffer(pattern(4 * block));
  EXPECT_EQ(driver.perform(*second, Operation::write, 0, 4 * block, buffer.data()), static_cast<std::int64_t>(3 * block));
  EXPECT_EQ(driver.perform(*second, Operation::write, 3 * block, block, buffer.data()), -ENOSPC);
  EXPECT_EQ(driver.perform(*second, Operation::reserve, 3 * block, block), -ENOSPC);
  EXPECT_EQ(driver.perform(*first, Operation::write, 0, 2 * block, buffer.data()), static_cast<std::int64_t>(2 * block))
      << "reserved space is there";
  EXPECT_THROW((void)store.reserve(*first, 2 * block, block), IoError);
  EXPECT_EQ(store.state(*second).size_bytes, 3 * block);
  EXPECT_EQ(driver.perform(*first, Operation::release, 0, block), 0);
  EXPECT_EQ(driver.perform(*second, Operation::write, 3 * block, block, buffer.data()), static_cast<std::int64_t>(block));
}

TEST(MemoryStore, FilesWithoutANameGiveTheirSpaceBackWhenClosed) {
  MemoryStore store;
  Driver driver(store);
  {
    const FilePtr file = store.create_unnamed("/", Role::run, Caching::buffered);
    driver.write(*file, 0, pattern(3 * block));
    EXPECT_EQ(store.allocated_bytes(), 3 * block);
  }
  EXPECT_EQ(store.allocated_bytes(), 0u);
  EXPECT_EQ(store.most_allocated_bytes(), 3 * block);
  EXPECT_EQ(store.open_files(), 0u);
}

TEST(MemoryStore, PublishesLikeARealFileSystem) {
  MemoryStore store(make_image({{"/data/out", "old"}}));
  Driver driver(store);
  FilePtr file = store.create_unnamed("/data", Role::output, Caching::buffered);
  driver.write(*file, 0, "new");
  const auto fail = [](PublishStep step) {
    if (step == PublishStep::rename) throw IoError("no", EIO);
  };
  EXPECT_THROW((void)store.publish(*file, "/data/out", fail), IoError);
  EXPECT_EQ(store.contents("/data/out"), "old");
  EXPECT_THAT(store.list("/data"), ElementsAre("out"));
  EXPECT_EQ(store.publish(*file, "data/./out"), "");
  EXPECT_EQ(store.contents("/data/out"), "new");
  EXPECT_THAT(store.list("/data"), ElementsAre("out"));
  EXPECT_EQ(store.allocated_bytes(), block) << "the old contents are gone";
}

// The same calls on a real file system and in memory.
class NamedStorageTest : public ::testing::TestWithParam<bool> {
 protected:
  TempDirectory directory;
  std::unique_ptr<NamedStorage> storage =
      GetParam() ? std::unique_ptr<NamedStorage>(std::make_unique<MemoryStore>()) : std::make_unique<PosixStorage>();
  std::string home = GetParam() ? "/home" : directory.path() + "/home";
};

INSTANTIATE_TEST_SUITE_P(Stores, NamedStorageTest, ::testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "Memory" : "Posix"; });

TEST_P(NamedStorageTest, FilesAreMadeOnceFoundAgainMovedAndRemoved) {
  storage->make_directory(home);
  EXPECT_THROW(storage->make_directory(home), IoError);
  storage->close(storage->create_named(home + "/b", Role::journal, Caching::buffered));
  EXPECT_THROW((void)storage->create_named(home + "/b", Role::journal, Caching::buffered), IoError);
  EXPECT_THROW((void)storage->create_named(home + "/no/b", Role::journal, Caching::buffered), UsageError);
  FilePtr file = storage->create_named(home + "/a", Role::run, Caching::buffered);
  storage->set_size(*file, 1000);
  storage->close(std::move(file));
  EXPECT_THAT(storage->list(home), ElementsAre("a", "b"));
  storage->rename(home + "/a", home + "/b");
  EXPECT_THAT(storage->list(home), ElementsAre("b"));
  EXPECT_EQ(storage->open_named(home + "/b", Role::run, Caching::buffered)->facts().size_bytes, 1000u);
  EXPECT_THROW(storage->rename(home + "/a", home + "/c"), UsageError);
  EXPECT_THROW(storage->remove_directory(home), IoError) << "not empty";
  EXPECT_THROW((void)storage->open_named(home + "/a", Role::run, Caching::buffered), UsageError);
  storage->remove(home + "/b");
  EXPECT_THROW(storage->remove(home + "/b"), UsageError);
  storage->sync_directory(home);
  storage->remove_directory(home);
  EXPECT_FALSE(storage->exists(home));
  EXPECT_THROW(storage->sync_directory(home), UsageError);
  EXPECT_THROW((void)storage->list(home), UsageError);
  EXPECT_THROW((void)storage->create_unnamed(home, Role::run, Caching::buffered), UsageError);
}

TEST_P(NamedStorageTest, ANewNameReplacesNothing) {
  storage->make_directory(home);
  storage->close(storage->create_named(home + "/a", Role::run, Caching::buffered));
  storage->close(storage->create_named(home + "/b", Role::run, Caching::buffered));
  EXPECT_THROW(storage->rename_new(home + "/a", home + "/b"), IoError);
  EXPECT_THAT(storage->list(home), ElementsAre("a", "b"));
  storage->rename_new(home + "/a", home + "/c");
  EXPECT_THAT(storage->list(home), ElementsAre("b", "c"));
  EXPECT_THROW(storage->rename_new(home + "/a", home + "/d"), UsageError);
}

TEST_P(NamedStorageTest, AnOpenDirectoryTellsWhetherItsNameStillLeadsToIt) {
  EXPECT_THROW((void)storage->open_directory(home), UsageError);
  storage->make_directory(home);
  const FilePtr open = storage->open_directory(home);
  EXPECT_TRUE(storage->leads_to(home, *open));
  storage->remove_directory(home);
  EXPECT_FALSE(storage->leads_to(home, *open));
}

TEST(PowerCut, AnUnsyncedWriteIsKeptLostOrEitherAndASyncedOneStays) {
  const DiskImage initial = make_image({{"/f", std::string(block, 'o')}});
  MemoryStore store(initial);
  Driver driver(store);
  const FilePtr file = store.open_named("/f", Role::run, Caching::buffered);
  driver.write(*file, 0, std::string(block, 'n'));
  const CrashModel unsynced = model_of(store, initial);
  EXPECT_TRUE(unsynced.has_unsynced());
  EXPECT_EQ(file_in(unsynced.image(CutPolicy::all_kept, 1), "/f"), std::string(block, 'n'));
  EXPECT_EQ(file_in(unsynced.image(CutPolicy::all_lost, 1), "/f"), std::string(block, 'o'));
  driver.sync(*file);
  const CrashModel synced = model_of(store, initial);
  EXPECT_FALSE(synced.has_unsynced());
  for (const CutPolicy policy : policies)
    EXPECT_EQ(file_in(synced.image(policy, 7), "/f"), std::string(block, 'n')) << to_string(policy);
}

TEST(PowerCut, ACutInsideABlockEndangersWhatIsLeftOfIt) {
  for (const std::uint64_t size : {block, block + 100}) {
    const DiskImage initial = make_image({{"/f", std::string(2 * block, 'o')}});
    MemoryStore store(initial);
    store.set_size(*store.open_named("/f", Role::run, Caching::buffered), size);
    const CrashModel model = model_of(store, initial);
    bool is_destroyed = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const std::string text = file_in(model.image(CutPolicy::torn, seed), "/f");
      EXPECT_EQ(text.substr(0, block), std::string(block, 'o'));
      is_destroyed = is_destroyed || text.substr(0, size) != std::string(size, 'o');
    }
    EXPECT_EQ(is_destroyed, size % block != 0);
  }
}

TEST(PowerCut, ASyncCoversOnlyWhatHadCompletedWhenItWasIssued) {
  MemoryStore store(make_image({{"/f", "....."}}), {.completes_in_order = true});
  Driver driver(store);
  const FilePtr file = store.open_named("/f", Role::run, Caching::buffered);
  const AlignedBuffer early(std::string("E")), late(std::string("L"));
  driver.perform(*file, Operation::write, 0, 1, early.data());
  driver.submit(*file, Operation::write, 1, 1, late.data());  // completes before the sync, but was in flight when that was issued
  driver.submit(*file, Operation::sync, 0, 0, nullptr);
  driver.finish();
  const CrashModel model = model_of(store, make_image({{"/f", "....."}}));
  EXPECT_EQ(file_in(model.image(CutPolicy::all_lost, 1), "/f"), "E....");
  EXPECT_EQ(file_in(model.image(CutPolicy::all_kept, 1), "/f"), "EL...");
}

TEST(PowerCut, WritesInFlightCountAsUnsynced) {
  const DiskImage initial = make_image({{"/f", "old"}});
  MemoryStore store(initial);
  Driver driver(store);
  const FilePtr file = store.open_named("/f", Role::run, Caching::buffered);
  const AlignedBuffer data(std::string("new"));
  driver.submit(*file, Operation::write, 0, 3, data.data());
  const CrashModel model = model_of(store, initial);
  EXPECT_EQ(file_in(model.image(CutPolicy::all_kept, 1), "/f"), "new");
  EXPECT_EQ(file_in(model.image(CutPolicy::all_lost, 1), "/f"), "old");
  driver.finish();
}

TEST(PowerCut, RandomSubsetsAreReproducibleAndReachEveryCombination) {
  const DiskImage initial = make_image({{"/f", "ooo"}});
  MemoryStore store(initial);
  Driver driver(store);
  const FilePtr file = store.open_named("/f", Role::run, Caching::buffered);
  for (std::uint64_t at = 0; at < 3; ++at) driver.write(*file, at, "n");
  const CrashModel model = model_of(store, initial);
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = file_in(model.image(CutPolicy::random_subset, seed), "/f");
    EXPECT_EQ(text, file_in(model.image(CutPolicy::random_subset, seed), "/f"));
    seen.insert(text);
  }
  EXPECT_THAT(seen, ElementsAre("nnn", "nno", "non", "noo", "onn", "ono", "oon", "ooo"));
}

TEST(PowerCut, ATruncationMayPersistBeforeTheWriteThatCameEarlier) {
  const DiskImage initial = make_image({{"/in", "records"}, {"/run", ""}});
  MemoryStore store(initial);
  Driver driver(store);
  const FilePtr run = store.open_named("/run", Role::run, Caching::buffered);
  FilePtr in = store.open_named("/in", Role::input, Caching::buffered);
  driver.write(*run, 0, "records");
  store.set_size(*in, 0);
  const CrashModel model = model_of(store, initial);
  bool lost = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const DiskImage image = model.image(CutPolicy::random_subset, seed);
    lost = lost || (file_in(image, "/in").empty() && file_in(image, "/run").empty());
  }
  EXPECT_TRUE(lost) << "the state that an in-place sort must never be caught in";
}

TEST(PowerCut, TornWritesMixOldNewAndGarbageBySector) {
  constexpr std::size_t sector = 512, sectors = 64;
  const DiskImage initial = make_image({{"/f", std::string(sectors * sector, 'o')}});
  MemoryStore store(initial);
  Driver driver(store);
  const FilePtr file = store.open_named("/f", Role::run, Caching::buffered);
  driver.write(*file, 0, std::string((sectors - 2) * sector, 'n'));
  const std::string torn = file_in(model_of(store, initial).image(CutPolicy::torn, 3), "/f");
  ASSERT_EQ(torn.size(), sectors * sector);
  std::map<std::string, int> kinds;
  for (std::size_t i = 0; i < sectors; ++i) {
    const std::string text = torn.substr(i * sector, sector);
    const bool is_old = text == std::string(sector, 'o'), is_new = text == std::string(sector, 'n');
    ++kinds[is_old ? "old" : is_new ? "new" : "garbage"];
    if (i >= sectors - 2) {
      EXPECT_TRUE(is_old) << "not written";
    }
  }
  EXPECT_GT(kinds["old"], 10);
  EXPECT_GT(kinds["new"], 10);
  EXPECT_GT(kinds["garbage"], 1);
}

TEST(PowerCut, ADurableSectorThatIsRewrittenMayBeDestroyed) {
  const DiskImage initial = make_image({{"/f", std::string(300, 'd')}});
  MemoryStore store(initial);
  Driver driver(store);
  const FilePtr file = store.open_named("/f", Role::output, Caching::buffered);
  driver.write(*file, 300, std::string(100, 'a'));  // appends within the sector that holds durable bytes
  const CrashModel model = model_of(store, initial);
  bool destroyed = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    destroyed = destroyed || file_in(model.image(CutPolicy::torn, seed), "/f").substr(0, 300) != std::string(300, 'd');
  EXPECT_TRUE(destroyed);
}

TEST(PowerCut, NamesAreDurableOnceTheirDirectoriesAreSynced) {
  MemoryStore store;
  Driver driver(store);
  store.make_directory("/job");
  FilePtr file = store.create_named("/job/run", Role::run, Caching::buffered);
  driver.write(*file, 0, "data");
  driver.sync(*file);
  EXPECT_EQ(file_in(model_of(store).image(CutPolicy::all_lost, 1), "/job/run"), "(absent)")
      << "a synced file is not a synced name";
  store.sync_directory("/job");
  EXPECT_EQ(file_in(model_of(store).image(CutPolicy::all_lost, 1), "/job/run"), "(absent)") << "its directory may be lost";
  store.sync_directory("/");
  EXPECT_EQ(file_in(model_of(store).image(CutPolicy::all_lost, 1), "/job/run"), "data");
  store.remove("/job/run");
  EXPECT_EQ(file_in(model_of(store).image(CutPolicy::all_lost, 1), "/job/run"), "data");
  EXPECT_EQ(file_in(model_of(store).image(CutPolicy::all_kept, 1), "/job/run"), "(absent)");
}

TEST(PowerCut, ARenameIsAtomicAndNeedsBothDirectories) {
  const DiskImage initial = make_image({{"/a/f", "data"}, {"/b/x", ""}});
  MemoryStore store(initial);
  store.rename("/a/f", "/b/f");
  const auto states = [&] {
    std::set<std::string> seen;
    const CrashModel model = model_of(store, initial);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const DiskImage image = model.image(CutPolicy::random_subset, seed);
      seen.insert(file_in(image, "/a/f") + "|" + file_in(image, "/b/f"));
    }
    return seen;
  };
  EXPECT_THAT(states(), ElementsAre("(absent)|data", "data|(absent)"));
  store.sync_directory("/b");
  EXPECT_THAT(states(), ElementsAre("(absent)|data", "data|(absent)"));
  store.sync_directory("/a");
  EXPECT_THAT(states(), ElementsAre("(absent)|data"));
}

TEST(PowerCut, FilesWithoutANameAreGone) {
  MemoryStore store;
  Driver driver(store);
  const FilePtr file = store.create_unnamed("/", Role::run, Caching::buffered);
  driver.write(*file, 0, "data");
  driver.sync(*file);
  for (const CutPolicy policy : policies) EXPECT_THAT(model_of(store).image(policy, 1).files, IsEmpty());
}

TEST(PowerCut, AnImageIsADiskToStartFromAgain) {
  MemoryStore store;
  Driver driver(store);
  FilePtr file = store.create_named("/f", Role::run, Caching::buffered);
  driver.write(*file, 0, "first");
  driver.sync(*file);
  store.sync_directory("/");
  driver.write(*file, 5, " lost");

  const DiskImage image = model_of(store).image(CutPolicy::all_lost, 1);
  MemoryStore after(image);
  EXPECT_EQ(after.contents("/f"), "first");
  Driver again(after);
  file = after.open_named("/f", Role::run, Caching::buffered);
  again.write(*file, 5, " second");
  const CrashModel model = model_of(after, image);
  EXPECT_EQ(file_in(model.image(CutPolicy::all_lost, 1), "/f"), "first");
  EXPECT_EQ(file_in(model.image(CutPolicy::all_kept, 1), "/f"), "first second");
}

namespace {

// Replaces /data/out the safe way, leaving one step out on demand. Data moves in several requests at once.
void replace_file(MemoryStore& store, const std::string& text, const std::string& without) {
  Driver driver(store);
  FilePtr file = store.create_named("/data/tmp", Role::output, Caching::buffered);
  const AlignedBuffer buffer(text);
  constexpr std::size_t piece = 1000;
  for (std::size_t at = 0; at < text.size(); at += piece)
    driver.submit(*file, Operation::write, at, std::min(piece, text.size() - at), buffer.data() + at);
  driver.finish();
  if (without != "sync of the data") driver.sync(*file);
  store.close(std::move(file));
  store.rename("/data/tmp", "/data/out");
  if (without != "sync of the directory") store.sync_directory("/data");
}

struct Verdict {
  std::size_t states = 0, broken = 0;
};

// Cuts the power after every step of a replacement, in every way.
Verdict sweep(const std::string& without, std::uint64_t seed) {
  const std::string older = pattern(5000, 1), newer = pattern(6000, 2);
  const DiskImage initial = make_image({{"/data/out", older}});
  MemoryStore store(initial, {.seed = seed});
  replace_file(store, newer, without);
  CrashModel model(initial);
  Verdict verdict;
  const auto judge = [&](bool is_finished) {
    for (const CutPolicy policy : policies) {
      for (std::uint64_t try_number = 0; try_number < 4; ++try_number) {
        const std::string text = file_in(model.image(policy, seed * 1000 + verdict.states), "/data/out");
        ++verdict.states;
        if (text != newer && (is_finished || text != older)) ++verdict.broken;
      }
    }
  };
  judge(false);
  for (std::size_t i = 0; i < store.log().size(); ++i) {
    model.apply(store.log()[i]);
    judge(i + 1 == store.log().size());
  }
  return verdict;
}

}  // namespace

TEST(PowerCut, ASweepPassesTheSafeWayAndCatchesEachStepLeftOut) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Verdict safe = sweep("", seed);
    EXPECT_GT(safe.states, 200u);
    EXPECT_EQ(safe.broken, 0u);
    EXPECT_GT(sweep("sync of the data", seed).broken, 0u);
    EXPECT_GT(sweep("sync of the directory", seed).broken, 0u);
  }
}

TEST(PowerCut, PublishSurvivesACutAtEveryStep) {
  const std::string older = pattern(3000, 1), newer = pattern(9000, 2);
  const DiskImage initial = make_image({{"/data/out", older}});
  MemoryStore store(initial);
  Driver driver(store);
  FilePtr file = store.create_unnamed("/data", Role::output, Caching::buffered);
  driver.write(*file, 0, newer);
  store.sync(*file);
  (void)store.publish(*file, "/data/out");
  CrashModel model(initial);
  for (const StoreEvent& event : store.log()) {
    model.apply(event);
    for (const CutPolicy policy : policies) {
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const std::string text = file_in(model.image(policy, seed), "/data/out");
        ASSERT_TRUE(text == older || text == newer) << to_string(policy) << " " << seed;
      }
    }
  }
  EXPECT_EQ(file_in(model.image(CutPolicy::all_lost, 0), "/data/out"), newer);
}

}  // namespace ecosort::io

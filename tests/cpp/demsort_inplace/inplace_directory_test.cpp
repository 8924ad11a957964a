// The job directory on a real file system: who has it, and what happens where somebody takes it away.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/errors.h"
#include "cpp/io/test_support.h"
#include "demsort_inplace/job_status.h"
#include "doubles/memory_store.h"
#include "io/posix_storage.h"

namespace ecosort::demsort_inplace {

namespace {

// A place for a job, with its directory.
struct Place {
  io::TempDirectory temporary;
  io::PosixStorage storage;
  JobPaths paths{temporary.path() + "/data"};

  Place() { storage.make_directory(paths.directory); }
  void put(const std::string& path) const { std::ofstream(path) << "x"; }
};

}  // namespace

TEST(JobDirectory, IsLockedBeforeAnybodyLooksIntoIt) {
  Place place;
  io::FilePtr first = lock_directory(place.storage, place.paths);
  ASSERT_TRUE(first);
  EXPECT_THROW((void)lock_directory(place.storage, place.paths), JobRefused);
  io::MemoryStore memory;
  const auto queue = memory.make_queue(1);
  EXPECT_THROW((void)examine(place.paths.file, place.storage, *queue), JobRefused) << "there is no journal to lock yet";
  first = nullptr;
  EXPECT_TRUE(lock_directory(place.storage, place.paths));
}

TEST(JobDirectory, OneThatIsGoneIsNotLocked) {
  Place place;
  place.storage.remove_directory(place.paths.directory);
  EXPECT_FALSE(lock_directory(place.storage, place.paths));
}

// A user who moves it away while a job has it must find nothing changed in what is there now.
TEST(JobDirectory, AnotherOneUnderItsNameIsLeftAlone) {
  Place place;
  const io::FilePtr held = lock_directory(place.storage, place.paths);
  std::filesystem::rename(place.paths.directory, place.temporary.path() + "/elsewhere");
  place.storage.make_directory(place.paths.directory);
  place.put(place.paths.output);
  EXPECT_THROW(check_directory(place.storage, place.paths, *held), IoError);
  EXPECT_THROW(clean_up(place.storage, place.paths, *held, {}), IoError);
  EXPECT_TRUE(std::filesystem::exists(place.paths.output));
}

TEST(JobDirectory, AResultReplacesNothingThatStandsUnderItsName) {
  Place place;
  place.put(place.paths.output);
  place.put(place.paths.file);
  EXPECT_THROW(publish(place.storage, place.paths, place.paths.output, Previous::none), JobRefused);
  EXPECT_TRUE(place.storage.exists(place.paths.output));
  publish(place.storage, place.paths, place.paths.output, Previous::replaced);
  EXPECT_FALSE(place.storage.exists(place.paths.output));
}

}  // namespace ecosort::demsort_inplace

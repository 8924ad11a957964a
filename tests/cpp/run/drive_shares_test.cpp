// Runs go to several drives in proportion to their room, those of records and those of lines alike.
#include "run/drive_shares.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "doubles/faulty_storage.h"
#include "doubles/memory_store.h"
#include "io/reactor.h"
#include "run/row_runs.h"

namespace ecosort::run {
namespace {

// Two directories, of which the second has three times the room.
class UnequalDrives : public io::FaultyStorage {
 public:
  UnequalDrives() : FaultyStorage(store_, none_) {
    store_.make_directory("/small");
    store_.make_directory("/large");
  }
  [[nodiscard]] std::uint64_t free_bytes(const std::string& directory) override {
    return std::uint64_t{directory == "/small" ? 1U : 3U} << 30U;
  }
  [[nodiscard]] std::unique_ptr<io::Queue> make_queue() { return store_.make_queue(8); }

 private:
  io::MemoryStore store_{io::DiskImage{}, {.records_events = false}};
  io::FaultPlan none_{{}};
};

const std::vector<std::string> directories{"/small", "/large"};

TEST(DriveShares, AreInProportionToFreeSpace) {
  UnequalDrives drives;
  DriveShares shares(drives, directories);
  std::map<std::size_t, int> given;
  for (int i = 0; i < 400; ++i) ++given[shares.next()];
  EXPECT_EQ(given[0], 100);
  EXPECT_EQ(given[1], 300);
}

TEST(DriveShares, CountBytesWherePiecesDiffer) {
  UnequalDrives drives;
  DriveShares shares(drives, directories);
  std::map<std::size_t, std::uint64_t> given;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t bytes = (i * 7919 % 100 + 1) << 30U;  // products of this do not fit 64 bits
    given[shares.next(bytes)] += bytes;
  }
  EXPECT_NEAR(static_cast<double>(given[1]) / static_cast<double>(given[0]), 3, 0.05);
}

TEST(DriveShares, DecideWhereRunsOfLinesAre) {
  UnequalDrives drives;
  const std::unique_ptr<io::Queue> queue = drives.make_queue();
  io::Reactor reactor(*queue, 2, 2);
  RowRuns files(drives, reactor, directories, 65536, "");
  std::map<std::string, int> runs;
  for (int i = 0; i < 40; ++i) {
    const RowRun run = files.create(1'000'000);
    ++runs[files.run(run.stored).file().path().substr(0, 6)];
  }
  EXPECT_EQ(runs["/small"], 10);
  EXPECT_EQ(runs["/large"], 30);
}

// All of them, those that do not divide evenly, too: no byte of a run has two places, and a beginning of the run is a beginning
// of each stripe.
TEST(Striping, EveryByteOfARunHasAPlaceOfItsOwn) {
  UnequalDrives drives;
  constexpr std::uint64_t unit = 5, bytes = 64 * unit * 3 + 7;
  Striping striping(directories, unit);
  EXPECT_EQ(striping.place(drives, bytes), directories);
  std::map<std::size_t, std::uint64_t> ends;
  for (std::uint64_t at = 0; at < bytes;) {
    const Striping::Piece piece = striping.locate(at, bytes - at);
    EXPECT_EQ(piece.offset, ends[piece.stripe]) << at;
    ends[piece.stripe] += piece.size;
    at += piece.size;
    for (const std::uint32_t stripe : {0U, 1U}) EXPECT_EQ(striping.stripe_bytes(stripe, at), ends[stripe]) << at;
  }
}

TEST(Striping, ARunThatLiesWholeIsOnePiece) {
  UnequalDrives drives;
  Striping striping(directories, 0);
  EXPECT_EQ(striping.place(drives, 1000).size(), 1U);
  const Striping::Piece piece = striping.locate(123, 1000);
  EXPECT_EQ(piece.stripe, 0U);
  EXPECT_EQ(piece.offset, 123U);
  EXPECT_EQ(piece.size, 1000U);
  EXPECT_EQ(striping.stripe_bytes(0, 777), 777U);
}

}  // namespace
}  // namespace ecosort::run

// Drives are measured apart from how late the coordinator was.
#include "io/drive_meter.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "io/drive_clock.h"

namespace ecosort::io {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t MiB = std::size_t{1} << 20U;

// The coordinator's time, in milliseconds.
class DriveMeterTest : public ::testing::Test {
 protected:
  void submit(unsigned requests) {
    for (unsigned i = 0; i < requests; ++i) in_flight.push_back(meter.begin());
  }
  // Computes, or waits for a processor.
  void is_awake(int ms) {
    time.now += milliseconds(ms);
    time.awake += milliseconds(ms);
  }
  // Sleeps, gets a processor so late, and then finds that so many of the oldest requests are done.
  void wait(int asleep_ms, int late_ms, unsigned done) {
    meter.wait_begins(time);
    time.now += milliseconds(asleep_ms);
    is_awake(late_ms);
    for (unsigned i = 0; i < done; ++i) meter.end(in_flight[i], MiB);
    in_flight.erase(in_flight.begin(), in_flight.begin() + done);
    meter.wait_ended(time);
  }
  [[nodiscard]] int busy_ms() const { return static_cast<int>(meter.work().busy / milliseconds(1)); }

  DriveMeter meter;
  AwakeTime time;
  std::vector<std::uint64_t> in_flight;
};

TEST_F(DriveMeterTest, ASlowDriveIsAsSlowAsItIs) {
  submit(4);
  for (int i = 0; i < 20; ++i) {
    wait(10, 0, 1);
    submit(1);
  }
  EXPECT_EQ(busy_ms(), 200);
  EXPECT_EQ(meter.work().bytes, 20 * MiB);
  EXPECT_NEAR(meter.work().seconds_per_byte(), 0.01 / MiB, 1e-12);
}

TEST_F(DriveMeterTest, ACoordinatorThatComesLateDoesNotMakeTheDriveSlow) {
  for (int i = 0; i < 20; ++i) {
    submit(4);
    wait(1, 50, 4);  // the others were done in some of these 50 ms
    is_awake(30);
  }
  EXPECT_EQ(busy_ms(), 20);
}

TEST_F(DriveMeterTest, NothingIsKnownOfRequestsThatWereDoneBeforeAnyoneAsked) {
  submit(2);
  wait(0, 5, 0);
  is_awake(100);
  wait(0, 0, 2);
  EXPECT_EQ(busy_ms(), 0);
  EXPECT_EQ(meter.work().seconds_per_byte(), 0);
}

TEST_F(DriveMeterTest, ARequestThatIsStillInFlightProvesThatTheDriveHadWork) {
  submit(2);
  wait(3, 0, 0);  // something else woke the coordinator
  is_awake(40);
  wait(0, 2, 1);
  EXPECT_EQ(busy_ms(), 3 + 40 + 2);
  is_awake(7);
  wait(6, 9, 1);  // it slept, so that nothing was done before
  EXPECT_EQ(busy_ms(), 45 + 7 + 6);
}

TEST_F(DriveMeterTest, TimeWithoutRequestsIsNotTheDrives) {
  submit(1);
  wait(2, 0, 1);
  is_awake(50);
  wait(60, 0, 0);
  submit(1);
  wait(2, 0, 1);
  EXPECT_EQ(busy_ms(), 4);
}

TEST(DriveClock, ADrivesStatSaysWhatItMovedAndHowLongItWasBusy) {
  const DriveCounts counts = drive_counts_of("  803  12  94842  316  401  77  5120  95  0  252  411  0 0 0 0 3 1\n");
  EXPECT_EQ(counts.busy, milliseconds(252));
  EXPECT_EQ(counts.bytes, (94842 + 5120) * 512);
  EXPECT_EQ(drive_counts_of("").busy, milliseconds(0));
}

TEST(DriveClock, AWorkerOfTheSystemThatComesLateDoesNotMakeTheDriveSlow) {
  const DriveWork seen{20 * MiB, milliseconds(4000)};  // of which the drive took 1 ms a request
  const DriveCounts alone{milliseconds(5000), milliseconds(20), 20 * MiB};
  EXPECT_EQ(explained(seen, alone).busy, milliseconds(20));
  EXPECT_EQ(explained(seen, alone).bytes, 20 * MiB);
  EXPECT_EQ(explained(seen, {}).busy, milliseconds(4000)) << "no tick was counted yet";
}

TEST(DriveClock, OthersOnTheDriveLeaveTheRestOfItsTime) {
  const DriveWork seen{MiB, milliseconds(900)};
  // 100 ms a MiB, and others had 700 of 1000 ms.
  EXPECT_NEAR(explained(seen, {milliseconds(1000), milliseconds(800), 8 * MiB}).busy / milliseconds(1), 100 / 0.3, 1);
  EXPECT_EQ(explained(seen, {milliseconds(1000), milliseconds(100), 0}).busy, milliseconds(100)) << "the page cache had it";
}

TEST(DriveClock, OthersWithSmallRequestsDoNotMakeOursSlow) {
  const DriveWork seen{20 * MiB, milliseconds(10)};
  EXPECT_EQ(explained(seen, {milliseconds(1000), milliseconds(900), 21 * MiB}).busy, milliseconds(10));
}

TEST(DriveClock, NothingIsKnownOfWhatIsNoDrive) {
  const File memory(::memfd_create("no drive", MFD_CLOEXEC), {.id = 1});
  DriveClock clock;
  clock.watch(memory);
  EXPECT_FALSE(clock.knows_all());
}

}  // namespace
}  // namespace ecosort::io

// A test that leaves descriptors open fails: all tests run in one process when the program is called without a filter, and a
// process has only so many.
#include "cpp/support/open_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ecosort {

std::set<int> open_descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) found.insert(std::stoi(entry.path().filename()));
  std::erase_if(found, [](int descriptor) { return ::fcntl(descriptor, F_GETFD) < 0; });  // that of the look
  return found;
}

ClosesWhatIsLeft::~ClosesWhatIsLeft() {
  for (const int descriptor : open_descriptors()) {
    if (!before_.contains(descriptor)) ::close(descriptor);
  }
}

namespace {

class OpenDescriptors : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo&) override { before_ = open_descriptors(); }
  void OnTestEnd(const testing::TestInfo&) override {
    std::vector<std::string> left;
    for (const int descriptor : open_descriptors()) {
      const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
      if (!before_.contains(descriptor)) left.push_back(std::filesystem::read_symlink(path));
    }
    EXPECT_TRUE(left.empty()) << "descriptors are left open: " << testing::PrintToString(left);
  }

 private:
  std::set<int> before_;
};

// GoogleTest has it from before main(), and deletes it.
[[maybe_unused]] const bool listens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new OpenDescriptors);
  return true;
}();

}  // namespace
}  // namespace ecosort

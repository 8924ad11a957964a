// Trusts places by owners, modes, sticky directories and symbolic links on the way.
#include "base/trusted_place.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ecosort {

namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr uid_t somebody_else = 65534;

class TrustedPlace : public ::testing::Test {
 protected:
  TrustedPlace() {
    std::string name = (fs::temp_directory_path() / "ecosort-trust-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    root_ = fs::canonical(root_);
    fs::create_directory(root_ / "bin");
    make(root_ / "bin" / "tool");
  }
  ~TrustedPlace() override { fs::remove_all(root_); }

  static void make(const fs::path& path) {
    std::ofstream(path) << "x";
    mode(path, 0755);
  }
  static void mode(const fs::path& path, mode_t bits) { ASSERT_EQ(::chmod(path.c_str(), bits), 0); }
  static std::string reason(const fs::path& path) { return reason_to_distrust_place(path, root_and_user()); }

  fs::path root_;
};

}  // namespace

TEST_F(TrustedPlace, WhatOnlyItsOwnerWritesIsTrusted) {
  EXPECT_EQ(reason(root_ / "bin" / "tool"), "");
  EXPECT_EQ(reason(root_ / "bin" / ".." / "." / "bin" / "tool"), "");
  EXPECT_THAT(reason(root_ / "bin" / "missing"), HasSubstr("No such file"));
  EXPECT_THAT(reason("/../missing-at-the-root"), HasSubstr("No such file"));
}

TEST_F(TrustedPlace, WhatOthersCanWriteIsNotWhereverItStandsOnTheWay) {
  for (const fs::path& place : {root_, root_ / "bin", root_ / "bin" / "tool"}) {
    for (const mode_t bits : {0775, 0757}) {
      mode(place, bits);
      EXPECT_THAT(reason(root_ / "bin" / "tool"), HasSubstr("'" + place.string() + "' can be written by others")) << bits;
      mode(place, 0755);
    }
  }
}

TEST_F(TrustedPlace, AStickyDirectoryMayBeOnTheWayButNotHoldTheFile) {
  mode(root_, 01777);
  EXPECT_EQ(reason(root_ / "bin" / "tool"), "");
  make(root_ / "tool");
  EXPECT_THAT(reason(root_ / "tool"), HasSubstr("can be written by others"));
}

TEST_F(TrustedPlace, LinksAreFollowedAndWhereTheyLeadIsLookedAt) {
  fs::create_symlink("bin/tool", root_ / "link");
  EXPECT_EQ(reason(root_ / "link"), "");
  fs::create_symlink(root_ / "link", root_ / "bin" / "absolute");
  EXPECT_EQ(reason(root_ / "bin" / "absolute"), "");
  mode(root_ / "bin", 0777);
  EXPECT_THAT(reason(root_ / "link"), HasSubstr("can be written by others"));
  mode(root_ / "bin", 0755);
  fs::create_symlink("around", root_ / "around");
  EXPECT_THAT(reason(root_ / "around"), HasSubstr("symbolic links"));
}

TEST_F(TrustedPlace, WhatBelongsToSomebodyElseIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  for (const fs::path& place : {root_ / "bin" / "tool", root_ / "bin"}) {
    ASSERT_EQ(::chown(place.c_str(), somebody_else, somebody_else), 0);
    EXPECT_THAT(reason(root_ / "bin" / "tool"), HasSubstr("'" + place.string() + "' belongs to user "));
    EXPECT_EQ(reason_to_distrust_place(root_ / "bin" / "tool", {0, somebody_else}), "");
    ASSERT_EQ(::chown(place.c_str(), 0, 0), 0);
  }
  fs::create_symlink("bin/tool", root_ / "link");
  ASSERT_EQ(::lchown((root_ / "link").c_str(), somebody_else, somebody_else), 0);
  EXPECT_THAT(reason(root_ / "link"), HasSubstr("belongs to user "));
}

}  // namespace ecosort

#include "base/errors.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace ecosort {

TEST(IoError, NamesTheCallThePathTheOffsetTheSizeAndTheReason) {
  const IoError error = IoError::from_call("write", "/mnt/out", ENOSPC, 4096, 512);
  EXPECT_STREQ(error.what(), "cannot write '/mnt/out' at offset 4096 (512 bytes): No space left on device");
  EXPECT_EQ(error.code(), ExitCode::io);
}

TEST(IoError, LeavesOffsetAndSizeOutWhereTheyMeanNothing) {
  EXPECT_STREQ(IoError::from_call("open", "in", ENOENT).what(), "cannot open 'in': No such file or directory");
}

}  // namespace ecosort

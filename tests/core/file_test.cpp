#include "boolgrad/core/file.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;
using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class ReplacementTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  fs::path path_ = folder_ / "file";
};

TEST_F(ReplacementTest, TakesThePlaceAtTheEnd) {
  write_bytes(path_, "before");
  Replacement file("test", path_);
  file.write("after", 5);
  EXPECT_EQ(read_bytes(path_), "before");
  file.commit();
  EXPECT_EQ(read_bytes(path_), "after");
}

TEST_F(ReplacementTest, LeavesNothingBehindWithoutAnEnd) {
  { Replacement("test", path_).write("after", 5); }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ReplacementTest, SaysWhatItCannotReplace) {
  const fs::path nowhere = folder_ / "none" / "file";
  expect_error(
      [&] { Replacement("test", nowhere); },
      "[test] " + nowhere.string() + ": expected to create it, received No such file or directory");
  expect_error([] { Replacement("test", "/dev/null"); },
               "[test] /dev/null: expected a regular file to replace, received something else");
}

}  // namespace
}  // namespace boolgrad

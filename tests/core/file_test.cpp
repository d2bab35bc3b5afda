#include "boolgrad/core/file.h"

#include <fcntl.h>
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

TEST_F(ReplacementTest, ReplacesTheFileOnCommit) {
  write_bytes(path_, "before");
  Replacement file("test", path_);
  file.write("after", 5);
  EXPECT_EQ(read_bytes(path_), "before");
  file.commit();
  EXPECT_EQ(read_bytes(path_), "after");
}

TEST_F(ReplacementTest, LeavesNothingBehindWithoutCommit) {
  { Replacement("test", path_).write("after", 5); }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ReplacementTest, ReportsFilesThatCannotBeReplaced) {
  const fs::path nowhere = folder_ / "none" / "file";
  expect_error([&] { Replacement("test", nowhere); },
               "[test] cannot create " + nowhere.string() + ": No such file or directory");
  expect_error([] { Replacement("test", "/dev/null"); },
               "[test] cannot replace /dev/null: not a regular file");
}

TEST_F(ReplacementTest, RemovesWhatKilledProcessesHaveLeft) {
  // Locks belong to descriptors: a file of this process is like one of another.
  const std::string abandoned = path_.string() + ".1.0.tmp";
  const std::string others = (folder_ / "other.1.0.tmp").string();
  write_bytes(abandoned, "x");
  write_bytes(others, "x");
  const std::string busy = path_.string() + ".1.1.tmp";
  write_bytes(busy, "x");
  const FileDescriptor held(::open(busy.c_str(), O_WRONLY));
  ASSERT_EQ(lock_file(held.get()), 0);
  write_file("test", path_, "after");
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(busy)) << "somebody is writing it";
  EXPECT_TRUE(fs::exists(others)) << "of another file";
  EXPECT_EQ(read_bytes(path_), "after");
}

}  // namespace
}  // namespace boolgrad

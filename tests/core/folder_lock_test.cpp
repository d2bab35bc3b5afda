#include "boolgrad/core/folder_lock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

TEST(FolderLock, ExcludesASecondHolderInTheSameProcess) {
  const ScratchFolder scratch;
  {
    const FolderLock first("train", scratch.path());
    EXPECT_TRUE(first.is_held());
    std::array<char, 256> host{};
    ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
    expect_error([&] { FolderLock("train", scratch.path()); },
                 fmt::format("[train] {} is in use by process {} on {}", scratch.path().string(),
                             getpid(), host.data()));
  }
  EXPECT_TRUE(FolderLock("train", scratch.path()).is_held()) << "the first has let go";
}

TEST(FolderLock, EndsWithAKilledProcess) {
  const ScratchFolder scratch;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const FolderLock held("train", scratch.path());
    if (write(pipe[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char ready = 0;
  ASSERT_EQ(read(pipe[0], &ready, 1), 1);
  EXPECT_THROW(FolderLock("train", scratch.path()), Error);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(FolderLock("train", scratch.path()).is_held());
  close(pipe[0]);
  close(pipe[1]);
}

TEST(FolderLock, NeedsAFolder) {
  const ScratchFolder scratch;
  expect_error([&] { FolderLock("train", scratch / "none"); },
               fmt::format("[train] cannot create {}: No such file or directory",
                           (scratch / "none/.lock").string()));
}

TEST(RemoveTemporaryFiles, KeepsAllOthers) {
  const ScratchFolder scratch;
  for (const char* name : {"model.safetensors.12.0.tmp", "a.tmp.3.45.tmp", "model.safetensors",
                           "mine.tmp", "mine.12.tmp", ".12.0.tmp", "x.1.y.tmp"}) {
    write_bytes(scratch / name, "x");
  }
  remove_temporary_files(scratch.path());
  EXPECT_FALSE(std::filesystem::exists(scratch / "model.safetensors.12.0.tmp"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "a.tmp.3.45.tmp"));
  for (const char* name :
       {"model.safetensors", "mine.tmp", "mine.12.tmp", ".12.0.tmp", "x.1.y.tmp"}) {
    EXPECT_TRUE(std::filesystem::exists(scratch / name)) << name;
  }
}

}  // namespace
}  // namespace boolgrad

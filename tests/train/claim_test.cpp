#include "boolgrad/train/sweep/claim.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

using testing_support::ScratchFolder;
using testing_support::write_bytes;

std::string this_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

class ClaimTest : public testing::Test {
 protected:
  /// What a worker leaves that was killed after it had claimed the run.
  void leave_claim(const std::string& host) {
    fs::create_directories(run_);
    write_bytes(run_ / "claim.1", host);
  }

  ScratchFolder scratch_;
  fs::path sweep_ = scratch_ / "sweep";
  fs::path run_ = sweep_ / "seed-1";
};

TEST_F(ClaimTest, BelongsToOneWorkerUntilItIsGivenBack) {
  SweepWorker first(sweep_);
  SweepWorker second(sweep_);
  std::unique_ptr<Claim> claim = first.claim(run_);
  ASSERT_NE(claim, nullptr);
  EXPECT_FALSE(claim->is_lost());
  EXPECT_EQ(second.claim(run_), nullptr);
  EXPECT_EQ(first.claim(run_), nullptr);
  claim.reset();
  EXPECT_NE(second.claim(run_), nullptr);
  EXPECT_FALSE(fs::exists(run_ / "claim.1"));
}

TEST_F(ClaimTest, OfADeadProcessOfThisMachineIsOverruledAtOnce) {
  leave_claim(this_host());
  SweepWorker worker(sweep_);
  const std::unique_ptr<Claim> claim = worker.claim(run_);
  ASSERT_NE(claim, nullptr);
  EXPECT_TRUE(fs::exists(run_ / "claim.2"));
  EXPECT_EQ(SweepWorker(sweep_).claim(run_), nullptr);
}

TEST_F(ClaimTest, OfAnotherMachineIsOverruledOnceItIsStale) {
  leave_claim("elsewhere");
  SweepWorker worker(sweep_);
  EXPECT_EQ(worker.claim(run_), nullptr);
  fs::last_write_time(run_ / "claim.1", fs::file_time_type::clock::now() - std::chrono::minutes(3));
  EXPECT_NE(worker.claim(run_), nullptr);
}

TEST_F(ClaimTest, IsLostWhenAnotherWorkerOverrulesIt) {
  SweepWorker worker(sweep_, std::chrono::seconds(1));
  const std::unique_ptr<Claim> claim = worker.claim(run_);
  write_bytes(run_ / "claim.2", "elsewhere");
  while (!claim->is_lost()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST_F(ClaimTest, OneOfManyWorkersSucceeds) {
  constexpr std::size_t runs = 40;
  constexpr std::size_t workers = 6;
  std::vector<std::unique_ptr<SweepWorker>> all;
  std::array<std::vector<std::unique_ptr<Claim>>, workers> claims;
  for (std::size_t i = 0; i < workers; ++i) all.push_back(std::make_unique<SweepWorker>(sweep_));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers; ++i) {
      threads.emplace_back([&, i] {
        for (std::size_t run = 0; run < runs; ++run) {
          claims[i].push_back(all[i]->claim(sweep_ / ("seed-" + std::to_string(run))));
        }
      });
    }
  }
  for (std::size_t run = 0; run < runs; ++run) {
    int holders = 0;
    for (const auto& own : claims) holders += own[run] ? 1 : 0;
    EXPECT_EQ(holders, 1) << run;
  }
}

}  // namespace
}  // namespace boolgrad::train

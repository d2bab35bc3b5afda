#include "boolgrad/core/group.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/support/messages.h"
#include "tests/support/thread_group.h"

namespace boolgrad {
namespace {

using testing_support::run_as_ranks;

TEST(Group, OfOneProcessCopies) {
  Group& group = single_process();
  EXPECT_EQ(group.rank(), 0);
  EXPECT_EQ(group.size(), 1);
  EXPECT_TRUE(group.is_first());
  const std::array own{std::byte{7}, std::byte{9}};
  std::array<std::byte, 2> all{};
  group.all_gather(own, all);
  EXPECT_EQ(all, own);
  EXPECT_EQ(text_of_first(group, "here"), "here");
  EXPECT_TRUE(any_rank(group, true));
  EXPECT_FALSE(any_rank(group, false));
  std::array values{1.5F, -2.0F};
  sum_over_ranks(group, std::span<float>(values));
  EXPECT_EQ(values, (std::array{1.5F, -2.0F}));
}

TEST(Group, SumsInTheOrderOfATree) {
  // Of magnitudes for which other orders round differently.
  const std::array<float, 8> terms = {1e8F, 1.0F, -1e8F, 3.0F, 5e7F, 0.25F, -3e7F, 7.0F};
  const float expected = ((terms[0] + terms[1]) + (terms[2] + terms[3])) +
                         ((terms[4] + terms[5]) + (terms[6] + terms[7]));
  std::mutex mutex;
  std::set<float> sums;
  run_as_ranks(8, [&](Group& group) {
    std::array own{terms[static_cast<std::size_t>(group.rank())]};
    sum_over_ranks(group, std::span<float>(own));
    const std::lock_guard lock(mutex);
    sums.insert(own[0]);
  });
  EXPECT_EQ(sums, std::set<float>{expected});
}

TEST(Group, SumsNeedAPowerOfTwo) {
  run_as_ranks(3, [](Group& group) {
    std::array own{1.0};
    expect_error([&] { sum_over_ranks(group, std::span<double>(own)); },
                 "[mpi] expected 1, 2, 4, 8, ... ranks, received 3");
  });
}

TEST(Group, AgreesOnTextsAndFlags) {
  run_as_ranks(4, [](Group& group) {
    EXPECT_EQ(text_of_first(group, std::string(static_cast<std::size_t>(group.rank() + 2), 'x')),
              "xx");
    EXPECT_TRUE(any_rank(group, group.rank() == 2));
    EXPECT_FALSE(any_rank(group, false));
    check_same_on_ranks(group, "experiment", "add");
    expect_error(
        [&] { check_same_on_ranks(group, "experiment", group.rank() == 2 ? "xor" : "add"); },
        "[mpi] expected the same experiment on all ranks, received one on rank 0 and one on rank "
        "2");
  });
}

}  // namespace
}  // namespace boolgrad

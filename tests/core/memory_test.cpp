#include "boolgrad/core/memory.h"

#include <gtest/gtest.h>

namespace boolgrad {
namespace {

TEST(AvailableMemory, IsWhatTheSystemSays) {
  const std::optional<std::size_t> available = available_memory();
  ASSERT_TRUE(available.has_value());
  EXPECT_GT(*available, std::size_t{1} << 20);
  EXPECT_LT(*available, std::size_t{1} << 50);
}

}  // namespace
}  // namespace boolgrad

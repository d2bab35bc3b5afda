// Fixtures for tests of the CUDA backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Skips its tests if there is no device.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = cuda::unavailable();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
};

/// The largest error of `value`, relative to the largest value of `reference`. NaN if an element
/// is.
inline double largest_error(const Tensor& value, const Tensor& reference) {
  double most = 0;
  double largest = 0;
  for (std::int64_t i = 0; i < reference.size(); ++i) {
    const double off = std::abs(value.at(i) - reference.at(i));
    if (!(off <= most)) most = off;
    largest = std::max(largest, std::abs(reference.at(i)));
  }
  return largest > 0 ? most / largest : most;
}

}  // namespace boolgrad

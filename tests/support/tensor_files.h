// Comparison of saved files.
#pragma once

#include <gtest/gtest.h>

#include "boolgrad/tensor/safetensors.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {

/// Expects two files to agree in every bit.
inline void expect_same(const TensorFile& a, const TensorFile& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    ASSERT_TRUE(b.tensors.contains(name)) << name;
    EXPECT_TRUE(same_bits(tensor, b.tensors.at(name))) << name;
  }
}

}  // namespace boolgrad

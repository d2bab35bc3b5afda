// The work of the kernels that compute trees of gates, as all devices divide it.
//
// Outputs are processed kernel by kernel. The backward pass divides the outputs of a kernel into
// sections, each of which has partial sums for the gates of the tree. It writes the gradients of
// leaves to rows of their own, and another pass adds up the rows of each input.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/backend/plan/network_stages.h"

namespace boolgrad {

struct TreePlan {
  std::vector<std::int32_t> outputs;  ///< [outputs]: in processing order, which is by kernel
  std::vector<std::int32_t> kernels;  ///< [outputs]: the kernel of each, in processing order
  /// [outputs, pool, leaves] in processing order: the input that a leaf reads, or -1 if it lies
  /// outside of the image. An element of this list is a leaf row.
  std::vector<std::int32_t> leaves;
  std::vector<layout::TreeSection> sections;  ///< by kernel
  std::vector<std::int32_t> first_section;    ///< [kernels + 1], into `sections`
  std::vector<std::int32_t> first_leaf_row;   ///< [inputs + 1], into `leaf_rows`
  std::vector<std::int32_t> leaf_rows;        ///< the leaf rows of each input, in ascending order
};

/// Plans the work of trees. Every kernel that is read has about `sections_per_kernel` sections of
/// equal size.
TreePlan plan_trees(const GateTrees& trees, std::int64_t sections_per_kernel);

}  // namespace boolgrad

#include "boolgrad/backend/plan/network_trees.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace boolgrad {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t kernel_of(const GateTrees& trees, std::int64_t output) {
  return trees.root(output, 0) / trees.positions;
}

/// Adds the inputs that the leaves of a root read.
void add_leaves(const GateTrees& trees, std::int64_t root, std::vector<std::int32_t>& leaves) {
  const std::int64_t gates = trees.leaves() / 2;  // of the first level, per position
  const std::int64_t kernel = root / trees.positions;
  const std::int64_t position = root % trees.positions;
  for (std::int64_t i = 0; i < gates; ++i) {
    const std::int64_t gate = (kernel * gates + i) * trees.positions + position;
    const unsigned outside = trees.outside.empty() ? 0U : trees.outside[index(gate)];
    for (std::int64_t slot = 0; slot < 2; ++slot) {
      const bool is_outside = ((outside >> slot) & 1U) != 0;
      leaves.push_back(is_outside ? -1 : trees.sources[index(2 * gate + slot)]);
    }
  }
}

void list_sections(const GateTrees& trees, std::int64_t sections_per_kernel, TreePlan& plan) {
  const auto end = std::ssize(plan.outputs);
  std::int64_t begin = 0;
  for (std::int64_t kernel = 0; kernel < trees.kernels(); ++kernel) {
    plan.first_section.push_back(static_cast<std::int32_t>(plan.sections.size()));
    std::int64_t next = begin;
    while (next < end && plan.kernels[index(next)] == kernel) ++next;
    const std::int64_t size =
        std::max<std::int64_t>(1, (next - begin + sections_per_kernel - 1) / sections_per_kernel);
    for (; begin < next; begin += size) {
      plan.sections.push_back({static_cast<std::int32_t>(kernel), static_cast<std::int32_t>(begin),
                               static_cast<std::int32_t>(std::min(next, begin + size))});
    }
    begin = next;
  }
  plan.first_section.push_back(static_cast<std::int32_t>(plan.sections.size()));
}

void list_leaf_rows(const GateTrees& trees, TreePlan& plan) {
  plan.first_leaf_row.assign(index(trees.inputs) + 1, 0);
  for (const std::int32_t input : plan.leaves) {
    if (input >= 0) ++plan.first_leaf_row[index(input) + 1];
  }
  std::partial_sum(plan.first_leaf_row.begin(), plan.first_leaf_row.end(),
                   plan.first_leaf_row.begin());
  plan.leaf_rows.resize(index(plan.first_leaf_row.back()));
  std::vector<std::int32_t> next(plan.first_leaf_row.begin(), plan.first_leaf_row.end() - 1);
  for (std::size_t row = 0; row < plan.leaves.size(); ++row) {
    const std::int32_t input = plan.leaves[row];
    if (input >= 0) plan.leaf_rows[index(next[index(input)]++)] = static_cast<std::int32_t>(row);
  }
}

}  // namespace

TreePlan plan_trees(const GateTrees& trees, std::int64_t sections_per_kernel) {
  TreePlan plan;
  plan.outputs.resize(index(trees.outputs));
  std::iota(plan.outputs.begin(), plan.outputs.end(), 0);
  std::ranges::stable_sort(plan.outputs, [&](std::int32_t a, std::int32_t b) {
    return kernel_of(trees, a) < kernel_of(trees, b);
  });
  plan.leaves.reserve(index(trees.outputs * trees.pool * trees.leaves()));
  for (const std::int32_t output : plan.outputs) {
    plan.kernels.push_back(static_cast<std::int32_t>(kernel_of(trees, output)));
    for (std::int64_t i = 0; i < trees.pool; ++i) {
      add_leaves(trees, trees.root(output, i), plan.leaves);
    }
  }
  list_sections(trees, sections_per_kernel, plan);
  list_leaf_rows(trees, plan);
  return plan;
}

}  // namespace boolgrad

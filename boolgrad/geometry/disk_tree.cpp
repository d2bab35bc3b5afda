#include "boolgrad/geometry/disk_tree.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace boolgrad::geometry {
namespace {

constexpr std::size_t leaf_disks = 6;

}  // namespace

void DiskTree::Box::include(const Box& other) {
  left = std::min(left, other.left);
  right = std::max(right, other.right);
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

DiskTree::DiskTree(std::span<const Disk> disks) : origins_(disks.size()) {
  std::iota(origins_.begin(), origins_.end(), std::size_t{0});
  if (!disks.empty()) build(0, disks.size(), disks);
  disks_.reserve(disks.size());
  for (const std::size_t origin : origins_) disks_.push_back(disks[origin]);
}

void DiskTree::build(std::size_t begin, std::size_t end, std::span<const Disk> given) {
  Box box = Box::around(given[origins_[begin]]);
  Box centres = {given[origins_[begin]].x, given[origins_[begin]].x, given[origins_[begin]].y,
                 given[origins_[begin]].y};
  for (std::size_t i = begin + 1; i < end; ++i) {
    const Disk& disk = given[origins_[i]];
    box.include(Box::around(disk));
    centres.include({disk.x, disk.x, disk.y, disk.y});
  }
  const std::size_t here = nodes_.size();
  nodes_.push_back({box, begin, end, here + 1});
  if (end - begin <= leaf_disks) return;

  // Median split along the longer side. Indices break ties, so the tree is deterministic.
  const bool wide = centres.right - centres.left >= centres.high - centres.low;
  const auto key = [&](std::size_t i) {
    const Disk& disk = given[i];
    return wide ? std::tuple(disk.x, disk.y, i) : std::tuple(disk.y, disk.x, i);
  };
  const auto at = [&](std::size_t i) { return origins_.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t middle = begin + (end - begin) / 2;
  std::nth_element(at(begin), at(middle), at(end),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  build(begin, middle, given);
  build(middle, end, given);
  nodes_[here].after = nodes_.size();
}

}  // namespace boolgrad::geometry

// Neighbour search among disks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boolgrad/geometry/disk.h"

namespace boolgrad::geometry {

/// A bounding volume hierarchy, built in O(n log n). It handles disks of very different sizes.
/// Disks are reordered so that neighbours are close in memory.
class DiskTree {
 public:
  explicit DiskTree(std::span<const Disk> disks);

  /// Number of disks.
  std::size_t size() const { return disks_.size(); }
  /// Disk `i` in the order of the tree.
  const Disk& disk(std::size_t i) const { return disks_[i]; }
  /// The original index of disk `i`.
  std::size_t origin(std::size_t i) const { return origins_[i]; }

  /// Calls `visit(j)` for every other disk j whose bounding box intersects that of disk i. `visit`
  /// returns whether to continue.
  template <class Visit>
  void visit_neighbours(std::size_t i, const Visit& visit) const {
    const Box box = Box::around(disks_[i]);
    for (std::size_t at = 0; at < nodes_.size();) {
      const Node& node = nodes_[at];
      if (!node.box.meets(box)) {
        at = node.after;
        continue;
      }
      ++at;
      if (at != node.after) continue;
      for (std::size_t j = node.begin; j < node.end; ++j) {
        if (j != i && Box::around(disks_[j]).meets(box) && !visit(j)) return;
      }
    }
  }

 private:
  struct Box {
    double left, right, low, high;

    static Box around(const Disk& disk) {
      return {disk.x - disk.r, disk.x + disk.r, disk.y - disk.r, disk.y + disk.r};
    }
    bool meets(const Box& other) const {
      return left <= other.right && other.left <= right && low <= other.high && other.low <= high;
    }
    void include(const Box& other);
  };

  /// Nodes are in preorder: descendants follow their node, and `after` is the first node that is
  /// not a descendant. For a leaf, `after` is the next node.
  struct Node {
    Box box;
    std::size_t begin, end;
    std::size_t after;
  };

  void build(std::size_t begin, std::size_t end, std::span<const Disk> given);

  std::vector<Disk> disks_;
  std::vector<std::size_t> origins_;
  std::vector<Node> nodes_;
};

}  // namespace boolgrad::geometry

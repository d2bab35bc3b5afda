// Which disks lie near a disk.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boolgrad/geometry/disk.h"

namespace boolgrad {

/// A tree of bounding boxes. Built in O(n log n), and as good for disks of very different sizes as
/// for equal ones. Its disks are in an order of its own, in which neighbours lie together.
class DiskTree {
 public:
  explicit DiskTree(std::span<const Disk> disks);

  std::size_t size() const { return disks_.size(); }
  /// Disk `i` in the order of the tree, and where it was in the order given.
  const Disk& disk(std::size_t i) const { return disks_[i]; }
  std::size_t origin(std::size_t i) const { return origins_[i]; }

  /// Calls `visit(j)` for every disk j whose bounding box meets that of disk i, but for i itself.
  /// `visit` returns whether to go on.
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

  /// Nodes lie in preorder: the children of a node follow it, and `after` is the first node that is
  /// not below it. A leaf is followed by `after` at once.
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

}  // namespace boolgrad

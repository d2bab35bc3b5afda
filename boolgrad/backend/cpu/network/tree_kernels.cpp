#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/network/tree_kernels.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include "boolgrad/backend/cpu/network/tree_kernels.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

// The nodes of a tree are its leaves, then its gates, level by level: gate g is node leaves + g and
// reads nodes 2 g and 2 g + 1.
template <class T, int L>
struct Tree {
  using D = hn::ScalableTag<T>;
  using Vec = hn::Vec<D>;
  static constexpr std::size_t leaves = std::size_t{1} << L;
  static constexpr std::size_t gates = leaves - 1;
  static constexpr std::size_t nodes = leaves + gates;
  static constexpr std::size_t largest_pool = max_tree_pool;

  /// Where the coefficients of a gate are: in [tables, 4] of its level.
  struct Place {
    std::size_t level;
    std::size_t offset;
  };
  static HWY_INLINE void FindPlaces(std::size_t kernel, Place* places) {
    std::size_t g = 0;
    for (std::size_t level = 0; level < static_cast<std::size_t>(L); ++level) {
      const std::size_t width = leaves >> (level + 1);
      for (std::size_t i = 0; i < width; ++i) places[g++] = {level, (kernel * width + i) * 4};
    }
  }

  /// The rows of the leaves at one position, and whether they lie outside of the image.
  struct LeafRows {
    std::size_t source[leaves];
    bool outside[leaves];
  };
  static HWY_INLINE LeafRows RowsAt(const TreeBlock& block, std::size_t kernel,
                                    std::size_t position) {
    LeafRows rows;
    const auto positions = static_cast<std::size_t>(block.trees.positions);
    for (std::size_t i = 0; i < leaves / 2; ++i) {
      const std::size_t gate = (kernel * (leaves / 2) + i) * positions + position;
      const unsigned outside = block.trees.outside.empty() ? 0U : block.trees.outside[gate];
      for (std::size_t slot = 0; slot < 2; ++slot) {
        rows.source[2 * i + slot] = static_cast<std::size_t>(block.trees.sources[2 * gate + slot]);
        rows.outside[2 * i + slot] = ((outside >> slot) & 1U) != 0;
      }
    }
    return rows;
  }

  static HWY_INLINE void Evaluate(const TreeBlock& block, const Place* places, const LeafRows& rows,
                                  const T* x, std::size_t tile, std::size_t at, Vec* node) {
    const D d;
    for (std::size_t i = 0; i < leaves; ++i) {
      node[i] = rows.outside[i] ? hn::Zero(d) : hn::LoadU(d, x + rows.source[i] * tile + at);
    }
    for (std::size_t g = 0; g < gates; ++g) {
      const T* c = static_cast<const T*>(block.coefficients[places[g].level]) + places[g].offset;
      const Vec a = node[2 * g];
      const Vec with_b = hn::MulAdd(hn::Set(d, c[3]), a, hn::Set(d, c[2]));
      const Vec without_b = hn::MulAdd(hn::Set(d, c[1]), a, hn::Set(d, c[0]));
      node[leaves + g] = hn::MulAdd(with_b, node[2 * g + 1], without_b);
    }
  }

  /// From the gradient of the root to those of all nodes. Adds the sums of g, g a, g b and g ab of
  /// every gate.
  static HWY_INLINE void Differentiate(const TreeBlock& block, const Place* places, const Vec* node,
                                       Vec root, Vec* gradient, Vec* sums) {
    const D d;
    gradient[nodes - 1] = root;
    for (std::size_t g = gates; g-- > 0;) {
      const T* c = static_cast<const T*>(block.coefficients[places[g].level]) + places[g].offset;
      const Vec upstream = gradient[leaves + g];
      const Vec a = node[2 * g];
      const Vec b = node[2 * g + 1];
      const Vec with_a = hn::Mul(upstream, a);
      sums[4 * g] = hn::Add(sums[4 * g], upstream);
      sums[4 * g + 1] = hn::Add(sums[4 * g + 1], with_a);
      sums[4 * g + 2] = hn::MulAdd(upstream, b, sums[4 * g + 2]);
      sums[4 * g + 3] = hn::MulAdd(with_a, b, sums[4 * g + 3]);
      const Vec both = hn::Set(d, c[3]);
      gradient[2 * g] = hn::Mul(upstream, hn::MulAdd(both, b, hn::Set(d, c[1])));
      gradient[2 * g + 1] = hn::Mul(upstream, hn::MulAdd(both, a, hn::Set(d, c[2])));
    }
  }

  static HWY_INLINE void AddSums(const Place* places, const Vec* sums, std::span<void* const> to) {
    const D d;
    for (std::size_t g = 0; g < gates; ++g) {
      T totals[4];
      FoldFour(d, sums[4 * g], sums[4 * g + 1], sums[4 * g + 2], sums[4 * g + 3], AddOp(), totals);
      T* own = static_cast<T*>(to[places[g].level]) + places[g].offset;
      for (std::size_t s = 0; s < 4; ++s) own[s] += totals[s];
    }
  }

  /// Root `k` of output `q`.
  static HWY_INLINE std::size_t Root(const TreeBlock& block, std::size_t q, std::size_t k) {
    return static_cast<std::size_t>(
        block.trees.root(static_cast<std::int64_t>(q), static_cast<std::int64_t>(k)));
  }

  /// The output `q`: its kernel, and the rows of each of its positions.
  struct Output {
    Output(const TreeBlock& block, std::size_t q)
        : count(static_cast<std::size_t>(block.trees.pool)) {
      const auto positions = static_cast<std::size_t>(block.trees.positions);
      kernel = Root(block, q, 0) / positions;
      for (std::size_t k = 0; k < count; ++k) {
        rows[k] = RowsAt(block, kernel, Root(block, q, k) % positions);
      }
    }
    std::size_t count;
    std::size_t kernel;
    LeafRows rows[largest_pool];
  };

  static void Forward(const TreeBlock& block, const void* x, void* out, std::size_t tile) {
    const D d;
    Place places[gates];
    Vec node[nodes];
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(out);
    for (std::size_t q = 0; q < static_cast<std::size_t>(block.trees.outputs); ++q, to += tile) {
      const Output output(block, q);
      FindPlaces(output.kernel, places);
      for (std::size_t at = 0; at < tile; at += hn::Lanes(d)) {
        Evaluate(block, places, output.rows[0], from, tile, at, node);
        Vec largest = node[nodes - 1];
        for (std::size_t k = 1; k < output.count; ++k) {
          Evaluate(block, places, output.rows[k], from, tile, at, node);
          largest = hn::Max(largest, node[nodes - 1]);
        }
        hn::StoreU(largest, d, to + at);
      }
    }
  }

  static void Backward(const TreeBlock& block, const void* x, const void* g, void* gx,
                       std::span<void* const> sums, std::size_t tile) {
    const D d;
    Place places[gates];
    Vec node[largest_pool][nodes];
    Vec gradient[nodes];
    Vec own_sums[4 * gates];
    const T* from = static_cast<const T*>(x);
    const T* upstream = static_cast<const T*>(g);
    T* to = static_cast<T*>(gx);
    if (to != nullptr) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(block.trees.inputs) * tile; ++i)
        to[i] = 0;
    }
    const Vec one = hn::Set(d, T{1});
    for (std::size_t q = 0; q < static_cast<std::size_t>(block.trees.outputs);
         ++q, upstream += tile) {
      const Output output(block, q);
      FindPlaces(output.kernel, places);
      for (Vec& sum : own_sums) sum = hn::Zero(d);
      for (std::size_t at = 0; at < tile; at += hn::Lanes(d)) {
        for (std::size_t k = 0; k < output.count; ++k) {
          Evaluate(block, places, output.rows[k], from, tile, at, node[k]);
        }
        Vec largest = node[0][nodes - 1];
        for (std::size_t k = 1; k < output.count; ++k) {
          largest = hn::Max(largest, node[k][nodes - 1]);
        }
        Vec share = hn::LoadU(d, upstream + at);
        if (!block.trees.first_wins) {
          Vec winners = hn::Zero(d);
          for (std::size_t k = 0; k < output.count; ++k) {
            const auto wins = hn::Eq(node[k][nodes - 1], largest);
            winners = hn::Add(winners, hn::IfThenElseZero(wins, one));
          }
          share = hn::Div(share, winners);
        }
        for (std::size_t k = 0; k < output.count; ++k) {
          const auto wins = hn::Eq(node[k][nodes - 1], largest);
          Differentiate(block, places, node[k], hn::IfThenElseZero(wins, share), gradient,
                        own_sums);
          if (block.trees.first_wins) share = hn::IfThenZeroElse(wins, share);
          if (to == nullptr) continue;
          for (std::size_t i = 0; i < leaves; ++i) {
            if (output.rows[k].outside[i]) continue;
            T* row = to + output.rows[k].source[i] * tile + at;
            hn::StoreU(hn::Add(hn::LoadU(d, row), gradient[i]), d, row);
          }
        }
      }
      AddSums(places, own_sums, sums);
    }
  }
};

template <class T>
TreeKernels KernelsFor(int levels) {
  switch (levels) {
    case 1: return {&Tree<T, 1>::Forward, &Tree<T, 1>::Backward};
    case 2: return {&Tree<T, 2>::Forward, &Tree<T, 2>::Backward};
    case 3: return {&Tree<T, 3>::Forward, &Tree<T, 3>::Backward};
    default: return {&Tree<T, 4>::Forward, &Tree<T, 4>::Backward};
  }
}

TreeKernels FindTreeKernels(DType dtype, int levels) {
  return dtype == DType::float32 ? KernelsFor<float>(levels) : KernelsFor<double>(levels);
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(FindTreeKernels);

TreeKernels tree_kernels(DType dtype, int levels) {
  return HWY_DYNAMIC_DISPATCH(FindTreeKernels)(dtype, levels);
}

}  // namespace boolgrad::cpu
#endif

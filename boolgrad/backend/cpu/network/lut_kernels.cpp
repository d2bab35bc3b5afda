#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/network/lut_kernels.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include <hwy/cache_control.h>

#include "boolgrad/backend/cpu/network/lut_kernels.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {
/// sums[0..3] += the lane sums of four vectors.
template <class D, class V, class T>
HWY_INLINE void AddLanesOfFour(D d, V v0, V v1, V v2, V v3, T* sums) {
  if constexpr (CanFoldFour<D>()) {
    const hn::CappedTag<float, 4> four;
    hn::StoreU(hn::Add(hn::LoadU(four, sums), FoldedFour(d, v0, v1, v2, v3, AddOp())), four, sums);
  } else {
    T totals[4];
    FoldFour(d, v0, v1, v2, v3, AddOp(), totals);
    for (int i = 0; i < 4; ++i) sums[i] += totals[i];
  }
}

/// Calls f(i) for i = 0..N-1 with constants, so that arrays of vectors stay in registers.
template <std::size_t N, class F>
HWY_INLINE void Unrolled(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) HWY_ATTR {
    (f(std::integral_constant<std::size_t, I>{}), ...);
  }
  (std::make_index_sequence<N>{});
}

/// Calls f for 4, 2 or 1 vectors at a time until the tile is covered.
template <class T, class F>
HWY_INLINE void ForColumns(std::size_t tile, F f) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  std::size_t column = 0;
  for (; column + 4 * lanes <= tile; column += 4 * lanes) {
    f(std::integral_constant<std::size_t, 4>{}, column);
  }
  for (; column + 2 * lanes <= tile; column += 2 * lanes) {
    f(std::integral_constant<std::size_t, 2>{}, column);
  }
  for (; column + lanes <= tile; column += lanes) {
    f(std::integral_constant<std::size_t, 1>{}, column);
  }
}

// ------------------------------------------------------------------ two inputs

// c0 + c1 a + (c2 + c3 a) b
template <class T>
void ForwardPair(const LutWires& wires, const void* coefficients, const void* x, void* out,
                 std::size_t tile) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* c = static_cast<const T*>(coefficients);
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(out);
  const std::int32_t* source = wires.sources.data();
  for (std::int64_t gate = 0; gate < wires.gates; ++gate, c += 4, source += 2, to += tile) {
    const T* a = from + static_cast<std::size_t>(source[0]) * tile;
    const T* b = from + static_cast<std::size_t>(source[1]) * tile;
    const auto c0 = hn::Set(d, c[0]);
    const auto c1 = hn::Set(d, c[1]);
    const auto c2 = hn::Set(d, c[2]);
    const auto c3 = hn::Set(d, c[3]);
    ForColumns<T>(tile, [&](auto vectors, std::size_t column) HWY_ATTR {
      Unrolled<vectors>([&](auto v) HWY_ATTR {
        const std::size_t i = column + v * lanes;
        const auto va = hn::LoadU(d, a + i);
        const auto with_b = hn::MulAdd(c3, va, c2);
        const auto without_b = hn::MulAdd(c1, va, c0);
        hn::StoreU(hn::MulAdd(with_b, hn::LoadU(d, b + i), without_b), d, to + i);
      });
    });
  }
}

/// The backward pass on V vectors of a tile.
template <class T, std::size_t V>
struct PairColumns {
  using D = hn::ScalableTag<T>;
  using Vec = hn::Vec<D>;

  static HWY_INLINE void Load(const T* row, Vec* to) {
    const D d;
    Unrolled<V>([&](auto v) HWY_ATTR { to[v] = hn::LoadU(d, row + v * hn::Lanes(d)); });
  }

  // The sums of g, g a, g b and g ab: the gradients of the coefficients of a gate with inputs a, b.
  static HWY_INLINE void Sums(const Vec* g, const Vec* a, const Vec* b, T* sums) {
    const D d;
    Vec ga = hn::Mul(g[0], a[0]);
    Vec s0 = g[0];
    Vec s1 = ga;
    Vec s2 = hn::Mul(g[0], b[0]);
    Vec s3 = hn::Mul(ga, b[0]);
    Unrolled<V - 1>([&](auto v) HWY_ATTR {
      ga = hn::Mul(g[v + 1], a[v + 1]);
      s0 = hn::Add(s0, g[v + 1]);
      s1 = hn::Add(s1, ga);
      s2 = hn::MulAdd(g[v + 1], b[v + 1], s2);
      s3 = hn::MulAdd(ga, b[v + 1], s3);
    });
    AddLanesOfFour(d, s0, s1, s2, s3, sums);
  }

  // Prefetches the rows of a later consumer. Their addresses are random, so the hardware cannot
  // predict them, and the loops over consumers are too short for out-of-order execution to help.
  static HWY_INLINE void Prefetch(const LutWires& wires, const T* x, const T* g, std::size_t tile,
                                  std::size_t column, std::size_t k) {
    const std::size_t ahead = HWY_MIN(k + 6, wires.consumers.size() - 1);
    const T* upstream = g + static_cast<std::size_t>(wires.consumers[ahead].gate) * tile + column;
    const T* other = x + static_cast<std::size_t>(wires.partners[ahead]) * tile + column;
    for (std::size_t line = 0; line < V * hn::Lanes(D()) * sizeof(T); line += 64) {
      hwy::Prefetch(reinterpret_cast<const char*>(upstream) + line);
      hwy::Prefetch(reinterpret_cast<const char*>(other) + line);
    }
  }

  // The gradient of one input: g (c1 + c3 b) from gates that read it first, g (c2 + c3 a) from
  // gates that read it second.
  template <bool kAhead>
  static HWY_INLINE void Gather(const LutWires& wires, const T* c, const T* x, const T* g, T* gx,
                                T* sums, std::size_t tile, std::size_t input, std::size_t column) {
    const D d;
    Vec own[V];
    Load(x + input * tile + column, own);
    Vec total[V];
    Unrolled<V>([&](auto v) HWY_ATTR { total[v] = hn::Zero(d); });
    const std::size_t end = wires.first_consumer[input + 1];
    std::size_t k = wires.first_consumer[input];
    const auto visit = [&](auto slot) HWY_ATTR {
      if constexpr (kAhead) Prefetch(wires, x, g, tile, column, k);
      const auto gate = static_cast<std::size_t>(wires.consumers[k].gate);
      Vec other[V];
      Load(x + static_cast<std::size_t>(wires.partners[k]) * tile + column, other);
      Vec upstream[V];
      Load(g + gate * tile + column, upstream);
      const Vec alone = hn::Set(d, c[gate * 4 + 1 + slot]);
      const Vec both = hn::Set(d, c[gate * 4 + 3]);
      Unrolled<V>([&](auto v) HWY_ATTR {
        const Vec slope = hn::MulAdd(both, other[v], alone);
        total[v] = hn::MulAdd(upstream[v], slope, total[v]);
      });
      if constexpr (slot == 0) Sums(upstream, own, other, sums + gate * 4);
    };
    for (; k < end && wires.consumers[k].slot == 0; ++k) {
      visit(std::integral_constant<std::size_t, 0>{});
    }
    for (; k < end; ++k) visit(std::integral_constant<std::size_t, 1>{});
    T* to = gx + input * tile + column;
    Unrolled<V>([&](auto v) HWY_ATTR { hn::StoreU(total[v], d, to + v * hn::Lanes(d)); });
  }

  template <bool kAhead>
  static HWY_INLINE void GatherAll(const LutWires& wires, const T* c, const T* x, const T* g, T* gx,
                                   T* sums, std::size_t tile, std::size_t column) {
    for (std::size_t input = 0; input < static_cast<std::size_t>(wires.inputs); ++input) {
      Gather<kAhead>(wires, c, x, g, gx, sums, tile, input, column);
    }
  }
};

template <class T>
void BackwardPair(const LutWires& wires, const void* coefficients, const void* x, const void* g,
                  void* gx, void* sums, std::size_t tile) {
  const T* c = static_cast<const T*>(coefficients);
  const T* from = static_cast<const T*>(x);
  const T* upstream = static_cast<const T*>(g);
  T* to = static_cast<T*>(gx);
  T* total = static_cast<T*>(sums);
  if (to != nullptr) {
    // Rows that fit into the second-level cache need no prefetching.
    constexpr std::size_t near = std::size_t{1} << 18;
    const auto rows = static_cast<std::size_t>(wires.inputs + wires.gates);
    const bool ahead = rows * tile * sizeof(T) > near;
    ForColumns<T>(tile, [&](auto vectors, std::size_t column) HWY_ATTR {
      using Columns = PairColumns<T, vectors>;
      if (ahead) {
        Columns::template GatherAll<true>(wires, c, from, upstream, to, total, tile, column);
      } else {
        Columns::template GatherAll<false>(wires, c, from, upstream, to, total, tile, column);
      }
    });
    return;
  }
  for (std::size_t gate = 0; gate < static_cast<std::size_t>(wires.gates); ++gate) {
    const T* a = from + static_cast<std::size_t>(wires.sources[gate * 2]) * tile;
    const T* b = from + static_cast<std::size_t>(wires.sources[gate * 2 + 1]) * tile;
    ForColumns<T>(tile, [&](auto vectors, std::size_t column) HWY_ATTR {
      using Columns = PairColumns<T, vectors>;
      typename Columns::Vec rows[3][vectors];
      Columns::Load(upstream + gate * tile + column, rows[0]);
      Columns::Load(a + column, rows[1]);
      Columns::Load(b + column, rows[2]);
      Columns::Sums(rows[0], rows[1], rows[2], total + gate * 4);
    });
  }
}

// ------------------------------------------------------------------ any number of inputs

/// The multilinear polynomial with coefficients c[0..2^K) at the vectors x[0..K). Each input halves
/// the number of coefficients.
template <int K, class D, class T, class V>
HWY_INLINE V Interpolated(D d, const T* c, const V* x) {
  if constexpr (K == 0) {
    static_cast<void>(x);
    return hn::Set(d, c[0]);
  } else {
    constexpr std::size_t half = std::size_t{1} << (K - 1);
    V values[half];
    for (std::size_t i = 0; i < half; ++i) {
      values[i] = hn::MulAdd(hn::Set(d, c[i + half]), x[K - 1], hn::Set(d, c[i]));
    }
    for (std::size_t width = half / 2, k = static_cast<std::size_t>(K - 1); width > 0; width /= 2) {
      --k;
      for (std::size_t i = 0; i < width; ++i) {
        values[i] = hn::MulAdd(values[i + width], x[k], values[i]);
      }
    }
    return values[0];
  }
}

/// The rows of a gate's inputs, in order.
template <int K, class T>
struct InputRows {
  InputRows(const LutWires& wires, const T* x, std::size_t gate, std::size_t tile) {
    for (std::size_t k = 0; k < K; ++k) {
      rows[k] = x + static_cast<std::size_t>(wires.sources[gate * K + k]) * tile;
    }
  }
  const T* rows[K];

  template <class D>
  HWY_INLINE void Load(D d, std::size_t at, hn::Vec<D>* values) const {
    for (std::size_t k = 0; k < K; ++k) values[k] = hn::LoadU(d, rows[k] + at);
  }
};

template <int K, class T>
void ForwardAny(const LutWires& wires, const void* coefficients, const void* x, void* out,
                std::size_t tile) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t entries = std::size_t{1} << K;
  const T* c = static_cast<const T*>(coefficients);
  T* to = static_cast<T*>(out);
  for (std::size_t gate = 0; gate < static_cast<std::size_t>(wires.gates); ++gate) {
    const InputRows<K, T> inputs(wires, static_cast<const T*>(x), gate, tile);
    for (std::size_t i = 0; i < tile; i += lanes) {
      hn::Vec<decltype(d)> values[K];
      inputs.Load(d, i, values);
      hn::StoreU(Interpolated<K>(d, c + gate * entries, values), d, to + gate * tile + i);
    }
  }
}

/// Adds the sum over the tile of g times every product of inputs to `sums`.
template <int K, class T>
HWY_INLINE void ProductSums(const InputRows<K, T>& inputs, const T* g, T* sums, std::size_t tile) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t entries = std::size_t{1} << K;
  Vec totals[entries];
  for (std::size_t s = 0; s < entries; ++s) totals[s] = hn::Zero(d);
  for (std::size_t i = 0; i < tile; i += lanes) {
    Vec values[K];
    inputs.Load(d, i, values);
    Vec products[entries];
    products[0] = hn::LoadU(d, g + i);
    for (std::size_t k = 0; k < K; ++k) {
      const std::size_t width = std::size_t{1} << k;
      for (std::size_t s = 0; s < width; ++s) products[s + width] = hn::Mul(products[s], values[k]);
    }
    for (std::size_t s = 0; s < entries; ++s) totals[s] = hn::Add(totals[s], products[s]);
  }
  if constexpr (entries >= 4) {
    for (std::size_t s = 0; s < entries; s += 4) {
      AddLanesOfFour(d, totals[s], totals[s + 1], totals[s + 2], totals[s + 3], sums + s);
    }
  } else {
    for (std::size_t s = 0; s < entries; ++s) {
      sums[s] += hn::GetLane(hn::SumOfLanes(d, totals[s]));
    }
  }
}

/// gx += g df/dx_slot, where df/dx_slot is the polynomial of the coefficients that contain `slot`.
template <int K, class T>
HWY_INLINE void AddSlopes(const InputRows<K, T>& inputs, const T* c, std::size_t slot, const T* g,
                          T* gx, std::size_t tile) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t half = std::size_t{1} << (K - 1);
  const std::size_t below = (std::size_t{1} << slot) - 1;
  T slopes[half];
  for (std::size_t s = 0; s < half; ++s) {
    slopes[s] = c[((s & ~below) << 1) | (std::size_t{1} << slot) | (s & below)];
  }
  for (std::size_t i = 0; i < tile; i += lanes) {
    Vec others[K];
    std::size_t count = 0;
    for (std::size_t k = 0; k < K; ++k) {
      if (k != slot) others[count++] = hn::LoadU(d, inputs.rows[k] + i);
    }
    const Vec slope = Interpolated<K - 1>(d, slopes, others);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, g + i), slope, hn::LoadU(d, gx + i)), d, gx + i);
  }
}

template <int K, class T>
void BackwardAny(const LutWires& wires, const void* coefficients, const void* x, const void* g,
                 void* gx, void* sums, std::size_t tile) {
  constexpr std::size_t entries = std::size_t{1} << K;
  const T* c = static_cast<const T*>(coefficients);
  const T* from = static_cast<const T*>(x);
  const T* upstream = static_cast<const T*>(g);
  T* to = static_cast<T*>(gx);
  T* total = static_cast<T*>(sums);
  for (std::size_t gate = 0; gate < static_cast<std::size_t>(wires.gates); ++gate) {
    const InputRows<K, T> inputs(wires, from, gate, tile);
    ProductSums(inputs, upstream + gate * tile, total + gate * entries, tile);
  }
  if (to == nullptr) return;
  for (std::size_t input = 0; input < static_cast<std::size_t>(wires.inputs); ++input) {
    T* row = to + input * tile;
    for (std::size_t i = 0; i < tile; ++i) row[i] = 0;
    const std::size_t end = wires.first_consumer[input + 1];
    for (std::size_t k = wires.first_consumer[input]; k < end; ++k) {
      const auto gate = static_cast<std::size_t>(wires.consumers[k].gate);
      const InputRows<K, T> inputs(wires, from, gate, tile);
      AddSlopes(inputs, c + gate * entries, static_cast<std::size_t>(wires.consumers[k].slot),
                upstream + gate * tile, row, tile);
    }
  }
}

template <class T>
LutKernels KernelsFor(int arity) {
  switch (arity) {
    case 1: return {&ForwardAny<1, T>, &BackwardAny<1, T>};
    case 2: return {&ForwardPair<T>, &BackwardPair<T>};
    case 3: return {&ForwardAny<3, T>, &BackwardAny<3, T>};
    case 4: return {&ForwardAny<4, T>, &BackwardAny<4, T>};
    case 5: return {&ForwardAny<5, T>, &BackwardAny<5, T>};
    default: return {&ForwardAny<6, T>, &BackwardAny<6, T>};
  }
}

// ------------------------------------------------------------------ pooling

/// The largest input of a gate at one vector of samples.
template <class D, class T>
HWY_INLINE hn::Vec<D> LargestInput(D d, const LutWires& wires, const T* x, std::size_t gate,
                                   std::size_t tile, std::size_t at) {
  const auto arity = static_cast<std::size_t>(wires.arity);
  const std::int32_t* source = wires.sources.data() + gate * arity;
  auto largest = hn::LoadU(d, x + static_cast<std::size_t>(source[0]) * tile + at);
  for (std::size_t k = 1; k < arity; ++k) {
    largest = hn::Max(largest, hn::LoadU(d, x + static_cast<std::size_t>(source[k]) * tile + at));
  }
  return largest;
}

template <class T>
void ForwardPool(const LutWires& wires, const void* /*coefficients*/, const void* x, void* out,
                 std::size_t tile) {
  const hn::ScalableTag<T> d;
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(out);
  for (std::size_t gate = 0; gate < static_cast<std::size_t>(wires.gates); ++gate) {
    for (std::size_t i = 0; i < tile; i += hn::Lanes(d)) {
      hn::StoreU(LargestInput(d, wires, from, gate, tile, i), d, to + gate * tile + i);
    }
  }
}

template <class T>
void BackwardPool(const LutWires& wires, const void* /*coefficients*/, const void* x, const void* g,
                  void* gx, void* /*sums*/, std::size_t tile) {
  if (gx == nullptr) return;
  const hn::ScalableTag<T> d;
  const auto arity = static_cast<std::size_t>(wires.arity);
  const T* from = static_cast<const T*>(x);
  const T* upstream = static_cast<const T*>(g);
  T* to = static_cast<T*>(gx);
  for (std::size_t i = 0; i < static_cast<std::size_t>(wires.inputs) * tile; ++i) to[i] = 0;
  const auto one = hn::Set(d, T{1});
  for (std::size_t gate = 0; gate < static_cast<std::size_t>(wires.gates); ++gate) {
    const std::int32_t* source = wires.sources.data() + gate * arity;
    for (std::size_t i = 0; i < tile; i += hn::Lanes(d)) {
      const auto largest = LargestInput(d, wires, from, gate, tile, i);
      if (wires.first_wins) {
        auto rest = hn::LoadU(d, upstream + gate * tile + i);
        for (std::size_t k = 0; k < arity; ++k) {
          const std::size_t at = static_cast<std::size_t>(source[k]) * tile + i;
          const auto wins = hn::Eq(hn::LoadU(d, from + at), largest);
          hn::StoreU(hn::Add(hn::LoadU(d, to + at), hn::IfThenElseZero(wins, rest)), d, to + at);
          rest = hn::IfThenZeroElse(wins, rest);
        }
        continue;
      }
      auto winners = hn::Zero(d);
      for (std::size_t k = 0; k < arity; ++k) {
        const auto input = hn::LoadU(d, from + static_cast<std::size_t>(source[k]) * tile + i);
        winners = hn::Add(winners, hn::IfThenElseZero(hn::Eq(input, largest), one));
      }
      const auto share = hn::Div(hn::LoadU(d, upstream + gate * tile + i), winners);
      for (std::size_t k = 0; k < arity; ++k) {
        const std::size_t at = static_cast<std::size_t>(source[k]) * tile + i;
        const auto wins = hn::Eq(hn::LoadU(d, from + at), largest);
        hn::StoreU(hn::Add(hn::LoadU(d, to + at), hn::IfThenElseZero(wins, share)), d, to + at);
      }
    }
  }
}

LutKernels FindPoolingKernels(DType dtype) {
  if (dtype == DType::float32) return {&ForwardPool<float>, &BackwardPool<float>};
  return {&ForwardPool<double>, &BackwardPool<double>};
}

LutKernels FindLutKernels(DType dtype, int arity) {
  return dtype == DType::float32 ? KernelsFor<float>(arity) : KernelsFor<double>(arity);
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(FindLutKernels);
HWY_EXPORT(FindPoolingKernels);

LutKernels lut_kernels(DType dtype, int arity) {
  return HWY_DYNAMIC_DISPATCH(FindLutKernels)(dtype, arity);
}

LutKernels pooling_kernels(DType dtype) { return HWY_DYNAMIC_DISPATCH(FindPoolingKernels)(dtype); }

}  // namespace boolgrad::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/bits/bit_kernels.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <array>
#include <cstring>
#include <utility>

#include "boolgrad/backend/cpu/bits/bit_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, min_row_words>;
using Vec = hn::Vec<Words>;

template <BitInner inner>
HWY_INLINE Vec Inner(Vec a, Vec b) {
  if constexpr (inner == BitInner::conjunction) return hn::And(a, b);
  if constexpr (inner == BitInner::difference) return hn::AndNot(b, a);
  if constexpr (inner == BitInner::disjunction) return hn::Or(a, b);
  if constexpr (inner == BitInner::exclusive_or) return hn::Xor(a, b);
}

constexpr bool ReadsThird(BitOuter outer) {
  return outer != BitOuter::same && outer != BitOuter::complement;
}

template <BitOuter outer>
HWY_INLINE Vec Outer(Vec v, Vec c) {
  if constexpr (outer == BitOuter::same) return v;
  if constexpr (outer == BitOuter::complement) return hn::Not(v);
  if constexpr (outer == BitOuter::conjunction) return hn::And(v, c);
  if constexpr (outer == BitOuter::without) return hn::AndNot(c, v);
  if constexpr (outer == BitOuter::outside) return hn::AndNot(v, c);
  if constexpr (outer == BitOuter::neither) return hn::Not(hn::Or(v, c));
  if constexpr (outer == BitOuter::exclusive_or) return hn::Xor(v, c);
  if constexpr (outer == BitOuter::equal) return hn::Not(hn::Xor(v, c));
}

/// Runs steps with the same operations on rows of W words.
template <std::size_t W, BitInner inner, BitOuter outer>
void RunSteps(const BitStep* step, std::size_t count, std::uint64_t* scratch) {
  const Words d;
  for (const BitStep* end = step + count; step != end; ++step) {
    const std::uint64_t* a = scratch + step->a * W;
    const std::uint64_t* b = scratch + step->b * W;
    const std::uint64_t* c = scratch + step->c * W;
    std::uint64_t* out = scratch + step->out * W;
    for (std::size_t i = 0; i < W; i += hn::Lanes(d)) {
      const Vec v = Inner<inner>(hn::Load(d, a + i), hn::Load(d, b + i));
      Vec third = v;
      if constexpr (ReadsThird(outer)) third = hn::Load(d, c + i);
      hn::Store(Outer<outer>(v, third), d, out + i);
    }
  }
}

using StepsFunction = void (*)(const BitStep*, std::size_t, std::uint64_t*);

/// RunSteps for all operations, by outer and inner.
template <std::size_t W, std::size_t... I>
constexpr std::array<StepsFunction, sizeof...(I)> EveryKind(std::index_sequence<I...>) {
  return {&RunSteps<W, static_cast<BitInner>(I % bit_inners),
                    static_cast<BitOuter>(I / bit_inners)>...};
}

/// Runs all steps on rows of W words, in place.
template <std::size_t W>
void RunAllSteps(const BitProgramView& code, std::uint64_t* scratch) {
  static constexpr auto kinds = EveryKind<W>(std::make_index_sequence<bit_inners * bit_outers>{});
  const BitStep* step = code.steps.data();
  for (const BitRun& run : code.runs) {
    const auto kind =
        static_cast<std::size_t>(run.outer) * bit_inners + static_cast<std::size_t>(run.inner);
    kinds[kind](step, run.count, scratch);
    step += run.count;
  }
}

template <std::size_t W>
HWY_INLINE void CopyRow(const std::uint64_t* from, std::uint64_t flip, std::uint64_t* to) {
  const Words d;
  const Vec flips = hn::Set(d, flip);
  for (std::size_t i = 0; i < W; i += hn::Lanes(d)) {
    hn::StoreU(hn::Xor(hn::Load(d, from + i), flips), d, to + i);
  }
}

/// Runs the program on `count` words from `at` on, at most W.
template <std::size_t W>
void RunRows(const BitProgramView& code, const std::uint64_t* const* inputs,
             std::uint64_t* const* outputs, std::size_t at, std::size_t count,
             std::uint64_t* scratch) {
  const std::size_t bytes = count * sizeof(std::uint64_t);
  for (const BitPort& port : code.inputs) {
    std::memcpy(scratch + port.slot * W, inputs[port.index] + at, bytes);
  }
  RunAllSteps<W>(code, scratch);
  for (const BitPort& port : code.outputs) {
    const std::uint64_t* from = scratch + port.slot * W;
    std::uint64_t* to = outputs[port.index] + at;
    const std::uint64_t flip = port.complemented ? ~std::uint64_t{0} : 0;
    if (count == W) {
      CopyRow<W>(from, flip, to);
    } else {
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i] ^ flip;
    }
  }
}

/// Runs the program on full rows of W words, then on half rows, and finally on the rest.
template <std::size_t W>
void RunFrom(const BitProgramView& code, const std::uint64_t* const* inputs,
             std::uint64_t* const* outputs, std::size_t at, std::size_t words,
             std::uint64_t* scratch) {
  if (code.row_words >= W) {
    for (; at + W <= words; at += W) RunRows<W>(code, inputs, outputs, at, W, scratch);
  }
  if constexpr (W > min_row_words) {
    RunFrom<W / 2>(code, inputs, outputs, at, words, scratch);
  } else if (at < words) {
    RunRows<W>(code, inputs, outputs, at, words - at, scratch);
  }
}

void RunBits(const BitProgramView& code, const std::uint64_t* const* inputs,
             std::uint64_t* const* outputs, std::size_t words, std::uint64_t* scratch) {
  RunFrom<max_row_words>(code, inputs, outputs, 0, words, scratch);
}

template <std::size_t W>
void RunStepsOfRows(const BitProgramView& code, std::size_t row_words, std::uint64_t* scratch) {
  if (row_words == W) return RunAllSteps<W>(code, scratch);
  if constexpr (W > min_row_words) RunStepsOfRows<W / 2>(code, row_words, scratch);
}

void RunBitSteps(const BitProgramView& code, std::size_t row_words, std::uint64_t* scratch) {
  RunStepsOfRows<max_row_words>(code, row_words, scratch);
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {
namespace {

/// Thread-local scratch memory. It grows and is kept, because calls may be short.
std::uint64_t* scratch_of_thread(std::size_t words) {
  thread_local hwy::AlignedFreeUniquePtr<std::uint64_t[]> block;
  thread_local std::size_t size = 0;
  if (size < words) {
    block = hwy::AllocateAligned<std::uint64_t>(words);
    size = words;
  }
  return block.get();
}

}  // namespace

HWY_EXPORT(RunBits);
HWY_EXPORT(RunBitSteps);

void run_bits(const BitProgramView& code, const std::uint64_t* const* inputs,
              std::uint64_t* const* outputs, std::size_t words) {
  std::uint64_t* scratch = scratch_of_thread(code.slots * code.row_words);
  HWY_DYNAMIC_DISPATCH(RunBits)(code, inputs, outputs, words, scratch);
}

void run_bit_steps(const BitProgramView& code, std::size_t row_words, std::uint64_t* scratch) {
  HWY_DYNAMIC_DISPATCH(RunBitSteps)(code, row_words, scratch);
}

}  // namespace boolgrad::cpu
#endif

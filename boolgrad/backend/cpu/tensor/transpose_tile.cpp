#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/tensor/transpose_tile.cpp"
#include <hwy/foreach_target.h>
// Highway's own header needs the macros of the line above.
#include <hwy/highway.h>

#include "boolgrad/backend/cpu/tensor/transpose_tile.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void TransposeWords(const std::uint32_t* from, std::ptrdiff_t from_apart, std::uint32_t* to,
                    std::ptrdiff_t to_apart, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  std::ptrdiff_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  // Four by four words in registers.
  const hn::FixedTag<std::uint32_t, 4> d;
  for (; c + 4 <= columns; c += 4) {
    const std::uint32_t* source = from + c * from_apart;
    std::ptrdiff_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      const auto v0 = hn::LoadU(d, source + r);
      const auto v1 = hn::LoadU(d, source + from_apart + r);
      const auto v2 = hn::LoadU(d, source + 2 * from_apart + r);
      const auto v3 = hn::LoadU(d, source + 3 * from_apart + r);
      const auto low01 = hn::InterleaveLower(d, v0, v1);
      const auto high01 = hn::InterleaveUpper(d, v0, v1);
      const auto low23 = hn::InterleaveLower(d, v2, v3);
      const auto high23 = hn::InterleaveUpper(d, v2, v3);
      std::uint32_t* target = to + r * to_apart + c;
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, target);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, target + to_apart);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, target + 2 * to_apart);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, target + 3 * to_apart);
    }
    transpose_tile<std::uint32_t>(source + r, from_apart, to + r * to_apart + c, to_apart, rows - r,
                                  4);
  }
#endif
  transpose_tile<std::uint32_t>(from + c * from_apart, from_apart, to + c, to_apart, rows,
                                columns - c);
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(TransposeWords);

void transpose_tile(const std::uint32_t* from, std::ptrdiff_t from_apart, std::uint32_t* to,
                    std::ptrdiff_t to_apart, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  HWY_DYNAMIC_DISPATCH(TransposeWords)(from, from_apart, to, to_apart, rows, columns);
}

}  // namespace boolgrad::cpu
#endif

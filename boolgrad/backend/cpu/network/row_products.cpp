#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/network/row_products.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include "boolgrad/backend/cpu/network/row_products.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

template <class T>
T DotTail(const T* a, const T* b, std::size_t first, std::size_t length, T sum) {
  for (std::size_t i = first; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

/// Four rows at a time share the loads of `row`.
template <class T>
void Dots(const void* row, const void* matrix, std::span<const std::int32_t> rows,
          std::size_t length, void* results) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = length / lanes * lanes;
  const T* own = static_cast<const T*>(row);
  T* to = static_cast<T*>(results);
  const auto start = [&](std::size_t i) HWY_ATTR {
    return static_cast<const T*>(matrix) + static_cast<std::size_t>(rows[i]) * length;
  };
  std::size_t i = 0;
  for (; i + 4 <= rows.size(); i += 4) {
    const T* r[4] = {start(i), start(i + 1), start(i + 2), start(i + 3)};
    auto s0 = hn::Zero(d);
    auto s1 = s0;
    auto s2 = s0;
    auto s3 = s0;
    for (std::size_t at = 0; at < whole; at += lanes) {
      const auto v = hn::LoadU(d, own + at);
      s0 = hn::MulAdd(v, hn::LoadU(d, r[0] + at), s0);
      s1 = hn::MulAdd(v, hn::LoadU(d, r[1] + at), s1);
      s2 = hn::MulAdd(v, hn::LoadU(d, r[2] + at), s2);
      s3 = hn::MulAdd(v, hn::LoadU(d, r[3] + at), s3);
    }
    T totals[4];
    FoldFour(d, s0, s1, s2, s3, AddOp(), totals);
    for (std::size_t k = 0; k < 4; ++k) to[i + k] = DotTail(own, r[k], whole, length, totals[k]);
  }
  for (; i < rows.size(); ++i) {
    const T* one = start(i);
    auto sum = hn::Zero(d);
    for (std::size_t at = 0; at < whole; at += lanes) {
      sum = hn::MulAdd(hn::LoadU(d, own + at), hn::LoadU(d, one + at), sum);
    }
    to[i] = DotTail(own, one, whole, length, AddOp().OfLanes(d, sum));
  }
}

/// Keeps a block of columns in registers while it goes through the rows.
template <class T>
void AddScaled(const void* matrix, std::span<const std::int32_t> rows, const void* factors,
               std::size_t length, void* to) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* from = static_cast<const T*>(matrix);
  const T* factor = static_cast<const T*>(factors);
  T* sums = static_cast<T*>(to);
  std::size_t at = 0;
  for (; at + 4 * lanes <= length; at += 4 * lanes) {
    auto s0 = hn::LoadU(d, sums + at);
    auto s1 = hn::LoadU(d, sums + at + lanes);
    auto s2 = hn::LoadU(d, sums + at + 2 * lanes);
    auto s3 = hn::LoadU(d, sums + at + 3 * lanes);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const T* one = from + static_cast<std::size_t>(rows[i]) * length + at;
      const auto f = hn::Set(d, factor[i]);
      s0 = hn::MulAdd(f, hn::LoadU(d, one), s0);
      s1 = hn::MulAdd(f, hn::LoadU(d, one + lanes), s1);
      s2 = hn::MulAdd(f, hn::LoadU(d, one + 2 * lanes), s2);
      s3 = hn::MulAdd(f, hn::LoadU(d, one + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, sums + at);
    hn::StoreU(s1, d, sums + at + lanes);
    hn::StoreU(s2, d, sums + at + 2 * lanes);
    hn::StoreU(s3, d, sums + at + 3 * lanes);
  }
  for (; at < length; ++at) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sums[at] += factor[i] * from[static_cast<std::size_t>(rows[i]) * length + at];
    }
  }
}

RowProducts FindRowProducts(DType dtype) {
  if (dtype == DType::float32) return {Dots<float>, AddScaled<float>};
  return {Dots<double>, AddScaled<double>};
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(FindRowProducts);

RowProducts row_products(DType dtype) { return HWY_DYNAMIC_DISPATCH(FindRowProducts)(dtype); }

}  // namespace boolgrad::cpu
#endif

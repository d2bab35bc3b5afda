// Vector functions shared by the kernels. Included once per instruction set, inside HWY_NAMESPACE.
#if defined(BOOLGRAD_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BOOLGRAD_VECTOR_MATH_INL_H_
#undef BOOLGRAD_VECTOR_MATH_INL_H_
#else
#define BOOLGRAD_VECTOR_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "boolgrad/backend/cpu/tensor/normal_cdf_coefficients.h"
#include "boolgrad/tensor/float16.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The type in which a stored type is computed: float for Float16 and float, double for double.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
using ComputeTag = hn::ScalableTag<Compute<T>>;

/// Loads a full vector of stored elements.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadAs(D d, const T* from) {
  if constexpr (std::is_same_v<T, Float16>) {
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from)));
  } else {
    return hn::LoadU(d, from);
  }
}

template <class D, class T, class V>
HWY_INLINE void StoreAs(D d, V value, T* to) {
  if constexpr (std::is_same_v<T, Float16>) {
    const hn::Rebind<hwy::float16_t, D> half;
    hn::StoreU(hn::DemoteTo(half, value), half, reinterpret_cast<hwy::float16_t*>(to));
  } else {
    hn::StoreU(value, d, to);
  }
}

// Whether masked loads and stores do not access the memory of inactive lanes.
#if HWY_MEM_OPS_MIGHT_FAULT
template <class T>
inline constexpr bool masks_memory = false;
#else
template <class T>
inline constexpr bool masks_memory = !std::is_same_v<T, Float16>;
#endif

/// Loads the first `count` elements. The other lanes are undefined.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadSome(D d, const T* from, std::size_t count) {
  if constexpr (masks_memory<T>) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)] = {};
    std::memcpy(buffer, from, count * sizeof(T));
    return LoadAs(d, buffer);
  }
}

template <class D, class T, class V>
HWY_INLINE void StoreSome(D d, V value, T* to, std::size_t count) {
  if constexpr (masks_memory<T>) {
    hn::BlendedStore(value, hn::FirstN(d, count), d, to);
  } else {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)];
    StoreAs(d, value, buffer);
    std::memcpy(to, buffer, count * sizeof(T));
  }
}

/// The same for counts up to a full vector.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadUpTo(D d, const T* from, std::size_t count) {
  return count == hn::Lanes(d) ? LoadAs(d, from) : LoadSome(d, from, count);
}

template <class D, class T, class V>
HWY_INLINE void StoreUpTo(D d, V value, T* to, std::size_t count) {
  if (count == hn::Lanes(d)) StoreAs(d, value, to);
  else StoreSome(d, value, to, count);
}

/// Operations for reductions over lanes.
struct AddOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
  template <class D, class V>
  HWY_INLINE hn::TFromD<D> OfLanes(D d, V v) const {
    return hn::GetLane(hn::SumOfLanes(d, v));
  }
};

struct MaxOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
  template <class D, class V>
  HWY_INLINE hn::TFromD<D> OfLanes(D d, V v) const {
    return hn::GetLane(hn::MaxOfLanes(d, v));
  }
};

#if HWY_TARGET == HWY_SCALAR
constexpr bool has_blocks = false;
template <class D, class V, class Op>
V FoldedFour(D d, V v0, V v1, V v2, V v3, Op op);
#else
constexpr bool has_blocks = true;
/// Reduces the lanes of v0..v3 with `op` to four floats. Four at a time cost little more than one:
/// they are transposed while reducing, block by block.
template <class D, class V, class Op>
HWY_INLINE auto FoldedFour(D d, V v0, V v1, V v2, V v3, Op op) {
  const hn::Repartition<double, D> pairs;
  const V first = op(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1));
  const V second = op(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3));
  const auto left = hn::BitCast(pairs, first);
  const auto right = hn::BitCast(pairs, second);
  const V blocks = op(hn::BitCast(d, hn::InterleaveLower(pairs, left, right)),
                      hn::BitCast(d, hn::InterleaveUpper(pairs, left, right)));
  if constexpr (hn::MaxLanes(D()) == 16) {
    const hn::Half<D> half;
    const hn::Half<decltype(half)> quarter;
    const auto two = op(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks));
    return op(hn::LowerHalf(quarter, two), hn::UpperHalf(quarter, two));
  } else if constexpr (hn::MaxLanes(D()) == 8) {
    const hn::Half<D> half;
    return op(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks));
  } else {
    return blocks;
  }
}
#endif

/// Whether vectors of D can be reduced four at a time.
template <class D>
constexpr bool CanFoldFour() {
  return has_blocks && sizeof(hn::TFromD<D>) == 4 && hn::MaxLanes(D()) >= 4 &&
         hn::MaxLanes(D()) <= 16;
}

/// results[i] = the reduction of all lanes of v_i with `op`.
template <class D, class V, class Op, class T>
HWY_INLINE void FoldFour(D d, V v0, V v1, V v2, V v3, Op op, T* results) {
  if constexpr (CanFoldFour<D>()) {
    hn::StoreU(FoldedFour(d, v0, v1, v2, v3, op), hn::CappedTag<float, 4>(), results);
  } else {
    results[0] = op.OfLanes(d, v0);
    results[1] = op.OfLanes(d, v1);
    results[2] = op.OfLanes(d, v2);
    results[3] = op.OfLanes(d, v3);
  }
}

template <class D, class V>
HWY_INLINE V Infinity(D d, V /*like*/) {
  return hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
}

template <class D, class V>
HWY_INLINE V NotANumber(D d, V /*like*/) {
  return hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
}

/// e^x on the whole line: 0 and infinity at the ends, NaN for NaN.
template <class D, class V>
HWY_INLINE V ExpOf(D d, V x) {
  using T = hn::TFromD<D>;
  const T high = std::is_same_v<T, double> ? T(720) : T(104);  // both overflow to infinity
  const V value = hn::Exp(d, hn::Min(x, hn::Set(d, high)));
  return hn::IfThenElse(hn::Eq(x, x), value, x);
}

/// 2^Power e^x with an error of at most two ulp, for sums of exponentials. Results below the
/// smallest normal number are 0, NaN gives NaN, and overflow gives infinity.
template <int Power = 0, class D, class V>
HWY_INLINE V FastExp(D d, V x) {
  static_assert(Power >= 0 && Power < 8);
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    const V e = ExpOf(d, x);
    if constexpr (Power == 0) return e;
    else return hn::Mul(e, hn::Set(d, double{1 << Power}));
  } else {
    // x = q ln 2 + r with |r| <= ln 2 / 2; e^r = 1 + r + r^2 P(r) with P from a Chebyshev fit; q is
    // added to the exponent. Results out of range are replaced.
    const hn::RebindToSigned<D> di;
    const auto q = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504F)));
    const V qf = hn::ConvertTo(d, q);
    const V r = hn::NegMulAdd(qf, hn::Set(d, -2.12194440e-4F),
                              hn::NegMulAdd(qf, hn::Set(d, 0.693359375F), x));
    V p = hn::MulAdd(hn::Set(d, 0.00139262508F), r, hn::Set(d, 0.00836323288F));
    p = hn::MulAdd(p, r, hn::Set(d, 0.0416665542F));
    p = hn::MulAdd(p, r, hn::Set(d, 0.166665767F));
    p = hn::MulAdd(p, r, hn::Set(d, 0.5F));
    V e = hn::MulAdd(hn::Mul(r, r), p, hn::Add(r, hn::Set(d, 1.0F)));
    if constexpr (Power > 0) e = hn::Mul(e, hn::Set(d, float{1 << Power}));
    const V scaled = hn::BitCast(d, hn::Add(hn::BitCast(di, e), hn::ShiftLeft<23>(q)));
    constexpr float shift = 0.6931472F * Power;
    const V above = hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.722F - shift)), Infinity(d, x), scaled);
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, -87.3F - shift)), hn::Zero(d), above);
  }
}

/// Highway's logarithms are valid above 0 and below infinity. This adds -infinity at 0, NaN below,
/// infinity at infinity and NaN for NaN.
template <class D, class V>
HWY_INLINE V WithLogEdges(D d, V x, V inside) {
  const V zero = hn::Zero(d);
  const V infinity = Infinity(d, x);
  V value = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), inside);
  value = hn::IfThenElse(hn::Ge(x, zero), value, NotANumber(d, x));
  return hn::IfThenElse(hn::Eq(x, infinity), x, value);
}

template <class D, class V>
HWY_INLINE V LogOf(D d, V x) {
  return WithLogEdges(d, x, hn::Log(d, x));
}

/// 1 / (1 + e^-x). e^-x may be infinite, which gives the right 0.
template <class D, class V>
HWY_INLINE V SigmoidOf(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  return hn::Div(one, hn::Add(one, FastExp(d, hn::Neg(x))));
}

/// The derivative of the sigmoid times 2^Power, e / (1 + e)^2 with e = e^-|x|. Without cancellation
/// it has full relative precision as long as it is a normal number.
template <int Power = 0, class D, class V>
HWY_INLINE V SigmoidSlopeOf(D d, V x) {
  using T = hn::TFromD<D>;
  const V e = FastExp<Power>(d, hn::Neg(hn::Abs(x)));
  const V sum = hn::MulAdd(e, hn::Set(d, T(1) / T(1 << Power)), hn::Set(d, T(1)));
  return hn::Div(e, hn::Mul(sum, sum));
}

template <class D, class V>
HWY_INLINE V TanhOf(D d, V x) {
  return hn::Tanh(d, x);
}

/// `x` with a magnitude of at least 1e-10 and the same sign (0 counts as positive). Other values
/// are unchanged.
template <class D, class V>
HWY_INLINE V Floored(D d, V x) {
  const V floor = hn::Set(d, hn::TFromD<D>(1e-10));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), floor), hn::CopySign(floor, x), x);
}

/// Applies `f` lane by lane, for functions without a vector version.
template <class D, class V, class F>
HWY_INLINE V ByLane(D d, V a, V b, F f) {
  HWY_ALIGN hn::TFromD<D> first[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  HWY_ALIGN hn::TFromD<D> second[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(a, d, first);
  hn::Store(b, d, second);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) first[i] = f(first[i], second[i]);
  return hn::Load(d, first);
}

/// Applies a function of double vectors to float vectors.
template <class D, class V, class F>
HWY_INLINE V InDouble(D d, V a, V b, F f) {
#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<double, D> wide;
  return hn::DemoteTo(d, f(wide, hn::PromoteTo(wide, a), hn::PromoteTo(wide, b)));
#else
  const hn::Half<D> half;
  const hn::Repartition<double, D> wide;
  const auto low = f(wide, hn::PromoteTo(wide, hn::LowerHalf(half, a)),
                     hn::PromoteTo(wide, hn::LowerHalf(half, b)));
  const auto high = f(wide, hn::PromoteTo(wide, hn::UpperHalf(half, a)),
                      hn::PromoteTo(wide, hn::UpperHalf(half, b)));
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

/// Whether each lane is an integer.
template <class D, class V>
HWY_INLINE hn::Mask<D> IsInteger(D /*d*/, V x) {
  return hn::Eq(hn::Floor(x), x);
}

/// a^b for doubles, good to a float's precision.
template <class D, class V>
HWY_INLINE V WidePower(D d, V a, V b) {
  const V one = hn::Set(d, 1.0);
  const V zero = hn::Zero(d);
  V value = ExpOf(d, hn::Mul(b, LogOf(d, hn::Abs(a))));
  const V half = hn::Mul(b, hn::Set(d, 0.5));
  const auto odd = hn::AndNot(IsInteger(d, half), IsInteger(d, b));
  const auto negative = hn::Lt(a, zero);
  value = hn::IfThenElse(hn::And(negative, odd), hn::Neg(value), value);
  value = hn::IfThenElse(hn::AndNot(IsInteger(d, b), negative), NotANumber(d, a), value);
  return hn::IfThenElse(hn::Or(hn::Eq(b, zero), hn::Eq(a, one)), one, value);
}

/// a^b: float goes through double, so that large exponents lose nothing; double through libm.
template <class D, class V>
HWY_INLINE V PowerOf(D d, V a, V b) {
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    return ByLane(d, a, b, [](double x, double y) { return std::pow(x, y); });
  } else {
    return InDouble(d, a, b,
                    [](auto wide, auto x, auto y) HWY_ATTR { return WidePower(wide, x, y); });
  }
}

/// Polynomial with coefficients from the highest power down.
template <class D, class V, class T, std::size_t N>
HWY_INLINE V Polynomial(D d, V x, const T (&coefficients)[N]) {
  V value = hn::Set(d, coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) value = hn::MulAdd(value, x, hn::Set(d, coefficients[i]));
  return value;
}

/// The normal distribution function and density at x, sharing one exponential.
///
/// With z = |x|/sqrt 2 and t = 2/(2 + z), erfc(z) = t e^(-z^2) Q(t), where Q is smooth on (0, 1]
/// and approximated by a polynomial. Without cancellation the tails have full relative precision.
template <class D, class V>
HWY_INLINE void NormalCdf(D d, V x, V& cdf, V& density) {
  using T = hn::TFromD<D>;
  const V half = hn::Set(d, T(0.5));
  const V one = hn::Set(d, T(1));
  const V two = hn::Set(d, T(2));
  const V z = hn::Mul(hn::Abs(x), hn::Set(d, T(0.70710678118654752440)));
  const V t = hn::Div(two, hn::Add(two, z));
  // e^(-x^2/2) directly from x, because z^2 would double the rounding error of z.
  const V bell = FastExp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, T(-0.5))));
  const V s = hn::Sub(hn::Add(t, t), one);  // t on [0, 1] to [-1, 1]
  V q;
  if constexpr (std::is_same_v<T, double>) {
    q = Polynomial(d, s, normal_cdf_double);
  } else {
    q = Polynomial(d, s, normal_cdf_float);
  }
  const V tail = hn::Mul(half, hn::Mul(hn::Mul(t, q), bell));
  cdf = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
  density = hn::Mul(bell, hn::Set(d, T(0.39894228040143267794)));
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/tensor/arithmetic_rows.cpp"
#include <hwy/foreach_target.h>
// The loops need the macros of the line above.
#include "boolgrad/backend/cpu/tensor/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

struct Copy : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V a) const {
    return a;
  }
};

struct Scale {
  static constexpr std::size_t inputs = 1;
  static constexpr bool finite = false;
  explicit Scale(const double* parameters) : factor(parameters[0]) {}
  double factor;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return hn::Mul(a, hn::Set(d, static_cast<hn::TFromD<D>>(factor)));
  }
};

struct Add : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Subtract : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct Multiply : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct Divide : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V a, V b) const {
    return hn::Div(a, b);
  }
};

struct Power : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return PowerOf(d, a, b);
  }
};

// floor(a / b) and its remainder. The rounded quotient can be off by one, which the exact fused
// remainder reveals.
template <class D, class V>
HWY_INLINE void FloorDivision(D d, V a, V b, V& quotient, V& remainder) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V zero = hn::Zero(d);
  quotient = hn::Floor(hn::Div(a, b));
  remainder = hn::NegMulAdd(quotient, b, a);
  const auto too_large = hn::Lt(hn::Mul(remainder, hn::CopySign(one, b)), zero);
  quotient = hn::IfThenElse(too_large, hn::Sub(quotient, one), quotient);
  remainder = hn::IfThenElse(too_large, hn::Add(remainder, b), remainder);
  const auto too_small = hn::Ge(hn::Mul(remainder, hn::CopySign(one, b)), hn::Abs(b));
  const auto both = hn::AndNot(too_large, too_small);
  quotient = hn::IfThenElse(both, hn::Add(quotient, one), quotient);
  remainder = hn::IfThenElse(both, hn::Sub(remainder, b), remainder);
}

struct FloorDivide : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    V quotient, remainder;
    FloorDivision(d, a, b, quotient, remainder);
    return quotient;
  }
};

struct Modulo : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    V quotient, remainder;
    FloorDivision(d, a, b, quotient, remainder);
    return remainder;
  }
};

// d(a mod b)/db = -floor(a / b)
struct ModuloGradB : Plain<3, true> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V a, V b) const {
    V quotient, remainder;
    FloorDivision(d, a, Floored(d, b), quotient, remainder);
    return hn::Neg(hn::Mul(g, quotient));
  }
};

// d(a/b)/da = 1/b
struct DivideGradA : Plain<2, true> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V b) const {
    return hn::Div(g, Floored(d, b));
  }
};

// d(a/b)/db = -a/b^2, as a product of quotients: b^2 would underflow long before the result does.
struct DivideGradB : Plain<3, true> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V a, V b) const {
    const V floored = Floored(d, b);
    return hn::Neg(hn::Mul(hn::Div(g, floored), hn::Div(a, floored)));
  }
};

/// Whether y = a^b and y / a are far from overflow and underflow in all lanes, and a is far from 0.
template <class D, class V>
HWY_INLINE bool IsTame(D d, V a, V y) {
  using T = hn::TFromD<D>;
  const V small = hn::Set(d, std::is_same_v<T, double> ? T(1e-200) : T(1e-25));
  const V large = hn::Set(d, std::is_same_v<T, double> ? T(1e200) : T(1e25));
  const V bounded = hn::Min(hn::Abs(a), hn::Abs(y));
  const V most = hn::Max(hn::Abs(a), hn::Abs(y));
  return hn::AllTrue(d, hn::And(hn::Gt(bounded, small), hn::Lt(most, large)));
}

// d(a^b)/da = b a^(b-1) = b y / a. 0 for b = 0. For b < 1, where the slope at a = 0 is infinite, a
// is kept away from 0. 0 for a < 0 and non-integer b, where a^b is NaN.
struct PowerGradA {
  static constexpr std::size_t inputs = 4;
  static constexpr bool finite = true;
  explicit PowerGradA(const double* /*parameters*/) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V a, V b, V y) const {
    // A y in range is not NaN, so the exceptions below do not apply.
    if (HWY_LIKELY(IsTame(d, a, y))) return hn::Mul(g, hn::Div(hn::Mul(b, y), a));
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V zero = hn::Zero(d);
    const V base = hn::IfThenElse(hn::Lt(b, one), Floored(d, a), a);
    const V slope = hn::Mul(b, PowerOf(d, base, hn::Sub(b, one)));
    const auto undefined = hn::AndNot(IsInteger(d, b), hn::Lt(a, zero));
    return hn::IfThenElse(hn::Or(hn::Eq(b, zero), undefined), zero, hn::Mul(g, slope));
  }
};

// d(a^b)/db = a^b ln a = y ln a for a > 0. Elsewhere 0: a negative base has no derivative in b.
struct PowerGradB : Plain<3, true> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V a, V y) const {
    const auto positive = hn::Gt(a, hn::Zero(d));
    return hn::IfThenElseZero(positive, hn::Mul(g, hn::Mul(y, hn::Log(d, a))));
  }
};

// The gradient share of an extreme element. g is already divided by the number of ties.
struct ExtremumGrad : Plain<3> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V g, V x, V extremum) const {
    return hn::IfThenElseZero(hn::Eq(x, extremum), g);
  }
};

RowKernels ArithmeticRows(MapKernel f, DType dtype) {
  switch (f) {
    case MapKernel::copy: return Summable<Copy>(dtype);
    case MapKernel::scale: return Summable<Scale>(dtype);
    case MapKernel::add: return MapOnly<Add>(dtype);
    case MapKernel::subtract: return MapOnly<Subtract>(dtype);
    case MapKernel::multiply: return Summable<Multiply>(dtype);
    case MapKernel::divide: return MapOnly<Divide>(dtype);
    case MapKernel::power: return MapOnly<Power>(dtype);
    case MapKernel::floor_divide: return MapOnly<FloorDivide>(dtype);
    case MapKernel::modulo: return MapOnly<Modulo>(dtype);
    case MapKernel::divide_grad_a: return Summable<DivideGradA>(dtype);
    case MapKernel::divide_grad_b: return Summable<DivideGradB>(dtype);
    case MapKernel::power_grad_a: return Summable<PowerGradA>(dtype);
    case MapKernel::power_grad_b: return Summable<PowerGradB>(dtype);
    case MapKernel::modulo_grad_b: return Summable<ModuloGradB>(dtype);
    case MapKernel::extremum_grad: return MapOnly<ExtremumGrad>(dtype);
    default: return {};
  }
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(ArithmeticRows);

RowKernels arithmetic_row_kernels(MapKernel f, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(ArithmeticRows)(f, dtype);
}

}  // namespace boolgrad::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/tensor/elementwise_rows.cpp"
#include <hwy/foreach_target.h>
// The loops need the macros of the line above.
#include "boolgrad/backend/cpu/tensor/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

struct Exp : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return ExpOf(d, x);
  }
};

struct Log : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return LogOf(d, x);
  }
};

struct Log2 : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return WithLogEdges(d, x, hn::Log2(d, x));
  }
};

struct Log10 : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return WithLogEdges(d, x, hn::Log10(d, x));
  }
};

// d(log_c x)/dx = 1 / (x ln c)
struct LogGrad {
  static constexpr std::size_t inputs = 2;
  static constexpr bool finite = true;
  explicit LogGrad(const double* parameters) : factor(parameters[0]) {}
  double factor;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V scaled = hn::Mul(g, hn::Set(d, static_cast<hn::TFromD<D>>(factor)));
    return hn::Div(scaled, Floored(d, x));
  }
};

struct Sqrt : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Sqrt(x);
  }
};

// d(sqrt x)/dx = 1 / (2 y)
struct SqrtGrad : Plain<2, true> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    return hn::Div(hn::Mul(g, hn::Set(d, hn::TFromD<D>(0.5))), Floored(d, y));
  }
};

struct Abs : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V x) const {
    return hn::Abs(x);
  }
};

// d|x|/dx = sign x, and 0 at 0
struct AbsGrad : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V zero = hn::Zero(d);
    const V signed_g = hn::IfThenElse(hn::Lt(x, zero), hn::Neg(g), g);
    return hn::IfThenElse(hn::Eq(x, zero), zero, signed_g);
  }
};

struct Bounds {
  static constexpr bool finite = false;
  explicit Bounds(const double* parameters) : low(parameters[0]), high(parameters[1]) {}
  double low;
  double high;
};

struct Clip : Bounds {
  using Bounds::Bounds;
  static constexpr std::size_t inputs = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const V clipped =
        hn::Min(hn::Max(x, hn::Set(d, static_cast<T>(low))), hn::Set(d, static_cast<T>(high)));
    return hn::IfThenElse(hn::Eq(x, x), clipped, x);
  }
};

// 1 inside and at both bounds, 0 outside
struct ClipGrad : Bounds {
  using Bounds::Bounds;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    using T = hn::TFromD<D>;
    const auto inside = hn::And(hn::Ge(x, hn::Set(d, static_cast<T>(low))),
                                hn::Le(x, hn::Set(d, static_cast<T>(high))));
    return hn::IfThenElseZero(inside, g);
  }
};

RowKernels ElementwiseRows(MapKernel f, DType dtype) {
  switch (f) {
    case MapKernel::exp: return MapOnly<Exp>(dtype);
    case MapKernel::log: return MapOnly<Log>(dtype);
    case MapKernel::log2: return MapOnly<Log2>(dtype);
    case MapKernel::log10: return MapOnly<Log10>(dtype);
    case MapKernel::sqrt: return MapOnly<Sqrt>(dtype);
    case MapKernel::abs: return MapOnly<Abs>(dtype);
    case MapKernel::clip: return MapOnly<Clip>(dtype);
    case MapKernel::log_grad: return MapOnly<LogGrad>(dtype);
    case MapKernel::sqrt_grad: return MapOnly<SqrtGrad>(dtype);
    case MapKernel::abs_grad: return MapOnly<AbsGrad>(dtype);
    case MapKernel::clip_grad: return MapOnly<ClipGrad>(dtype);
    default: return {};
  }
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(ElementwiseRows);

RowKernels elementwise_row_kernels(MapKernel f, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(ElementwiseRows)(f, dtype);
}

}  // namespace boolgrad::cpu
#endif

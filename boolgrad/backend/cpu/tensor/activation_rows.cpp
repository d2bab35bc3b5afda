#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/tensor/activation_rows.cpp"
#include <hwy/foreach_target.h>
// The loops need the macros of the line above.
#include "boolgrad/backend/cpu/tensor/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

struct Relu : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), x);  // NaN stays NaN
  }
};

struct ReluGrad : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), g);
  }
};

struct Slope {
  static constexpr bool finite = false;
  explicit Slope(const double* parameters) : alpha(parameters[0]) {}
  double alpha;
};

struct LeakyRelu : Slope {
  using Slope::Slope;
  static constexpr std::size_t inputs = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V below = hn::Mul(x, hn::Set(d, static_cast<hn::TFromD<D>>(alpha)));
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, below);
  }
};

struct LeakyReluGrad : Slope {
  using Slope::Slope;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    const V below = hn::Mul(g, hn::Set(d, static_cast<hn::TFromD<D>>(alpha)));
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), g, below);
  }
};

struct Prelu : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V slope) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, slope));
  }
};

struct PreluGradX : Plain<3> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x, V slope) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), g, hn::Mul(g, slope));
  }
};

struct PreluGradSlope : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    return hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), hn::Mul(g, x));
  }
};

struct Sigmoid : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return SigmoidOf(d, x);
  }
};

/// Computes a derivative from y, which is cheap, or from x in vectors with a y beyond the bounds.
struct FromOutputOrInput {
  static constexpr std::size_t inputs = 3;
  static constexpr bool finite = false;
  explicit FromOutputOrInput(const double* parameters) : low(parameters[0]), high(parameters[1]) {}
  double low;
  double high;
};

// y' = y (1 - y)
struct SigmoidGrad : FromOutputOrInput {
  using FromOutputOrInput::FromOutputOrInput;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y, V x) const {
    using T = hn::TFromD<D>;
    V slope = hn::NegMulAdd(y, y, y);
    const auto beyond = hn::Or(hn::Gt(y, hn::Set(d, static_cast<T>(high))),
                               hn::Lt(y, hn::Set(d, static_cast<T>(low))));
    if (HWY_UNLIKELY(!hn::AllFalse(d, beyond))) {
      slope = hn::IfThenElse(beyond, SigmoidSlopeOf(d, x), slope);
    }
    return hn::Mul(g, slope);
  }
};

struct Tanh : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return TanhOf(d, x);
  }
};

// y' = 1 - y^2; tanh x = 2 s(2x) - 1 with s the sigmoid, so y' = 4 s'(2x), too
struct TanhGrad : FromOutputOrInput {
  using FromOutputOrInput::FromOutputOrInput;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y, V x) const {
    using T = hn::TFromD<D>;
    V slope = hn::NegMulAdd(y, y, hn::Set(d, T(1)));
    const auto beyond = hn::Gt(hn::Abs(y), hn::Set(d, static_cast<T>(high)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, beyond))) {
      slope = hn::IfThenElse(beyond, SigmoidSlopeOf<2>(d, hn::Add(x, x)), slope);
    }
    return hn::Mul(g, slope);
  }
};

// x P(x), where P is the normal cumulative distribution function
struct Gelu : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    V cdf, density;
    NormalCdf(d, x, cdf, density);
    return hn::Mul(x, cdf);
  }
};

// P(x) + x p(x)
struct GeluGrad : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    V cdf, density;
    NormalCdf(d, x, cdf, density);
    return hn::Mul(g, hn::MulAdd(x, density, cdf));
  }
};

// x s(2u) with u = sqrt(2/pi) (x + 0.044715 x^3) and s the sigmoid, which equals
// x/2 (1 + tanh u). Beyond |x| = 30 the sigmoid is 0 or 1 in every type; the bound keeps the cube
// and the derivative's x u' finite.
template <class D, class V>
HWY_INLINE void TanhGate(D d, V x, V& gate, V& twice_slope) {
  using T = hn::TFromD<D>;
  const V bound = hn::Set(d, T(30));
  const V inside = hn::Max(hn::Min(x, bound), hn::Neg(bound));
  const V square = hn::Mul(inside, inside);
  const V twice_root = hn::Set(d, T(2 * 0.79788456080286535588));
  const V cubic = hn::Set(d, T(0.044715));
  const V one = hn::Set(d, T(1));
  const V twice_u = hn::Mul(hn::Mul(twice_root, inside), hn::MulAdd(cubic, square, one));
  gate = SigmoidOf(d, twice_u);
  twice_slope = hn::Mul(twice_root, hn::MulAdd(hn::Set(d, T(3 * 0.044715)), square, one));
}

struct GeluTanh : Plain<1> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    V gate, twice_slope;
    TanhGate(d, x, gate, twice_slope);
    return hn::Mul(x, gate);
  }
};

// s + x s (1 - s) 2u'
struct GeluTanhGrad : Plain<2> {
  using Plain::Plain;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V x) const {
    V gate, twice_slope;
    TanhGate(d, x, gate, twice_slope);
    const V gate_slope = hn::Mul(hn::NegMulAdd(gate, gate, gate), twice_slope);
    return hn::Mul(g, hn::MulAdd(x, gate_slope, gate));
  }
};

RowKernels ActivationRows(MapKernel f, DType dtype) {
  switch (f) {
    case MapKernel::relu: return MapOnly<Relu>(dtype);
    case MapKernel::leaky_relu: return MapOnly<LeakyRelu>(dtype);
    case MapKernel::prelu: return MapOnly<Prelu>(dtype);
    case MapKernel::sigmoid: return MapOnly<Sigmoid>(dtype);
    case MapKernel::tanh: return MapOnly<Tanh>(dtype);
    case MapKernel::gelu: return MapOnly<Gelu>(dtype);
    case MapKernel::gelu_tanh: return MapOnly<GeluTanh>(dtype);
    case MapKernel::relu_grad: return MapOnly<ReluGrad>(dtype);
    case MapKernel::leaky_relu_grad: return MapOnly<LeakyReluGrad>(dtype);
    case MapKernel::prelu_grad_x: return MapOnly<PreluGradX>(dtype);
    case MapKernel::prelu_grad_slope: return Summable<PreluGradSlope>(dtype);
    case MapKernel::sigmoid_grad: return MapOnly<SigmoidGrad>(dtype);
    case MapKernel::tanh_grad: return MapOnly<TanhGrad>(dtype);
    case MapKernel::gelu_grad: return MapOnly<GeluGrad>(dtype);
    case MapKernel::gelu_tanh_grad: return MapOnly<GeluTanhGrad>(dtype);
    default: return {};
  }
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(ActivationRows);

RowKernels activation_row_kernels(MapKernel f, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(ActivationRows)(f, dtype);
}

}  // namespace boolgrad::cpu
#endif

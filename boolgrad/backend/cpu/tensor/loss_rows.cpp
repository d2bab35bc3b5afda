#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/tensor/loss_rows.cpp"
#include <hwy/foreach_target.h>
// The loops need the macros of the line above.
#include "boolgrad/backend/cpu/tensor/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

// Losses and their gradients have a factor that turns a sum into a mean. It applies to each term,
// so that a float16 sum does not overflow before it is divided.
struct Factor {
  static constexpr bool finite = false;
  explicit Factor(const double* parameters) : factor(parameters[0]) {}
  double factor;
  template <class D, class V>
  HWY_INLINE V Times(D d, V g) const {
    return hn::Mul(g, hn::Set(d, static_cast<hn::TFromD<D>>(factor)));
  }
};

struct SquaredError : Factor {
  using Factor::Factor;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V t) const {
    const V difference = hn::Sub(y, t);
    return hn::Mul(Times(d, difference), difference);
  }
};

struct QuarticError : Factor {
  using Factor::Factor;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V t) const {
    const V difference = hn::Sub(y, t);
    const V square = hn::Mul(difference, difference);
    return hn::Mul(Times(d, square), square);
  }
};

// 2 (y - t)
struct SquaredErrorGrad : Factor {
  using Factor::Factor;
  static constexpr std::size_t inputs = 3;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y, V t) const {
    const V difference = hn::Sub(y, t);
    return hn::Mul(Times(d, g), hn::Add(difference, difference));
  }
};

// 4 (y - t)^3
struct QuarticErrorGrad : Factor {
  using Factor::Factor;
  static constexpr std::size_t inputs = 3;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y, V t) const {
    const V difference = hn::Sub(y, t);
    const V twice = hn::Add(difference, difference);
    return hn::Mul(hn::Mul(Times(d, g), hn::Mul(twice, twice)), difference);
  }
};

// Probabilities are clipped to [1e-7, 1 - 1e-7] before the logarithm. 1 - p is clipped separately:
// 1 minus the clipped p would be off by 20% in float32, where 1 - 1e-7 rounds to 1 - 1.19e-7.
template <class D, class V>
HWY_INLINE V ClippedProbability(D d, V y) {
  using T = hn::TFromD<D>;
  const V clipped = hn::Min(hn::Max(y, hn::Set(d, T(1e-7))), hn::Set(d, T(1 - 1e-7)));
  return hn::IfThenElse(hn::Eq(y, y), clipped, y);
}

template <class D, class V>
HWY_INLINE hn::Mask<D> InsideClip(D d, V y) {
  using T = hn::TFromD<D>;
  return hn::And(hn::Ge(y, hn::Set(d, T(1e-7))), hn::Le(y, hn::Set(d, T(1 - 1e-7))));
}

// -(t ln p + (1 - t) ln(1 - p))
struct CrossEntropy : Factor {
  using Factor::Factor;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V t) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V p = ClippedProbability(d, y);
    const V q = ClippedProbability(d, hn::Sub(one, y));
    const V when_zero = hn::Mul(hn::Sub(one, t), hn::Log(d, q));
    return Times(d, hn::Neg(hn::MulAdd(t, hn::Log(d, p), when_zero)));
  }
};

// (p - t) / (p (1 - p)) inside the clip and at its bounds, 0 outside
struct CrossEntropyGrad : Factor {
  using Factor::Factor;
  static constexpr std::size_t inputs = 3;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y, V t) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V p = ClippedProbability(d, y);
    const V q = ClippedProbability(d, hn::Sub(one, y));
    const V slope = hn::Div(hn::Sub(p, t), hn::Mul(p, q));
    return hn::IfThenElseZero(InsideClip(d, y), hn::Mul(Times(d, g), slope));
  }
};

// ln(1 - p) - ln p
struct CrossEntropyGradT : Factor {
  using Factor::Factor;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V p = ClippedProbability(d, y);
    const V q = ClippedProbability(d, hn::Sub(one, y));
    return hn::Mul(Times(d, g), hn::Sub(hn::Log(d, q), hn::Log(d, p)));
  }
};

// For a target of 1 the focal loss is -w1 (1 - p)^gamma ln p, for 0 it is -w0 p^gamma ln(1 - p).
// Other targets interpolate. The powers are computed from the logarithms.
struct FocalParts : Factor {
  explicit FocalParts(const double* parameters)
      : Factor(parameters + 3),
        gamma(parameters[0]),
        weight_one(parameters[1]),
        weight_zero(parameters[2]) {}
  double gamma;
  double weight_one;
  double weight_zero;

  template <class V>
  struct Values {
    V p, q, log_p, log_q, power_p, power_q, gamma, weight_one, weight_zero;
  };

  template <class D, class V>
  HWY_INLINE Values<V> At(D d, V y) const {
    using T = hn::TFromD<D>;
    Values<V> v;
    v.gamma = hn::Set(d, static_cast<T>(gamma));
    v.weight_one = hn::Set(d, static_cast<T>(weight_one));
    v.weight_zero = hn::Set(d, static_cast<T>(weight_zero));
    v.p = ClippedProbability(d, y);
    v.q = ClippedProbability(d, hn::Sub(hn::Set(d, T(1)), y));
    v.log_p = hn::Log(d, v.p);
    v.log_q = hn::Log(d, v.q);
    v.power_p = hn::Exp(d, hn::Mul(v.gamma, v.log_p));
    v.power_q = hn::Exp(d, hn::Mul(v.gamma, v.log_q));
    return v;
  }

  // The losses for targets 1 and 0.
  template <class V>
  HWY_INLINE V ForOne(const Values<V>& v) const {
    return hn::Neg(hn::Mul(v.weight_one, hn::Mul(v.power_q, v.log_p)));
  }
  template <class V>
  HWY_INLINE V ForZero(const Values<V>& v) const {
    return hn::Neg(hn::Mul(v.weight_zero, hn::Mul(v.power_p, v.log_q)));
  }
};

struct Focal : FocalParts {
  using FocalParts::FocalParts;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V t) const {
    const auto v = At(d, y);
    const V zero_share = hn::Sub(hn::Set(d, hn::TFromD<D>(1)), t);
    return Times(d, hn::MulAdd(t, ForOne(v), hn::Mul(zero_share, ForZero(v))));
  }
};

// For 1: w1 q^gamma (gamma ln p / q - 1 / p); for 0: w0 p^gamma (1 / q - gamma ln q / p).
struct FocalGrad : FocalParts {
  using FocalParts::FocalParts;
  static constexpr std::size_t inputs = 3;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y, V t) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const auto v = At(d, y);
    const V for_one = hn::Mul(hn::Mul(v.weight_one, v.power_q),
                              hn::Sub(hn::Div(hn::Mul(v.gamma, v.log_p), v.q), hn::Div(one, v.p)));
    const V for_zero = hn::Mul(hn::Mul(v.weight_zero, v.power_p),
                               hn::Sub(hn::Div(one, v.q), hn::Div(hn::Mul(v.gamma, v.log_q), v.p)));
    const V slope = hn::MulAdd(t, for_one, hn::Mul(hn::Sub(one, t), for_zero));
    return hn::IfThenElseZero(InsideClip(d, y), hn::Mul(Times(d, g), slope));
  }
};

struct FocalGradT : FocalParts {
  using FocalParts::FocalParts;
  static constexpr std::size_t inputs = 2;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V g, V y) const {
    const auto v = At(d, y);
    return hn::Mul(Times(d, g), hn::Sub(ForOne(v), ForZero(v)));
  }
};

RowKernels LossRows(MapKernel f, DType dtype) {
  switch (f) {
    case MapKernel::squared_error: return Summable<SquaredError>(dtype);
    case MapKernel::quartic_error: return Summable<QuarticError>(dtype);
    case MapKernel::cross_entropy: return Summable<CrossEntropy>(dtype);
    case MapKernel::focal: return Summable<Focal>(dtype);
    case MapKernel::squared_error_grad: return MapOnly<SquaredErrorGrad>(dtype);
    case MapKernel::quartic_error_grad: return MapOnly<QuarticErrorGrad>(dtype);
    case MapKernel::cross_entropy_grad: return MapOnly<CrossEntropyGrad>(dtype);
    case MapKernel::cross_entropy_grad_t: return MapOnly<CrossEntropyGradT>(dtype);
    case MapKernel::focal_grad: return MapOnly<FocalGrad>(dtype);
    case MapKernel::focal_grad_t: return MapOnly<FocalGradT>(dtype);
    default: return {};
  }
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(LossRows);

RowKernels loss_row_kernels(MapKernel f, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(LossRows)(f, dtype);
}

}  // namespace boolgrad::cpu
#endif

// The three loops over a row, for any function object. Included once per instruction set.
//
// A function object is constructed from the parameters and maps vectors to a vector:
//   struct Scale { static constexpr std::size_t inputs = 1; explicit Scale(const double*);
//                  V operator()(D, V) const; };
// If it sets `finite`, its results are clamped to the finite range of the stored type.
#if defined(BOOLGRAD_ROW_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BOOLGRAD_ROW_LOOPS_INL_H_
#undef BOOLGRAD_ROW_LOOPS_INL_H_
#else
#define BOOLGRAD_ROW_LOOPS_INL_H_
#endif

#include <utility>

#include "boolgrad/backend/cpu/tensor/row_kernels.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

/// A function of N inputs without parameters.
template <std::size_t N, bool Finite = false>
struct Plain {
  static constexpr std::size_t inputs = N;
  static constexpr bool finite = Finite;
  explicit Plain(const double* /*parameters*/) {}
};

template <class T>
constexpr Compute<T> LargestOf() {
  if constexpr (std::is_same_v<T, Float16>) return Float16::largest;
  else return std::numeric_limits<T>::max();
}

template <class F, class T, class D, class... V>
HWY_INLINE auto Evaluate(const F& f, T /*stored*/, D d, V... in) {
  const auto value = f(d, in...);
  if constexpr (F::finite) {
    const auto most = hn::Set(d, LargestOf<T>());
    return hn::Min(hn::Max(value, hn::Neg(most)), most);
  } else {
    return value;
  }
}

template <class T>
HWY_INLINE const T* InputAt(const RowInputs& in, std::size_t input, std::size_t i) {
  return static_cast<const T*>(in.data[input]) + static_cast<std::ptrdiff_t>(i) * in.stride[input];
}

/// The value of f on the full vector at i.
template <class F, class T, class D, std::size_t... I>
HWY_INLINE auto FullAt(const F& f, D d, const RowInputs& in, std::size_t i,
                       std::index_sequence<I...> /*inputs*/) {
  return Evaluate(f, T{}, d, LoadAs(d, InputAt<T>(in, I, i))...);
}

/// The value of f on the `count` elements at i.
template <class F, class T, class D, std::size_t... I>
HWY_INLINE auto SomeAt(const F& f, D d, const RowInputs& in, std::size_t i, std::size_t count,
                       std::index_sequence<I...> /*inputs*/) {
  return Evaluate(f, T{}, d, LoadSome(d, InputAt<T>(in, I, i), count)...);
}

// The loops copy their arguments. A store through a vector type may alias anything, so the compiler
// would otherwise reload pointers and strides after each store.

template <class F, class T>
void MapRow(const RowInputs& given, void* out, std::size_t count, const double* parameters) {
  const RowInputs in = given;
  const ComputeTag<T> d;
  const F f(parameters);
  constexpr auto inputs = std::make_index_sequence<F::inputs>();
  T* to = static_cast<T*>(out);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) StoreAs(d, FullAt<F, T>(f, d, in, i, inputs), to + i);
  if (i < count) {
    StoreSome(d, SomeAt<F, T>(f, d, in, i, count - i, inputs), to + i, count - i);
  }
}

template <class F, class T>
double SumRow(const RowInputs& in, std::size_t count, const double* parameters) {
  const ComputeTag<T> d;
  const F f(parameters);
  constexpr auto inputs = std::make_index_sequence<F::inputs>();
  const std::size_t lanes = hn::Lanes(d);
  // Four sums hide the latency of the addition and reduce the rounding error.
  auto sum0 = hn::Zero(d);
  auto sum1 = sum0;
  auto sum2 = sum0;
  auto sum3 = sum0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    sum0 = hn::Add(sum0, FullAt<F, T>(f, d, in, i, inputs));
    sum1 = hn::Add(sum1, FullAt<F, T>(f, d, in, i + lanes, inputs));
    sum2 = hn::Add(sum2, FullAt<F, T>(f, d, in, i + 2 * lanes, inputs));
    sum3 = hn::Add(sum3, FullAt<F, T>(f, d, in, i + 3 * lanes, inputs));
  }
  for (; i + lanes <= count; i += lanes) {
    sum0 = hn::Add(sum0, FullAt<F, T>(f, d, in, i, inputs));
  }
  if (i < count) {
    const auto rest = SomeAt<F, T>(f, d, in, i, count - i, inputs);
    sum1 = hn::Add(sum1, hn::IfThenElseZero(hn::FirstN(d, count - i), rest));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

template <class F, class T>
void AccumulateRow(const RowInputs& given, Compute<T>* sums, std::size_t count, const F& f) {
  const RowInputs in = given;
  const ComputeTag<T> d;
  constexpr auto inputs = std::make_index_sequence<F::inputs>();
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), FullAt<F, T>(f, d, in, i, inputs)), d, sums + i);
  }
  if (i < count) {
    const auto rest = SomeAt<F, T>(f, d, in, i, count - i, inputs);
    StoreSome(d, hn::Add(LoadSome(d, sums + i, count - i), rest), sums + i, count - i);
  }
}

// Four rows in one pass share the loads and stores of the sums.
template <class F, class T>
void AccumulateFour(const RowInputs* given, Compute<T>* sums, std::size_t count, const F& f) {
  const RowInputs in[4] = {given[0], given[1], given[2], given[3]};
  const ComputeTag<T> d;
  constexpr auto inputs = std::make_index_sequence<F::inputs>();
  const std::size_t lanes = hn::Lanes(d);
  const auto total = [&](auto v0, auto v1, auto v2, auto v3, auto before) HWY_ATTR {
    return hn::Add(before, hn::Add(hn::Add(v0, v1), hn::Add(v2, v3)));
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto sum =
        total(FullAt<F, T>(f, d, in[0], i, inputs), FullAt<F, T>(f, d, in[1], i, inputs),
              FullAt<F, T>(f, d, in[2], i, inputs), FullAt<F, T>(f, d, in[3], i, inputs),
              hn::LoadU(d, sums + i));
    hn::StoreU(sum, d, sums + i);
  }
  if (i < count) {
    const std::size_t n = count - i;
    const auto sum =
        total(SomeAt<F, T>(f, d, in[0], i, n, inputs), SomeAt<F, T>(f, d, in[1], i, n, inputs),
              SomeAt<F, T>(f, d, in[2], i, n, inputs), SomeAt<F, T>(f, d, in[3], i, n, inputs),
              LoadSome(d, sums + i, n));
    StoreSome(d, sum, sums + i, n);
  }
}

template <class F, class T>
void AccumulateRows(const RowInputs* in, std::size_t rows, void* sums, std::size_t count,
                    const double* parameters) {
  static_assert(rows_at_once == 4);
  const F f(parameters);
  auto* to = static_cast<Compute<T>*>(sums);
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) AccumulateFour<F, T>(in + row, to, count, f);
  for (; row < rows; ++row) AccumulateRow<F, T>(in[row], to, count, f);
}

template <class F, class T>
RowKernels SummableKernelsOf() {
  return {&MapRow<F, T>, &SumRow<F, T>, &AccumulateRows<F, T>};
}

template <class F, class T>
RowKernels MapKernelsOf() {
  return {&MapRow<F, T>, nullptr, nullptr};
}

/// All loops of F, for a gradient or a loss that is summed.
template <class F>
RowKernels Summable(DType dtype) {
  if (dtype == DType::float16) return SummableKernelsOf<F, Float16>();
  if (dtype == DType::float32) return SummableKernelsOf<F, float>();
  return SummableKernelsOf<F, double>();
}

/// The map of F alone.
template <class F>
RowKernels MapOnly(DType dtype) {
  if (dtype == DType::float16) return MapKernelsOf<F, Float16>();
  if (dtype == DType::float32) return MapKernelsOf<F, float>();
  return MapKernelsOf<F, double>();
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

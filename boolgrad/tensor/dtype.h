// Element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "boolgrad/tensor/float16.h"

namespace boolgrad {

/// The element type of a tensor.
enum class DType : std::uint8_t { float16, float32, float64, int32, int64, uint8 };

/// The name of a dtype, as in `float32`.
std::string_view to_string(DType dtype);
/// The size of an element in bytes.
std::size_t size_of(DType dtype);
/// Whether a dtype is float16, float32 or float64.
bool is_floating(DType dtype);

/// Throws for a value that is not a dtype.
[[noreturn]] void fail_unknown(DType dtype);

/// False for every type, for use in `static_assert`.
template <class T>
inline constexpr bool always_false = false;

/// The dtype whose elements have C++ type T.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, Float16>) return DType::float16;
  else if constexpr (std::is_same_v<T, float>) return DType::float32;
  else if constexpr (std::is_same_v<T, double>) return DType::float64;
  else if constexpr (std::is_same_v<T, std::int32_t>) return DType::int32;
  else if constexpr (std::is_same_v<T, std::int64_t>) return DType::int64;
  else if constexpr (std::is_same_v<T, std::uint8_t>) return DType::uint8;
  else static_assert(always_false<T>, "no dtype holds this type");
}

/// Calls `f(T{})` with the element type of `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float16: return std::forward<F>(f)(Float16{});
    case DType::float32: return std::forward<F>(f)(float{});
    case DType::float64: return std::forward<F>(f)(double{});
    case DType::int32: return std::forward<F>(f)(std::int32_t{});
    case DType::int64: return std::forward<F>(f)(std::int64_t{});
    case DType::uint8: return std::forward<F>(f)(std::uint8_t{});
  }
  fail_unknown(dtype);
}

/// Converts one element. Floating to integer truncates towards zero and saturates; NaN becomes 0.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Float16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Float16>) {
    return Float16(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Both limits are exact powers of two (or zero) once rounded up, so the comparisons are exact.
    using Limits = std::numeric_limits<To>;
    if (!(value == value)) return To{0};
    if (value >= static_cast<From>(Limits::max())) return Limits::max();
    if (value <= static_cast<From>(Limits::min())) return Limits::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace boolgrad

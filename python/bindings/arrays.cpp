#include "arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "boolgrad/core/fail.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::python {
namespace {

using Array = nb::ndarray<nb::ro>;

/// What `str` gives.
std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

std::string class_name(nb::handle object) {
  const nb::object name = object.type().attr("__name__");
  return text_of(name);
}

/// `ndarray of dtype object`, `str`.
std::string description_of(nb::handle object) {
  const std::string name = class_name(object);
  if (!nb::hasattr(object, "dtype")) return name;
  const nb::object dtype = object.attr("dtype");
  return fmt::format("{} of dtype {}", name, text_of(dtype));
}

/// The message of an exception of Python.
std::string message_of(const nb::python_error& error) { return text_of(error.value()); }

std::string device_name(const Array& array) {
  switch (array.device_type()) {
    case nb::device::cuda::value: return fmt::format("cuda:{}", array.device_id());
    case nb::device::rocm::value: return fmt::format("rocm:{}", array.device_id());
    case nb::device::metal::value: return "metal";
    default: return fmt::format("a device of DLPack type {}", array.device_type());
  }
}

std::string dtype_name(const nb::dlpack::dtype& dtype) {
  using nb::dlpack::dtype_code;
  switch (static_cast<dtype_code>(dtype.code)) {
    case dtype_code::Int: return fmt::format("int{}", dtype.bits);
    case dtype_code::UInt: return fmt::format("uint{}", dtype.bits);
    case dtype_code::Float: return fmt::format("float{}", dtype.bits);
    case dtype_code::Bfloat: return fmt::format("bfloat{}", dtype.bits);
    case dtype_code::Complex: return fmt::format("complex{}", dtype.bits);
    case dtype_code::Bool: return "bool";
    default: return fmt::format("a dtype of DLPack code {}", dtype.code);
  }
}

/// The tensor dtype with the same elements.
std::optional<DType> same_dtype(const nb::dlpack::dtype& dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  if (dtype == nb::dtype<float>()) return DType::float32;
  if (dtype == nb::dtype<double>()) return DType::float64;
  if (dtype == nb::dtype<std::int32_t>()) return DType::int32;
  if (dtype == nb::dtype<std::int64_t>()) return DType::int64;
  if (dtype == nb::dtype<std::uint8_t>() || dtype == nb::dtype<bool>()) return DType::uint8;
  if (dtype.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float) && dtype.bits == 16) {
    return DType::float16;
  }
  return std::nullopt;
}

/// Copies an array with any strides to contiguous memory.
template <class Element>
void copy_strided(const Array& array, std::size_t axis, const Element* from, Element*& to) {
  if (axis == array.ndim()) {
    *to++ = *from;
    return;
  }
  for (std::size_t i = 0; i < array.shape(axis); ++i) {
    copy_strided(array, axis + 1, from + static_cast<std::int64_t>(i) * array.stride(axis), to);
  }
}

template <class Element>
void copy_elements(const Array& array, void* to) {
  auto* at = static_cast<Element*>(to);
  copy_strided(array, 0, static_cast<const Element*>(array.data()), at);
}

bool is_contiguous(const Array& array) {
  std::int64_t expected = 1;
  for (std::size_t axis = array.ndim(); axis-- > 0;) {
    if (array.shape(axis) != 1 && array.stride(axis) != expected) return false;
    expected *= static_cast<std::int64_t>(array.shape(axis));
  }
  return true;
}

Shape shape_of(const Array& array) {
  Shape shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(static_cast<std::int64_t>(array.shape(i)));
  }
  return shape;
}

/// Shares the memory of an array, which is kept alive.
Tensor wrapped(const Array& array, DType dtype) {
  const std::shared_ptr<void> owner(new Array(array), [](void* kept) {
    const nb::gil_scoped_acquire gil;
    delete static_cast<Array*>(kept);
  });
  return Tensor::wrap(const_cast<void*>(array.data()), shape_of(array), dtype, owner);
}

Tensor copied(const Array& array, DType dtype) {
  Tensor result(shape_of(array), dtype);
  switch (size_of(dtype)) {
    case 1: copy_elements<std::uint8_t>(array, result.mutable_data()); break;
    case 2: copy_elements<std::uint16_t>(array, result.mutable_data()); break;
    case 4: copy_elements<std::uint32_t>(array, result.mutable_data()); break;
    default: copy_elements<std::uint64_t>(array, result.mutable_data()); break;
  }
  return result;
}

/// Integers without a tensor dtype, as the next wider type.
template <class From, class To>
Tensor widened(const Array& array) {
  std::vector<From> values(static_cast<std::size_t>(array.size()));
  copy_elements<From>(array, values.data());
  Tensor result(shape_of(array), dtype_of<To>());
  std::ranges::transform(values, result.mutable_values<To>().begin(),
                         [](From value) { return static_cast<To>(value); });
  return result;
}

/// Undefined if there is no conversion.
Tensor converted(const Array& array) {
  const nb::dlpack::dtype dtype = array.dtype();
  if (dtype == nb::dtype<std::int8_t>()) return widened<std::int8_t, std::int32_t>(array);
  if (dtype == nb::dtype<std::int16_t>()) return widened<std::int16_t, std::int32_t>(array);
  if (dtype == nb::dtype<std::uint16_t>()) return widened<std::uint16_t, std::int32_t>(array);
  if (dtype == nb::dtype<std::uint32_t>()) return widened<std::uint32_t, std::int64_t>(array);
  return {};
}

/// Why an object with DLPack gave no array: its own words, where it has any.
std::string why_no_array(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack__")) return "";
  try {
    object.attr("__dlpack__")();
  } catch (const nb::python_error& error) {
    return ": " + message_of(error);
  }
  return "";
}

/// Whether an object is converted by numpy.asarray: nested lists, tables, numbers.
bool is_array_like(nb::handle object) {
  return nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object) ||
         nb::isinstance<nb::float_>(object) || nb::isinstance<nb::int_>(object) ||
         nb::hasattr(object, "__array__");
}

Array array_in(nb::handle object, std::string_view where, std::string_view what) {
  Array array;
  if (nb::try_cast(object, array)) return array;
  const std::string reason = why_no_array(object);
  if (reason.empty() && is_array_like(object)) {
    nb::object as_numpy;
    try {
      as_numpy = nb::module_::import_("numpy").attr("asarray")(object);
    } catch (const nb::python_error& error) {
      fail(where, "expected an array as {}, received {}: {}", what, class_name(object),
           message_of(error));
    }
    if (nb::try_cast(as_numpy, array)) return array;
    fail(where, "expected an array of numbers as {}, received {}", what, description_of(as_numpy));
  }
  fail(where, "expected an array as {}, received {}{}", what, description_of(object), reason);
}

}  // namespace

Tensor tensor_of(nb::handle object, std::string_view where, std::string_view what) {
  const Array array = array_in(object, where, what);
  const int device = array.device_type();
  if (device != nb::device::cpu::value && device != nb::device::cuda_host::value) {
    fail(where, "expected an array on the CPU as {}, received one on {}", what, device_name(array));
  }
  const std::optional<DType> dtype = same_dtype(array.dtype());
  if (!dtype) {
    Tensor result = converted(array);
    if (result.defined()) return result;
    fail(where,
         "expected float16, float32, float64, int8 to int64, uint8 to uint32 or bool as {}, "
         "received {}",
         what, dtype_name(array.dtype()));
  }
  if (array.size() == 0) return Tensor(shape_of(array), *dtype);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(array.data()) % size_of(*dtype) == 0;
  return is_contiguous(array) && is_aligned ? wrapped(array, *dtype) : copied(array, *dtype);
}

Tensor features_of(nb::handle object, std::string_view where) {
  Tensor x = tensor_of(object, where, "samples");
  if (x.rank() != 2) {
    fail(where, "expected samples [samples, features], received shape {}", to_string(x.shape()));
  }
  if (x.dtype() != DType::uint8) x = cast(x, DType::float32);
  if (x.dtype() == DType::uint8) return x;
  const auto values = x.values<float>();
  const auto bad =
      std::ranges::find_if(values, [](float value) { return std::isnan(value); }) - values.begin();
  if (bad < std::ssize(values)) {
    fail(where, "expected numbers as samples, received NaN in sample {}, feature {}",
         bad / x.shape()[1], bad % x.shape()[1]);
  }
  return x;
}

Tensor bits_of(nb::handle object, std::string_view where, std::string_view what) {
  const Tensor x = tensor_of(object, where, what);
  const auto refuse = [&](double value) {
    fail(where, "expected zeros and ones as {}, received {}", what, value);
  };
  if (x.dtype() == DType::uint8) {
    for (const std::uint8_t value : x.values<std::uint8_t>()) {
      if (value > 1) refuse(value);
    }
    return x;
  }
  return visit_dtype(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result(x.shape(), DType::uint8);
    const auto from = x.values<T>();
    const auto to = result.mutable_values<std::uint8_t>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto value = convert<double>(from[i]);
      if (value != 0 && value != 1) refuse(value);
      to[i] = value == 1 ? 1 : 0;
    }
    return result;
  });
}

nb::object array_of(const Tensor& tensor) {
  auto* kept = new Tensor(tensor.detach());
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Tensor*>(memory); });
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  const nb::dlpack::dtype dtype = [&] {
    if (tensor.dtype() == DType::float16) {
      return nb::dlpack::dtype{static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    }
    return visit_dtype(tensor.dtype(), [](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, Float16>) return nb::dtype<float>();  // handled above
      else return nb::dtype<T>();
    });
  }();
  return nb::cast(nb::ndarray<nb::numpy>(kept->mutable_data(), shape.size(), shape.data(), owner,
                                         nullptr, dtype));
}

}  // namespace boolgrad::python

// Arrays of Python as tensors, and tensors as arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::python {

namespace nb = nanobind;

/// The tensor of an array: anything with the buffer protocol or DLPack, on the CPU, or a nested
/// list. Contiguous arrays are not copied. Booleans become uint8, and integers of 8 to 32 bits
/// without a tensor dtype the next wider one. Throws for other dtypes and devices; messages read
/// `[where] expected ... as what`.
Tensor tensor_of(nb::handle array, std::string_view where, std::string_view what);

/// The same as uint8 or float32, whichever keeps the values: what classifiers read. Throws for NaN,
/// and unless the array has two dimensions.
Tensor features_of(nb::handle array, std::string_view where);

/// The same as uint8 zeros and ones. Throws for other values.
Tensor bits_of(nb::handle array, std::string_view where, std::string_view what);

/// A NumPy array that shares the memory of a tensor.
nb::object array_of(const Tensor& tensor);

/// A NumPy array of one dimension.
template <class T>
nb::object array_of(const std::vector<T>& values) {
  return array_of(Tensor::of(values));
}

}  // namespace boolgrad::python

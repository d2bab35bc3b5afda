// Arrays in NumPy's format.
#pragma once

#include <filesystem>

#include "boolgrad/data/data_set.h"

namespace boolgrad {

/// Reads an NPY file (versions 1 to 3) of little-endian numbers in C order: bool and uint8 as
/// uint8, int32 and int64 as int64, float32 and float64 as they are.
Tensor read_npy(const std::filesystem::path& path);

/// Samples from `PREFIX_x.npy`, [samples, ...] of uint8 or floating numbers, and `PREFIX_y.npy`,
/// [samples] of classes as integers or, where `values` are wanted, of numbers.
SampleSet read_npy_samples(const std::filesystem::path& folder, const std::string& prefix,
                           bool values);

}  // namespace boolgrad

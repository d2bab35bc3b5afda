// Arrays in NumPy's format.
#pragma once

#include <filesystem>

#include "boolgrad/data/data_set.h"

namespace boolgrad::data {

/// Reads an NPY file (versions 1 to 3) of little-endian numbers in C order. Bool becomes uint8 and
/// int32 becomes int64; uint8, int64, float32 and float64 keep their type.
Tensor read_npy(const std::filesystem::path& path);

/// Reads samples from `PREFIX_x.npy`, [samples, ...] of any type, and `PREFIX_y.npy`, [samples]:
/// integer classes or, with `values`, numbers.
SampleSet read_npy_samples(const std::filesystem::path& folder, const std::string& prefix,
                           bool values);

}  // namespace boolgrad::data

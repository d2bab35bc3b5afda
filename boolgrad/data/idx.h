// Data sets in the IDX format of MNIST, plain or compressed by gzip.
#pragma once

#include <filesystem>

#include "boolgrad/data/data_set.h"

namespace boolgrad {

/// Reads an IDX file of bytes: uint8, of as many dimensions as the file has (1 to 4).
Tensor read_idx(const std::filesystem::path& path);

/// Pictures with their labels, from a folder with `PREFIX-images-idx3-ubyte` and
/// `PREFIX-labels-idx1-ubyte`, with or without `.gz`. The prefixes of MNIST are `train` and `t10k`.
struct LabelledPictures {
  SampleSet samples;
  std::int64_t height = 0;
  std::int64_t width = 0;
};
LabelledPictures read_idx_pictures(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace boolgrad

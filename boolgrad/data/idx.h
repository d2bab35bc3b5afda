// Data sets in the IDX format of MNIST, plain or compressed with gzip.
#pragma once

#include <filesystem>

#include "boolgrad/data/data_set.h"

namespace boolgrad::data {

/// Reads an IDX file of bytes with 1 to 4 dimensions, as uint8.
Tensor read_idx(const std::filesystem::path& path);

/// Images with labels, from a folder with `PREFIX-images-idx3-ubyte` and
/// `PREFIX-labels-idx1-ubyte`, with or without `.gz`. The prefixes of MNIST are `train` and `t10k`.
struct LabelledImages {
  SampleSet samples;
  std::int64_t height = 0;
  std::int64_t width = 0;
};
LabelledImages read_idx_images(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace boolgrad::data

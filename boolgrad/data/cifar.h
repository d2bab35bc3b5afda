// CIFAR-10 in its binary format.
#pragma once

#include <filesystem>
#include <vector>

#include "boolgrad/data/data_set.h"

namespace boolgrad::data {

/// Reads records of a label and 32x32 pixels in red, green and blue planes. Files may be compressed
/// with gzip. Features are uint8 [samples, 3072].
SampleSet read_cifar10(const std::vector<std::filesystem::path>& files);

/// The files of a folder: `data_batch_1.bin` to `data_batch_5.bin`, or `test_batch.bin`.
std::vector<std::filesystem::path> cifar10_files(const std::filesystem::path& folder, bool test);

}  // namespace boolgrad::data

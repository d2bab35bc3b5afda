// CIFAR-10 in its binary form.
#pragma once

#include <filesystem>
#include <vector>

#include "boolgrad/data/data_set.h"

namespace boolgrad {

/// Records of a label and 32 by 32 pixels in planes of red, green and blue, from one file or
/// several, each plain or compressed by gzip: features uint8 [samples, 3072].
SampleSet read_cifar10(const std::vector<std::filesystem::path>& files);

/// The files of a folder: `data_batch_1.bin` to `data_batch_5.bin`, or `test_batch.bin`.
std::vector<std::filesystem::path> cifar10_files(const std::filesystem::path& folder, bool test);

}  // namespace boolgrad

// A small data set of images in the format of MNIST.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace boolgrad::testing_support {

inline std::string idx_header(int axes, const std::vector<int>& sizes) {
  std::string bytes = {0, 0, 8, static_cast<char>(axes)};
  for (const int size : sizes) {
    bytes += std::string{0, 0, static_cast<char>(size >> 8), static_cast<char>(size & 0xFF)};
  }
  return bytes;
}

/// Images of 4 by 4 pixels whose class is the bright quadrant.
inline void write_pictures(const std::filesystem::path& folder, const std::string& prefix,
                           int count) {
  std::string pictures = idx_header(3, {count, 4, 4});
  std::string labels = idx_header(1, {count});
  for (int i = 0; i < count; ++i) {
    const auto label = static_cast<std::size_t>(i) % 4;
    std::string picture(16, static_cast<char>(i * 7 % 90));
    for (const std::size_t at : {0U, 1U, 4U, 5U}) {
      picture[at + label % 2 * 2 + label / 2 * 8] = static_cast<char>(150 + i * 13 % 100);
    }
    pictures += picture;
    labels += static_cast<char>(label);
  }
  write_bytes(folder / (prefix + "-images-idx3-ubyte"), pictures);
  write_bytes(folder / (prefix + "-labels-idx1-ubyte"), labels);
}

}  // namespace boolgrad::testing_support

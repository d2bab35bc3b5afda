// Files in NumPy's format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace boolgrad::testing_support {

/// The bytes of an NPY file. The header must be shorter than 256 bytes.
inline std::string npy(const std::string& kind, const std::string& shape, const std::string& values,
                       const std::string& order = "False") {
  const std::string header =
      "{'descr': '" + kind + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string bytes = "\x93NUMPY";
  bytes += std::string{1, 0, static_cast<char>(header.size()), 0};
  return bytes + header + values;
}

/// Writes a matrix of float32.
inline void write_npy(const std::filesystem::path& path, int columns,
                      const std::vector<float>& values) {
  const auto rows = static_cast<int>(values.size()) / columns;
  write_bytes(path,
              npy("<f4", "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")",
                  std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4)));
}

/// Writes scores of a teacher, from -2 to 2 without a pattern.
inline void write_scores(const std::filesystem::path& path, int rows, int classes) {
  std::vector<float> scores;
  for (int i = 0; i < rows * classes; ++i) {
    scores.push_back(static_cast<float>(i * 37 % 101) / 25 - 2);
  }
  write_npy(path, classes, scores);
}

}  // namespace boolgrad::testing_support

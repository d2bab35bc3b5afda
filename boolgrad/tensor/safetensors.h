// Reading and writing safetensors files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The contents of a safetensors file: named tensors and string metadata.
struct TensorFile {
  std::map<std::string, Tensor> tensors;        ///< tensors by name
  std::map<std::string, std::string> metadata;  ///< the `__metadata__` entries
};

/// Reads a whole file with dtypes F16, F32, F64, I32, I64, U8 and BOOL (as uint8). The file is
/// fully validated: a truncated or hostile file throws an `Error` that names it.
TensorFile load_safetensors(const std::filesystem::path& path);

/// Writes a file atomically: `path` holds either its old content or all of the new content.
void save_safetensors(const std::filesystem::path& path, const TensorFile& file);

/// The name of the first tensor that has a NaN or an infinity; nothing if all values are finite.
std::optional<std::string> first_not_finite(const TensorFile& file);

}  // namespace boolgrad

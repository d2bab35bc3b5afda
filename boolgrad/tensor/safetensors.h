// Reading and writing safetensors files.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a whole file. Everything in it is checked before it is used: a truncated or hostile file
/// is an `Error` that names the file, never undefined behaviour. dtypes F16, F32, F64, I32, I64,
/// U8 and BOOL (as uint8).
TensorFile load_safetensors(const std::filesystem::path& path);

/// Writes a file so that `path` holds either what it held before or all of the new content: to a
/// temporary file beside it, synced, then renamed.
void save_safetensors(const std::filesystem::path& path, const TensorFile& file);

}  // namespace boolgrad

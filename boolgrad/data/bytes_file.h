// Reads files that may be compressed with gzip. Internal to `data/`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace boolgrad::data {

/// The content of a file, decompressed if it is a gzip file. Throws if it cannot be read, is
/// truncated or is corrupt.
std::vector<std::uint8_t> unpacked_content(std::string_view where,
                                           const std::filesystem::path& path);

/// Throws if the folder does not exist. The message ends with `hint`.
void check_folder(std::string_view where, const std::filesystem::path& folder,
                  std::string_view hint);

}  // namespace boolgrad::data

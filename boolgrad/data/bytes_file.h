// The bytes of a file that may be compressed by gzip. Inside of `data/`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace boolgrad {

/// The content of a file, unpacked where it is gzip's. Errors open with `[where] FILE: `, also for
/// a compressed file that ends early.
std::vector<std::uint8_t> unpacked_content(std::string_view where,
                                           const std::filesystem::path& path);

/// Refuses a folder that is not there, with `hint` behind the message.
void check_folder(std::string_view where, const std::filesystem::path& folder,
                  std::string_view hint);

}  // namespace boolgrad

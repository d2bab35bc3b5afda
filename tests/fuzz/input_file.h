// A file in memory, for readers that take the path of a file.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/fuzz/targets.h"

namespace boolgrad::fuzz {

/// The same file for every input, so that an input costs no system calls but the writing.
class InputFile {
 public:
  /// The path of a file with these bytes, valid until the next call.
  static std::filesystem::path of(Bytes bytes) {
    static const int descriptor = memfd_create("input", MFD_CLOEXEC);
    const bool written =
        descriptor >= 0 && ftruncate(descriptor, 0) == 0 &&
        pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    require(written, "a file in memory can be written");
    return "/proc/self/fd/" + std::to_string(descriptor);
  }
};

}  // namespace boolgrad::fuzz

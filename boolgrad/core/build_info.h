// Version and build configuration of the library.
#pragma once

#include <string>

namespace boolgrad {

/// The library version, as in `0.2.0`.
const char* version();

/// The text of `boolgrad --version`, several lines: version, compiler, build type, libraries, and
/// which optional parts are built in.
std::string build_summary();

}  // namespace boolgrad

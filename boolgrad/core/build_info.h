// What this library is and how it was built.
#pragma once

#include <string>

namespace boolgrad {

/// `0.1.0`.
const char* version();

/// Version, compiler, build type, libraries, and for each optional part whether it is built in.
/// Several lines, the text of `boolgrad --version`.
std::string build_summary();

}  // namespace boolgrad

// The one way to throw an `Error`.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "boolgrad/core/error.h"

namespace boolgrad {

/// Throws `Error` with the message `[where] ...`.
template <class... Args>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format("[{}] {}", where, fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace boolgrad

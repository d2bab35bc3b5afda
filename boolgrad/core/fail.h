// The one way to throw an `Error`.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "boolgrad/core/error.h"

namespace boolgrad {

/// Throws `Error` with the message `[where] ...`.
template <class... Args>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  std::string message =
      fmt::format("[{}] {}", where, fmt::format(format, std::forward<Args>(args)...));
  // A NUL in a name from a file would end the message early.
  std::ranges::replace(message, '\0', '?');
  throw Error(message);
}

}  // namespace boolgrad

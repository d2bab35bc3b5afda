// The one exception boolgrad throws, and the one way to throw it.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace boolgrad {

/// Bad input, reported at the door. The message opens with the place that refused it:
/// `[add] expected shapes that broadcast, received [2, 3] and [4]`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws `Error` with the message `[where] ...`.
template <class... Args>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format("[{}] {}", where, fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace boolgrad

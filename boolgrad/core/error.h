// The exception type of boolgrad.
#pragma once

#include <stdexcept>

namespace boolgrad {

/// The only exception that boolgrad throws: invalid input or a system failure. The message starts
/// with the name of the function: `[add] expected shapes that broadcast, received [2, 3] and [4]`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace boolgrad

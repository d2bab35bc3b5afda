// The name of this machine.
#pragma once

#include <string>

namespace boolgrad {

/// As the network knows it; `this machine` if it has none.
std::string host_name();

}  // namespace boolgrad

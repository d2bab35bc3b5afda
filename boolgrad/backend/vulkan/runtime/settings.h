// What the environment says about Vulkan. Inside of `vulkan/`.
#pragma once

#include <cstdlib>
#include <string_view>

namespace boolgrad::vulkan {

/// Whether variable `name` is there and has this value.
inline bool is_set_to(const char* name, std::string_view value) {
  const char* found = std::getenv(name);
  return found != nullptr && found == value;
}

}  // namespace boolgrad::vulkan

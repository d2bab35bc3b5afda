// Environment variables for Vulkan. Internal to `vulkan/`.
#pragma once

#include <cstdlib>
#include <string_view>

namespace boolgrad::vulkan {

/// Whether variable `name` is set to `value`.
inline bool is_set_to(const char* name, std::string_view value) {
  const char* found = std::getenv(name);
  return found != nullptr && found == value;
}

}  // namespace boolgrad::vulkan

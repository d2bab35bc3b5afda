// The shaders, compiled at build time. Internal to `vulkan/`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace boolgrad::vulkan {

/// The SPIR-V of a shader, by file name and variant: `automaton_forward.hard`.
std::span<const std::uint32_t> shader_words(std::string_view name);

}  // namespace boolgrad::vulkan

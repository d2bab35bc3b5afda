// The shaders, compiled when the project was built. Inside of `vulkan/`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace boolgrad::vulkan {

/// The words of a shader by the name of its file, with what it was compiled for:
/// `automaton_forward.hard`.
std::span<const std::uint32_t> shader_words(std::string_view name);

}  // namespace boolgrad::vulkan

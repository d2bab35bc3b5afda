// The memory of the machine.
#pragma once

#include <cstddef>
#include <optional>

namespace boolgrad {

/// The memory that this process may still use, in bytes: what the system has available or, if less,
/// what the limit of its control group leaves. None if the system does not say.
std::optional<std::size_t> available_memory();

}  // namespace boolgrad

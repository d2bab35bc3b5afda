// Precompiled for the program. CLI11 is left out: every source would pay for its inline functions,
// also those that do not include it.
#include <nlohmann/json.hpp>

#include "library_pch.h"

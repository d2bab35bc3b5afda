// Names of options in experiments and model files.
#pragma once

#include <string_view>

#include "boolgrad/options/hardening.h"
#include "boolgrad/options/head.h"
#include "boolgrad/options/parametrisation.h"

namespace boolgrad {

/// The name of a parametrisation.
std::string_view to_string(Parametrisation parametrisation);
/// The name of a kind of weights.
std::string_view to_string(HeadWeights weights);

/// The name of a head kind.
std::string_view to_string(HeadKind kind);
/// The name of a hardening kind.
std::string_view to_string(HardeningKind kind);

/// Parses a parametrisation. Throws for an unknown name; the message starts with `where`.
Parametrisation parametrisation_of(std::string_view where, std::string_view name);
/// Parses a head kind. Throws for an unknown name; the message starts with `where`.
HeadKind head_kind_of(std::string_view where, std::string_view name);

}  // namespace boolgrad

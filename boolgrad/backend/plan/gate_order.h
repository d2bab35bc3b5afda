// The order in which the gates of a layer of look-up tables, and its inputs, are best taken.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"

namespace boolgrad {

/// The gates [begin, end) of a layer of two-input gates along a walk: from a gate to another that
/// reads one of the same inputs, as long as there is one. Gates that follow one another so read the
/// same rows while these are in the first cache. Where each input is read twice, as in layers of
/// one width, all gates lie on a few cycles and every row is fetched once instead of twice.
std::vector<std::int32_t> walk_of_gates(const LutWires& wires, std::int64_t begin,
                                        std::int64_t end);

/// All inputs, in the order in which the gates of a walk first read them.
std::vector<std::int32_t> walk_of_inputs(const LutWires& wires,
                                         const std::vector<std::int32_t>& gates);

}  // namespace boolgrad

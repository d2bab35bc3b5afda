// Gate ordering: a cache-friendly order of the gates and inputs of a layer.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"

namespace boolgrad {

/// Orders the gates [begin, end) of a layer of two-input gates such that consecutive gates share an
/// input, as long as possible. The shared activations are then still in the first-level cache. If
/// every input is read twice, as in layers of equal width, the gates form a few cycles and every
/// activation is fetched once instead of twice.
std::vector<std::int32_t> order_gates(const LutWires& wires, std::int64_t begin, std::int64_t end);

/// All inputs, in the order in which `gates` first read them.
std::vector<std::int32_t> order_inputs(const LutWires& wires,
                                       const std::vector<std::int32_t>& gates);

}  // namespace boolgrad

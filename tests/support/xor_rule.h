// A rule of XOR gates, and a state that rounding has moved beyond 1.
#pragma once

#include <cmath>
#include <cstdint>

#include "boolgrad/automata/rule.h"

namespace boolgrad {

/// An XOR of equal inputs doubles their distance from 0 and 1, on the outside.
inline automata::Rule xor_rule(const automata::RuleShape& shape) {
  automata::Rule rule =
      automata::Rule::make(shape, Border::periodic, Parametrisation::sigmoid, DType::float32,
                           {logic::Initialisation::gaussian, 1}, 7);
  for (Tensor logits : rule.parameters()) {
    for (std::int64_t i = 0; i < logits.size(); ++i) {
      const bool differ = i % 4 == 1 || i % 4 == 2;
      logits.mutable_values<float>()[static_cast<std::size_t>(i)] = differ ? 40.0F : -40.0F;
    }
  }
  return rule;
}

/// All cells are the next number after 1.
inline Tensor above_1(const Shape& shape) {
  Tensor state(shape, DType::float32);
  for (float& value : state.mutable_values<float>()) value = std::nextafter(1.0F, 2.0F);
  return state;
}

}  // namespace boolgrad

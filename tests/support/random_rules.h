// Random rules for property tests.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "tests/support/op_cases.h"

namespace boolgrad {

/// A small rule with either border, whose kernels may be trees.
inline automata::Rule random_rule(Choices& choose, std::uint64_t seed) {
  const automata::RuleShape shape{.channels = choose.between(1, 4),
                                  .kernels = choose.between(1, 3),
                                  .perceive = choose.below(2) == 0
                                                  ? std::vector<std::int64_t>{8}
                                                  : std::vector<std::int64_t>{8, 4, 2},
                                  .update = {choose.between(6, 20)}};
  const Border border = choose.below(2) == 0 ? Border::zero : Border::periodic;
  return automata::Rule::make(shape, border, Parametrisation::softmax16, DType::float32,
                              {logic::Initialisation::gaussian, 1}, seed % 10000);
}

}  // namespace boolgrad

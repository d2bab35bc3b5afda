// Conway's Life as a hand-written rule.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "boolgrad/automata/rule.h"

namespace boolgrad {

/// A gate with its inputs and its function: bit j of the argument is input j.
struct LifeGate {
  std::vector<std::int32_t> sources;
  std::function<bool(unsigned)> value;
};

/// Adds a layer of gates of equal arity.
inline void add_gates(logic::Network& network, const std::vector<LifeGate>& gates) {
  const std::size_t arity = gates[0].sources.size();
  const auto count = static_cast<std::int64_t>(gates.size());
  std::vector<std::int32_t> wires;
  for (std::size_t slot = 0; slot < arity; ++slot) {
    for (const LifeGate& gate : gates) wires.push_back(gate.sources[slot]);
  }
  std::vector<float> logits;
  for (const LifeGate& gate : gates) {
    for (unsigned e = 0; e < 1U << arity; ++e) logits.push_back(gate.value(e) ? 8.0F : -8.0F);
  }
  network.add_layer(std::make_shared<const logic::Wiring>(
                        network.layers().empty() ? network.inputs() : network.outputs(),
                        Tensor::of(wires).viewed_as({static_cast<std::int64_t>(arity), count})),
                    Tensor::of(logits).viewed_as({count, std::int64_t{1} << arity}));
}

/// Adders count the neighbours. Two or three are alive if exactly one of four carries is 1.
inline automata::Rule life_rule() {
  const auto odd = [](unsigned bits) { return std::popcount(bits & 7U) % 2 == 1; };
  const auto most = [](unsigned bits) { return std::popcount(bits & 7U) >= 2; };
  // These ignore the third input: all gates of a layer have equal arity.
  const auto odd_of_two = [](unsigned bits) { return std::popcount(bits & 3U) == 1; };
  const auto both = [](unsigned bits) { return (bits & 3U) == 3; };
  logic::Network perceive(9, Parametrisation::sigmoid, DType::float32);
  add_gates(perceive, {{{0, 1, 2}, odd},
                       {{0, 1, 2}, most},
                       {{6, 7, 8}, odd},
                       {{6, 7, 8}, most},
                       {{3, 5, 4}, odd_of_two},
                       {{3, 5, 4}, both}});
  logic::Network update(7, Parametrisation::sigmoid, DType::float32);
  const std::vector<std::int32_t> sums{1, 3, 5, 0};
  const std::vector<std::int32_t> carries{2, 4, 6, 0};
  add_gates(update, {{sums, [&](unsigned bits) { return odd(bits) || (bits & 8U) != 0; }},
                     {sums, most},
                     {carries, [](unsigned bits) { return std::popcount(bits & 7U) == 1; }},
                     {carries, [](unsigned bits) { return (bits & 7U) == 0; }}});
  add_gates(update, {{{0, 1, 2, 3}, [](unsigned bits) {
                        const bool carry = (bits & 2U) != 0;
                        const bool one_of_three = (bits & 4U) != 0;
                        const bool none_of_three = (bits & 8U) != 0;
                        return (bits & 1U) != 0 && (carry ? none_of_three : one_of_three);
                      }}});
  return {Border::periodic, 1, std::move(perceive), std::move(update)};
}

}  // namespace boolgrad

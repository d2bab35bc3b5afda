#include "boolgrad/train/experiment/memory_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/memory.h"
#include "boolgrad/core/text.h"

namespace boolgrad::train {
namespace {

double sum_of(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Bytes of the parameters of a gate with their gradients and two moments, and of its wires.
double bytes_of_gate(const Experiment& experiment, std::int64_t arity, std::int64_t candidates) {
  constexpr double copies = 4;  // value, gradient and two moments
  constexpr double bytes_of_wire = 4;
  const bool is_softmax = experiment.network.parametrisation == Parametrisation::softmax16;
  const double entries = is_softmax ? 16 : static_cast<double>(std::int64_t{1} << arity);
  const double bytes_of_value = experiment.network.dtype == DType::float64 ? 8 : 4;
  const auto wires = static_cast<double>(arity);
  const double logits = candidates > 1 ? wires * static_cast<double>(candidates) : 0;
  return copies * bytes_of_value * (entries + logits) + bytes_of_wire * (wires + logits);
}

double bytes_of_network(const Experiment& experiment) {
  const NetworkOptions& network = experiment.network;
  double bytes = 0;
  for (std::size_t layer = 0; layer < network.hidden.size(); ++layer) {
    const auto at = [&](const std::vector<std::int64_t>& values) {
      return values.size() == 1 ? values[0] : values[std::min(layer, values.size() - 1)];
    };
    // Gates of a group share wires, which are few; their tables are their own.
    bytes += static_cast<double>(network.hidden[layer]) *
             bytes_of_gate(experiment, at(network.arity),
                           at(network.group_size) > 1 ? 1 : at(network.candidates));
  }
  if (experiment.is_classifier()) {
    bytes += static_cast<double>(experiment.head.outputs) *
             bytes_of_gate(experiment, network.arity.back(), 1);
  }
  return bytes;
}

double bytes_of_automaton(const Experiment& experiment) {
  const AutomatonOptions& automaton = experiment.automaton;
  const double gates = static_cast<double>(automaton.kernels) * sum_of(automaton.perceive) +
                       sum_of(automaton.update) + static_cast<double>(automaton.channels);
  constexpr double states = 2;  // the least that any memory policy keeps
  constexpr double bytes_of_value = 4;
  const double cells = static_cast<double>(automaton.height) *
                       static_cast<double>(automaton.width) * static_cast<double>(automaton.batch);
  const bool has_grid = !experiment.learns_rule();
  return gates * bytes_of_gate(experiment, 2, 1) +
         (has_grid ? states * bytes_of_value * cells * static_cast<double>(automaton.channels) : 0);
}

double bytes_of_member(const Experiment& experiment) {
  return experiment.is_automaton() ? bytes_of_automaton(experiment) : bytes_of_network(experiment);
}

}  // namespace

std::size_t least_memory(const Experiment& experiment) {
  return static_cast<std::size_t>(static_cast<double>(experiment.search.members) *
                                  bytes_of_member(experiment));
}

void check_memory(const Experiment& experiment) {
  const std::optional<std::size_t> available = available_memory();
  const std::size_t needed = least_memory(experiment);
  if (!available || needed <= *available) return;
  const std::string each = experiment.search.members == 1
                               ? ""
                               : fmt::format(" for {} members", experiment.search.members);
  fail("train", "out of memory: at least {} needed{}, {} free", bytes_text(needed), each,
       bytes_text(*available));
}

}  // namespace boolgrad::train

// The circuit that the network of an experiment starts from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/circuit/gate_layers.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// A circuit and the file it was read from.
struct InitialCircuit {
  std::string path;
  circuit::Netlist netlist;
};

/// Throws for experiments that cannot start from a circuit. Error messages name `source`.
void check_initial_circuit(const Experiment& experiment, const std::string& source);

/// The experiment with the circuit of `network.init_circuit`, read from its file unless it is there
/// already, and with enough hidden layers of enough gates for it. `notices` receives a line if they
/// grew, and one if gates of more inputs than `network.arity` were decomposed. Throws if hidden
/// layers that were given together with the circuit are too few or too small. Experiments without a
/// circuit are unchanged.
Experiment with_initial_circuit(Experiment experiment, std::vector<std::string>* notices = nullptr);

/// The gates that each layer of the network starts from. Throws if the circuit has other numbers of
/// inputs or outputs. Ports are matched by the names of the task's operands, else by position.
std::vector<circuit::LayerGates> initial_layers(const Experiment& experiment, std::int64_t inputs,
                                                std::int64_t outputs);

}  // namespace boolgrad::train

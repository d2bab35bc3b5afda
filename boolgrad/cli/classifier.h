// Execution of exported classifiers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/classifier_code.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cli {

/// Predictions of the exported C, compiled by `cc`. `netlist` is without the head. Throws if that
/// fails; error messages start with `where`.
std::vector<double> run_compiled(const std::string& where, const circuit::Netlist& netlist,
                                 const circuit::ClassifierPorts& ports, const Tensor& samples);

/// Predictions of the exported Verilog, simulated by Icarus Verilog.
std::vector<double> run_simulated(const std::string& where, const circuit::Netlist& netlist,
                                  const circuit::ClassifierPorts& ports, const Tensor& samples);

}  // namespace boolgrad::cli

// What commands do with classifiers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/classifier_code.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/model/model.h"

namespace boolgrad::cli {

/// What stands around the netlist of a classifier; `loaded` must outlive it.
ClassifierPorts ports_of(const LoadedModel& loaded);

/// Predictions of the C that a netlist without its head is exported as, compiled by `cc`. Throws in
/// the name of command `where` if that cannot be done.
std::vector<double> run_compiled(const std::string& where, const Netlist& netlist,
                                 const ClassifierPorts& ports, const Tensor& samples);

/// The same of the Verilog that it is exported as, simulated by Icarus Verilog.
std::vector<double> run_simulated(const std::string& where, const Netlist& netlist,
                                  const ClassifierPorts& ports, const Tensor& samples);

}  // namespace boolgrad::cli

// Complete classifiers as C and Verilog: thresholds, gates and head.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/shared_circuit.h"
#include "boolgrad/logic/gate_arithmetic.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad::circuit {

/// The netlist with its head as gates. Outputs are the binary digits of the class, `class_0` the
/// least significant. For regression they are the digits of the number of ones, from `sum0_0`.
Netlist with_head(const Netlist& netlist, const Head& head,
                  logic::AdderGates adders = logic::AdderGates::tables);

/// The thresholds in front of a netlist and the head behind it.
struct ClassifierPorts {
  const logic::Thresholds& thresholds;
  const Head& head;
  bool has_bytes = false;                  ///< features are bytes, else floats
  std::vector<std::string> features = {};  ///< names of features
  std::vector<std::string> classes = {};   ///< names of classes
};

/// A C99 header. `netlist` is without its head. In addition to the output of `to_c`, for a netlist
/// called NAME it has:
///
/// - `NAME_FEATURES` and the type `NAME_feature`, uint8_t or float;
/// - `void NAME_classify(const NAME_feature *x, size_t samples, int32_t *classes)`, where x is
///   [samples][features]. For regression it is `NAME_predict`, with results of type double.
///
/// - with names, an enumeration of `NAME_CLASS_...` and `NAME_FEATURE_...` (NAME in upper case),
/// and
///   `NAME_class_name(index)` and `NAME_feature_name(index)`.
///
/// The sums are loops, because compilers take minutes for the head as gates.
std::string classifier_c(const Netlist& netlist, const ClassifierPorts& ports);
/// The same with shared kernels.
std::string classifier_c(const SharedCircuit& circuit, const ClassifierPorts& ports);

/// Verilog of a netlist with its head. In addition to the module of `to_verilog` it has the module
/// NAME_classifier(x, out). Feature i is bits [i W +: W] of x, with W = 8 for bytes and W = 32 for
/// IEEE 754 floats. Names become the local parameters `CLASS_...` and `FEATURE_...`. The test bench
/// checks both modules; of the second it checks features at thresholds and right above them.
Verilog classifier_verilog(const Netlist& netlist, const ClassifierPorts& ports,
                           const VerilogOptions& options = {});
/// The same with shared kernels. The rest of the circuit includes the head.
Verilog classifier_verilog(const SharedCircuit& circuit, const ClassifierPorts& ports,
                           const VerilogOptions& options = {});

}  // namespace boolgrad::circuit

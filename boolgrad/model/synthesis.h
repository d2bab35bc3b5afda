// Synthesis of circuits by Yosys, for FPGAs or standard cells: what `boolgrad synth` does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/model/export.h"

namespace boolgrad {

struct SynthesisOptions {
  /// One of `synthesis_targets()`.
  std::string target = "ice40";
  /// Registers after so many levels of gates.
  std::optional<std::int64_t> pipeline = {};
  bool as_trained = false;  ///< do not simplify the circuit before Yosys does
  /// Of classifiers: with the comparison of features with thresholds.
  bool with_thresholds = false;
  /// For `sky130-like`: the standard cells, in genlib format.
  std::filesystem::path library = {};
};

struct SynthesisReport {
  std::string yosys;  ///< its version
  std::string module_name;
  std::map<std::string, std::int64_t> cells;  ///< by type
  std::int64_t luts = 0;
  std::int64_t flip_flops = 0;
  std::int64_t carries = 0;       ///< carry cells; one of Xilinx has four bits
  std::int64_t multiplexers = 0;  ///< that join LUTs
  std::int64_t gates = 0;         ///< of the targets `gates` and `sky130-like`
  /// For `sky130-like`: the area in two-input NANDs.
  std::optional<double> area = {};
  std::int64_t depth = 0;  ///< cells on the longest path between ports and flip-flops
};

/// `ice40`, `xc7` (Xilinx series 7), `ecp5`, `generic` (tables of four inputs), `gates` (two-input
/// gates) and `sky130-like` (standard cells).
const std::vector<std::string>& synthesis_targets();

/// Exports Verilog into a temporary folder and synthesises it with `yosys`, which must be in PATH.
/// `path` is the file of the circuit.
SynthesisReport synthesise(const CircuitSource& source, const std::string& path,
                           const SynthesisOptions& options);

}  // namespace boolgrad

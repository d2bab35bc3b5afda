// Export of the hardened circuit of a model: what `boolgrad export` and Python do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/classifier_code.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/model/model.h"

namespace boolgrad {

/// The hardened network or rule of a model, named after its experiment. Nothing is simplified.
circuit::Netlist netlist_of(const LoadedModel& loaded);

/// Thresholds, head and names of a classifier. `loaded` must outlive the result.
circuit::ClassifierPorts ports_of(const LoadedModel& loaded);

struct ExportOptions {
  /// `netlist`, `c`, `verilog` (with a test bench), `blif`, `aiger`, `dot` or `html`.
  std::string format;
  std::filesystem::path file;  ///< AIGER is ASCII if it ends in .aag
  /// Verilog: registers after so many levels of gates.
  std::optional<std::int64_t> pipeline = {};
  /// Verilog: an automaton as an array of cells; one cell by default.
  std::optional<circuit::GridSize> size = {};
  /// Splits the outputs into so many groups; the circuit computes the group with the most ones.
  /// Trained classifiers do this by default.
  std::optional<std::int64_t> classes = {};
  bool as_trained = false;      ///< do not simplify the circuit
  bool shared_kernels = false;  ///< C and Verilog: every kernel of a convolution once
  bool proves = true;           ///< prove that the written circuit is equivalent to the model
};

/// What was written.
struct ExportReport {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t gates = 0;
  std::int64_t gates_before = 0;
  std::int64_t depth = 0;
  bool read_back = false;                  ///< the proof used the circuit read from the file
  std::vector<std::int64_t> kernels = {};  ///< of each convolution, if they are shared
  std::int64_t written_gates = 0;          ///< those of a shared kernel counted once
  std::filesystem::path test_bench = {};   ///< empty if there is none
  std::string why_no_target = {};          ///< of the HTML viewer
};

/// The names of the formats.
const std::vector<std::string>& export_formats();

/// Writes the hardened circuit of a model that was read from file `source`. The circuit is proven
/// before the file is written.
ExportReport export_model(const LoadedModel& loaded, const std::string& source,
                          const ExportOptions& options);

/// The HTML viewer of a model, as `export_model` writes it.
std::string html_viewer(const LoadedModel& loaded, const std::string& source);

}  // namespace boolgrad

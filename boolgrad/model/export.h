// Export of circuits, hardened from a model or read from a file: what `boolgrad export`, `boolgrad
// import` and Python do.
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

/// A circuit and where it comes from.
struct CircuitSource {
  circuit::Netlist netlist;          ///< hardened or read; nothing is simplified
  std::optional<LoadedModel> model;  ///< empty for the file of a circuit
};

/// Whether a path is the file of a circuit by its extension. Others are models and run folders.
bool is_circuit_file(const std::filesystem::path& path);

/// The circuit of a model, of a run's folder, or of a file in a format that can be read. A `format`
/// replaces the one of the extension.
CircuitSource load_circuit(const std::filesystem::path& path, const std::string& format = "");

/// The hardened network or rule of a model, named after its experiment. Nothing is simplified.
circuit::Netlist netlist_of(const LoadedModel& loaded);

/// Thresholds, head and names of a classifier. `loaded` must outlive the result.
circuit::ClassifierPorts ports_of(const LoadedModel& loaded);

struct ExportOptions {
  /// `netlist`, `c`, `verilog` (with a test bench), `blif`, `aiger`, `dot` or `html`.
  std::string format;
  std::filesystem::path file;  ///< AIGER is ASCII if it ends in .aag
  /// Names the circuit: the module of Verilog, the functions of C. By default the name of the
  /// experiment or of the file's circuit.
  std::string name = {};
  /// Verilog: registers after so many levels of gates.
  std::optional<std::int64_t> pipeline = {};
  bool has_valid = false;   ///< with a pipeline: `valid_in` and `valid_out`
  bool has_reset = false;   ///< with a pipeline: a synchronous `reset`
  bool has_enable = false;  ///< with a pipeline: a clock `enable`
  /// Verilog: vectors `in` and `out` also for circuits whose inputs and outputs have names.
  bool flat_ports = false;
  /// Verilog: an automaton as an array of cells; one cell by default.
  std::optional<circuit::GridSize> size = {};
  /// Splits the outputs into so many groups; the circuit computes the group with the most ones.
  /// Trained classifiers do this by default.
  std::optional<std::int64_t> classes = {};
  bool as_trained = false;      ///< do not simplify the circuit
  bool shared_kernels = false;  ///< C and Verilog: every kernel of a convolution once
  /// What the gates of the file are for, one of `export_targets()`: look-up tables of six or four
  /// inputs, two-input gates, or standard cells, for which the adders of a head are AND and OR
  /// gates. If empty, tables for formats that have them and two-input gates for the others.
  std::string target = {};
  bool proves = true;  ///< prove that the written circuit is equivalent to the model
};

/// What was written.
struct ExportReport {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t gates = 0;
  std::int64_t gates_before = 0;
  std::int64_t depth = 0;
  std::int64_t depth_before = 0;
  bool read_back = false;                  ///< the proof used the circuit read from the file
  std::vector<std::int64_t> kernels = {};  ///< of each convolution, if they are shared
  std::int64_t written_gates = 0;          ///< those of a shared kernel counted once
  std::filesystem::path test_bench = {};   ///< empty if there is none
  std::string why_no_target = {};          ///< of the HTML viewer
};

/// The names of the formats.
const std::vector<std::string>& export_formats();

/// `lut6`, `lut4`, `gates` and `cells`.
const std::vector<std::string>& export_targets();

/// Writes the hardened circuit of a model that was read from file `source`. The circuit is proven
/// before the file is written.
ExportReport export_model(const LoadedModel& loaded, const std::string& source,
                          const ExportOptions& options);

/// The format of an exported file by its extension: one of `export_formats()`.
std::string export_format_of(const std::filesystem::path& file);

/// The same for a circuit that was read from file `source`.
ExportReport export_circuit(const circuit::Netlist& netlist, const std::string& source,
                            const ExportOptions& options);

/// The HTML viewer of a model, as `export_model` writes it.
std::string html_viewer(const LoadedModel& loaded, const std::string& source);

}  // namespace boolgrad

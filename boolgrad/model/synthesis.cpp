#include "boolgrad/model/synthesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string_view>

#include "boolgrad/circuit/cells/cell_library.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/temporary_folder.h"
#include "boolgrad/core/text.h"

namespace boolgrad {
namespace {

constexpr const char* where = "synth";

namespace fs = std::filesystem;

struct Target {
  std::string name;
  std::string_view commands;  ///< with the top module as {}
  bool has_cells = false;     ///< standard cells of a library
};

// The library and its cells as Verilog, in the folder of the run.
constexpr const char* library_file = "cells.genlib";
constexpr const char* cells_file = "cells.v";
// Circuits may be called as cells are.
constexpr std::string_view cell_prefix = "boolgrad_cell_";
// The mapper of ABC refuses libraries without a buffer.
constexpr std::string_view buffer = "GATE buffer 1.00 y=a; PIN * NONINV 1 999 1 0 1 0\n";
// A D flip-flop of the smallest drive in an open 130 nm library, in two-input NANDs.
constexpr double flip_flop_area = 5.33;

const std::vector<Target>& targets() {
  static const std::vector<Target> all{
      {"ice40", "synth_ice40 -flatten -top {}"},
      {"xc7", "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -nodsp -top {}"},
      {"ecp5", "synth_ecp5 -nodsp -top {}"},
      {"generic", "synth -flatten -lut 4 -top {}; opt_clean"},
      {"gates", "synth -flatten -top {}; abc -g gates; opt_clean"},
      {"sky130-like",
       "synth -flatten -top {}; dfflegalize -cell $_DFF_P_ x; abc -genlib cells.genlib; opt_clean",
       true}};
  return all;
}

const Target& target_called(const std::string& name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  if (found == targets().end()) {
    fail(where, "expected the target {}, received '{}'", alternatives(synthesis_targets()),
         printable(name));
  }
  return *found;
}

bool begins_with_any(std::string_view type, std::initializer_list<std::string_view> openings) {
  return std::ranges::any_of(openings, [&](auto opening) { return type.starts_with(opening); });
}

void count(const std::string& type, std::int64_t number, SynthesisReport& report) {
  const bool is_library_cell = type.starts_with(cell_prefix);
  report.cells[is_library_cell ? type.substr(cell_prefix.size()) : type] += number;
  if (type == "SB_LUT4" || type == "$lut" || (type.size() == 4 && type.starts_with("LUT"))) {
    report.luts += number;
  } else if (begins_with_any(type, {"SB_DFF", "FD", "TRELLIS_FF", "$_DFF", "$_SDFF"})) {
    report.flip_flops += number;
  } else if (begins_with_any(type, {"SB_CARRY", "CARRY4", "CCU2C"})) {
    report.carries += number;
  } else if (begins_with_any(type, {"MUXF", "PFUMX", "L6MUX21"})) {
    report.multiplexers += number;
  } else if (is_library_cell || type.starts_with("$_")) {
    report.gates += number;
  }
}

/// The number in `(length=12)`.
std::int64_t depth_in(const std::string& text) {
  constexpr std::string_view mark = "(length=";
  const std::size_t at = text.rfind(mark);
  std::int64_t depth = 0;
  if (at == std::string::npos) return depth;
  std::from_chars(text.data() + at + mark.size(), text.data() + text.size(), depth);
  return depth;
}

/// The last line of the log that reports an error, or what else is known.
std::string complaint_of(const fs::path& log) {
  const std::string text = file_content(where, log);
  const std::size_t at = text.rfind("ERROR: ");
  if (at == std::string::npos) return "it failed without a message";
  return text.substr(at + 7, text.find('\n', at) - at - 7);
}

/// The area of the cells, of which flip-flops are not in the library.
double area_of(const SynthesisReport& report, const circuit::CellLibrary& library) {
  double area = flip_flop_area * static_cast<double>(report.flip_flops);
  for (const circuit::Cell& cell : library.cells) {
    const auto found = report.cells.find(cell.name);
    if (found != report.cells.end()) area += cell.area * static_cast<double>(found->second);
  }
  return area;
}

/// The cells as empty Verilog modules, so that Yosys knows their pins.
std::string black_boxes(const circuit::CellLibrary& library) {
  std::string text;
  for (const circuit::Cell& cell : library.cells) {
    text += fmt::format("(* blackbox *) module {}{} (", cell_prefix, cell.name);
    for (const std::string& input : cell.inputs) text += fmt::format("input {}, ", input);
    text += fmt::format("output {});\nendmodule\n", cell.output);
  }
  return text;
}

/// Writes the library and its cells for Yosys.
circuit::CellLibrary prepare_library(const fs::path& file, const fs::path& folder) {
  const std::string text = file_content(where, file) + std::string(buffer);
  circuit::CellLibrary library = circuit::cell_library_from_genlib(text, file.string());
  static const std::regex gate("(^|\\n)([ \\t]*GATE[ \\t]+)");
  const std::string prefixed = std::regex_replace(text, gate, "$1$2" + std::string(cell_prefix));
  write_file(where, folder / library_file, prefixed);
  write_file(where, folder / cells_file, black_boxes(library));
  return library;
}

SynthesisReport report_in(const fs::path& folder) {
  SynthesisReport report;
  const nlohmann::json stat =
      nlohmann::json::parse(file_content(where, folder / "stat.json"), nullptr, false);
  const nlohmann::json none;
  const nlohmann::json& design =
      stat.is_object() && stat.contains("design") ? stat["design"] : none;
  if (!design.is_object() || !design.contains("num_cells_by_type")) {
    fail(where,
         "cannot read the statistics of yosys: expected the cells by type (Yosys 0.23 or newer)");
  }
  for (const auto& [type, number] : design["num_cells_by_type"].items()) {
    if (number.is_number_integer()) count(type, number.get<std::int64_t>(), report);
  }
  if (stat.contains("creator") && stat["creator"].is_string()) {
    const std::string creator = stat["creator"];
    report.yosys = creator.substr(0, creator.find(" ("));
  }
  report.depth = depth_in(file_content(where, folder / "ltp.txt"));
  return report;
}

/// The name of the module with the thresholds of a classifier, or of the circuit's own.
std::string top_of(const fs::path& design, bool with_thresholds) {
  const std::string text = file_content(where, design);
  const std::string_view keyword = "\nmodule ";
  std::string circuit;
  std::string classifier;
  for (std::size_t at = text.find(keyword); at != std::string::npos;
       at = text.find(keyword, at + 1)) {
    const std::size_t begin = at + keyword.size();
    const std::string name = text.substr(begin, text.find_first_of(" (#", begin) - begin);
    (name.ends_with("_classifier") && !circuit.empty() ? classifier : circuit) = name;
  }
  if (with_thresholds && classifier.empty()) {
    fail(where, "expected a classifier with thresholds, received a circuit of bits");
  }
  return with_thresholds ? classifier : circuit;
}

}  // namespace

const std::vector<std::string>& synthesis_targets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Target& target : targets()) result.push_back(target.name);
    return result;
  }();
  return names;
}

SynthesisReport synthesise(const CircuitSource& source, const std::string& path,
                           const SynthesisOptions& options) {
  const Target& target = target_called(options.target);
  const auto program = find_program("yosys");
  if (!program) fail(where, "cannot find yosys in PATH: install Yosys (apt install yosys)");
  const TemporaryFolder folder(where);
  const ExportOptions exported{.format = "verilog",
                               .file = folder.path() / "design.v",
                               .pipeline = options.pipeline,
                               .as_trained = options.as_trained};
  if (source.model) export_model(*source.model, path, exported);
  else export_circuit(source.netlist, path, exported);
  const std::string top = top_of(exported.file, options.with_thresholds);
  circuit::CellLibrary library;
  if (target.has_cells) library = prepare_library(options.library, folder.path());
  write_file(where, folder.path() / "script.ys",
             fmt::format("{}read_verilog -sv design.v\n{}\ntee -q -o stat.json stat -json\n"
                         "tee -q -o ltp.txt ltp -noff\n",
                         target.has_cells ? fmt::format("read_verilog -lib {}\n", cells_file) : "",
                         fmt::format(fmt::runtime(target.commands), top)));
  const std::string command =
      fmt::format("cd '{}' && yosys -q script.ys > log.txt 2>&1", folder.path().string());
  if (std::system(command.c_str()) != 0) {
    fail(where, "yosys: {}", printable(complaint_of(folder.path() / "log.txt")));
  }
  SynthesisReport report = report_in(folder.path());
  report.module_name = top;
  if (target.has_cells) report.area = area_of(report, library);
  return report;
}

}  // namespace boolgrad

// `boolgrad export` and `boolgrad import`: the circuit of a model or of a file as a file for
// hardware or software.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/circuit/shared_circuit.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/grid_text.h"
#include "boolgrad/model/model.h"

namespace boolgrad::cli {
namespace {

struct ExportArguments {
  bool imports = false;     ///< the command is `import`
  std::string model;        ///< or the file of a circuit
  std::string read_format;  ///< of that file; empty for the one of its extension
  std::string format;
  std::string file;
  std::string name;
  std::optional<std::int64_t> pipeline;
  bool has_valid = false;
  bool has_reset = false;
  bool has_enable = false;
  bool flat_ports = false;
  std::string size;  ///< empty for no array
  std::optional<std::int64_t> classes;
  bool as_trained = false;
  std::string target;  ///< empty for what suits the format
  bool unproven = false;
  bool shared_kernels = false;
};

circuit::GridSize parse_size(const std::string& text) {
  const std::optional<circuit::GridSize> size = grid_size_in(text);
  if (!size) {
    throw UsageError(
        fmt::format("[export] expected --size HEIGHTxWIDTH in cells, such as 16x16, received '{}'",
                    printable(text)));
  }
  return *size;
}

/// `--format`, or the format of the extension.
void choose_format(ExportArguments& arguments) {
  if (!arguments.format.empty()) return;
  try {
    arguments.format = export_format_of(arguments.file);
  } catch (const Error&) {
    throw UsageError(
        fmt::format("[export] expected --format or an output file with the extension of a "
                    "format, received {}",
                    printable(arguments.file)));
  }
}

void check_usage(const ExportArguments& arguments) {
  const bool is_verilog = arguments.format == "verilog";
  if (arguments.shared_kernels && !is_verilog && arguments.format != "c") {
    throw UsageError(fmt::format(
        "[export] --shared-kernels is for --format c and verilog, not for {}", arguments.format));
  }
  if (arguments.shared_kernels && (arguments.pipeline || !arguments.size.empty())) {
    throw UsageError("[export] expected --shared-kernels without --pipeline and --size");
  }
  if (!is_verilog && (arguments.pipeline || !arguments.size.empty())) {
    throw UsageError(fmt::format(
        "[export] --pipeline and --size are for --format verilog, not for {}", arguments.format));
  }
  if (!arguments.pipeline && (arguments.has_valid || arguments.has_reset || arguments.has_enable)) {
    throw UsageError("[export] expected --valid, --reset and --enable with --pipeline");
  }
  if (!is_verilog && arguments.flat_ports) {
    throw UsageError(
        fmt::format("[export] --flat-ports is for --format verilog, not for {}", arguments.format));
  }
  if (!arguments.target.empty() && (arguments.format == "aiger" || arguments.format == "html")) {
    throw UsageError(fmt::format(
        "[export] --target is for --format netlist, c, verilog, blif and dot, not for {}",
        arguments.format));
  }
  if (!arguments.target.empty() && arguments.as_trained) {
    throw UsageError(fmt::format("[export] expected --target or {}, received both",
                                 arguments.imports ? "--as-read" : "--as-trained"));
  }
  if (!arguments.target.empty() && arguments.shared_kernels) {
    throw UsageError("[export] expected --target or --shared-kernels, received both");
  }
  if (arguments.pipeline && !arguments.size.empty()) {
    throw UsageError("[export] expected --pipeline or --size, received both");
  }
  if (arguments.pipeline && *arguments.pipeline < 1) {
    throw UsageError(fmt::format("[export] expected --pipeline of at least 1, received {}",
                                 *arguments.pipeline));
  }
}

/// What the library refuses for other models is an invalid option here.
void check_use(const ExportArguments& arguments, const CircuitSource& source) {
  if (!arguments.shared_kernels) return;
  const bool has_convolutions = source.model && !source.model->model.is_automaton() &&
                                circuit::shared_circuit_of(source.model->model.network());
  if (!has_convolutions) {
    throw UsageError(fmt::format(
        "[export] --shared-kernels is for models that begin with convolutions, not for {}",
        printable(source.netlist.name)));
  }
}

ExportOptions options_of(const ExportArguments& arguments) {
  ExportOptions options{.format = arguments.format,
                        .file = arguments.file,
                        .name = arguments.name,
                        .pipeline = arguments.pipeline,
                        .has_valid = arguments.has_valid,
                        .has_reset = arguments.has_reset,
                        .has_enable = arguments.has_enable,
                        .flat_ports = arguments.flat_ports,
                        .classes = arguments.classes,
                        .as_trained = arguments.as_trained,
                        .shared_kernels = arguments.shared_kernels,
                        .target = arguments.target,
                        .proves = !arguments.unproven};
  if (!arguments.size.empty()) options.size = parse_size(arguments.size);
  return options;
}

void print_report(const ExportArguments& arguments, const ExportReport& report, bool is_model) {
  const std::string what = is_model ? "the model" : printable(arguments.model);
  const std::string depth_before =
      arguments.imports ? fmt::format(" of {}", report.depth_before) : "";
  const std::string unit = arguments.target == "lut6"   ? "LUT6"
                           : arguments.target == "lut4" ? "LUT4"
                                                        : "gates";
  fmt::print("{}: {} {} of {}{}, depth {}{}{}\n", printable(arguments.file), report.gates, unit,
             report.gates_before, unit == "gates" ? "" : " gates", report.depth, depth_before,
             arguments.unproven
                 ? ", not proven"
                 : fmt::format(", proven equivalent to {} {}", what,
                               report.read_back ? "after reading it back" : "before writing"));
  if (!report.kernels.empty()) {
    fmt::print("  {} kernels shared: {} gates in the file\n", fmt::join(report.kernels, " + "),
               report.written_gates);
  }
  if (!report.why_no_target.empty()) {
    fmt::print("  no target: {}\n", printable(report.why_no_target));
  }
}

nlohmann::json to_json(const ExportArguments& arguments, const ExportReport& report) {
  nlohmann::json answer = {{"format", arguments.format},    {"file", arguments.file},
                           {"inputs", report.inputs},       {"outputs", report.outputs},
                           {"gates", report.gates},         {"gates_before", report.gates_before},
                           {"depth", report.depth},         {"depth_before", report.depth_before},
                           {"proven", !arguments.unproven}, {"read_back", report.read_back}};
  if (!arguments.target.empty()) answer["target"] = arguments.target;
  if (!report.kernels.empty()) answer["kernels"] = report.kernels;
  if (!report.test_bench.empty()) answer["test_bench"] = report.test_bench.string();
  return answer;
}

int run(ExportArguments arguments, const CommonOptions& common) {
  choose_format(arguments);
  check_usage(arguments);
  const ExportOptions options = options_of(arguments);
  const CircuitSource source =
      arguments.imports
          ? CircuitSource{circuit::read_netlist(arguments.model, arguments.read_format),
                          std::nullopt}
          : load_circuit(arguments.model);
  check_use(arguments, source);
  const ExportReport report = source.model
                                  ? export_model(*source.model, arguments.model, options)
                                  : export_circuit(source.netlist, arguments.model, options);
  if (!common.quiet) print_report(arguments, report, source.model.has_value());
  if (common.json) print_json(to_json(arguments, report));
  return 0;
}

/// The options that both commands have.
void add_options(CLI::App& command, ExportArguments& arguments) {
  command
      .add_option(
          "--format", arguments.format,
          "netlist, c, verilog (with a test bench), blif, aiger (ASCII if FILE ends in "
          ".aag), dot, or html (an interactive viewer); by the extension of FILE by default")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(export_formats()));
  command.add_option("-o,--output", arguments.file, "Output file")->type_name("FILE")->required();
  command
      .add_option("--pipeline", arguments.pipeline,
                  "Verilog: add registers after every N levels of gates")
      ->type_name("N");
  command
      .add_option("--name", arguments.name,
                  "Name of the circuit: the module of Verilog, the functions of C")
      ->type_name("NAME");
  command.add_flag("--valid", arguments.has_valid,
                   "With --pipeline: add valid_in and valid_out, which follow the samples");
  command.add_flag("--reset", arguments.has_reset,
                   "With --pipeline: add reset, which sets all registers to 0 at a clock edge");
  command.add_flag("--enable", arguments.has_enable,
                   "With --pipeline: add enable; registers keep their values while it is 0");
  command.add_flag("--flat-ports", arguments.flat_ports,
                   "Verilog: ports in and out, also where inputs and outputs have names");
  command
      .add_option("--size", arguments.size,
                  "Verilog: write an automaton as an array of cells; one cell by default")
      ->type_name("HxW");
  command
      .add_option("--classes", arguments.classes,
                  "Split the outputs into N groups and output the index of the group with the most "
                  "ones, in binary. Trained classifiers do this by default")
      ->type_name("N");
  command.add_flag(arguments.imports ? "--as-read" : "--as-trained", arguments.as_trained,
                   "Do not simplify the circuit");
  command
      .add_option(
          "--target", arguments.target,
          "What the gates are for: lut6 or lut4 (look-up tables of six or four inputs, with "
          "the head), gates (two-input gates) or cells (standard cells: two-input gates with "
          "adders of AND and OR); by default what suits the format")
      ->type_name("TARGET")
      ->check(CLI::IsMember(export_targets()));
  command.add_flag("--no-proof", arguments.unproven, "Skip the proof of equivalence");
}

}  // namespace

void add_export(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "export", "Write the hardened circuit of a model, proven equivalent to it.",
      "boolgrad export runs/life-1/model.safetensors --format verilog --size 16x16 -o life.v",
      "MODEL may be a circuit as well: netlist text, BLIF, AIGER, structural Verilog or an HTML "
      "viewer.");
  const auto arguments = std::make_shared<ExportArguments>();
  add_model(*command, arguments->model);
  add_options(*command, *arguments);
  command->add_flag("--shared-kernels", arguments->shared_kernels,
                    "C and Verilog: write every kernel of a convolution once, as a function that "
                    "loops call or as a module");
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

void add_import(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "import", "Read a circuit, simplify it, and write it in any format.",
      "boolgrad import adder.blif -o adder.v",
      "FILE is netlist text, BLIF, AIGER, an HTML viewer of boolgrad, "
      "or structural Verilog as Yosys "
      "writes it after synthesis. What is written is proven equivalent to what was read.");
  const auto arguments = std::make_shared<ExportArguments>();
  arguments->imports = true;
  command->add_option("file", arguments->model, "Circuit to read")->type_name("FILE")->required();
  command
      ->add_option("--from", arguments->read_format,
                   "Format of the circuit to read; by its extension by default")
      ->type_name("NAME")
      ->check(CLI::IsMember(circuit::readable_formats()));
  add_options(*command, *arguments);
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli

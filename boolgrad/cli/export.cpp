// `boolgrad export`: the hardened circuit of a model as a file for hardware or software.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>

#include "boolgrad/circuit/shared_circuit.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/model.h"

namespace boolgrad::cli {
namespace {

struct ExportArguments {
  std::string model;
  std::string format;
  std::string file;
  std::optional<std::int64_t> pipeline;
  std::string size;  ///< empty for no array
  std::optional<std::int64_t> classes;
  bool as_trained = false;
  bool unproven = false;
  bool shared_kernels = false;
};

circuit::GridSize parse_size(const std::string& text) {
  std::smatch found;
  if (!std::regex_match(text, found, std::regex("([0-9]{1,9})x([0-9]{1,9})"))) {
    throw UsageError(
        fmt::format("[export] expected --size HEIGHTxWIDTH in cells, such as 16x16, received '{}'",
                    printable(text)));
  }
  return {std::stoll(found[1].str()), std::stoll(found[2].str())};
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
  if (arguments.pipeline && !arguments.size.empty()) {
    throw UsageError("[export] expected --pipeline or --size, received both");
  }
  if (arguments.pipeline && *arguments.pipeline < 1) {
    throw UsageError(fmt::format("[export] expected --pipeline of at least 1, received {}",
                                 *arguments.pipeline));
  }
}

/// What the library refuses for other models is an invalid option here.
void check_use(const ExportArguments& arguments, const LoadedModel& loaded) {
  if (!arguments.shared_kernels) return;
  if (loaded.model.is_automaton() || !circuit::shared_circuit_of(loaded.model.network())) {
    throw UsageError(fmt::format(
        "[export] --shared-kernels is for models that begin with convolutions, not for {}",
        printable(loaded.spec ? loaded.spec->name : "circuit")));
  }
}

ExportOptions options_of(const ExportArguments& arguments) {
  ExportOptions options{.format = arguments.format,
                        .file = arguments.file,
                        .pipeline = arguments.pipeline,
                        .classes = arguments.classes,
                        .as_trained = arguments.as_trained,
                        .shared_kernels = arguments.shared_kernels,
                        .proves = !arguments.unproven};
  if (!arguments.size.empty()) options.size = parse_size(arguments.size);
  return options;
}

void print_report(const ExportArguments& arguments, const ExportReport& report) {
  fmt::print("{}: {} gates of {}, depth {}{}\n", printable(arguments.file), report.gates,
             report.gates_before, report.depth,
             arguments.unproven ? ", not proven"
             : report.read_back ? ", proven equivalent to the model after reading it back"
                                : ", proven equivalent to the model before writing");
  if (!report.kernels.empty()) {
    fmt::print("  {} kernels shared: {} gates in the file\n", fmt::join(report.kernels, " + "),
               report.written_gates);
  }
  if (!report.why_no_target.empty()) {
    fmt::print("  no target: {}\n", printable(report.why_no_target));
  }
}

nlohmann::json to_json(const ExportArguments& arguments, const ExportReport& report) {
  nlohmann::json answer = {{"format", arguments.format},   {"file", arguments.file},
                           {"inputs", report.inputs},      {"outputs", report.outputs},
                           {"gates", report.gates},        {"gates_before", report.gates_before},
                           {"depth", report.depth},        {"proven", !arguments.unproven},
                           {"read_back", report.read_back}};
  if (!report.kernels.empty()) answer["kernels"] = report.kernels;
  if (!report.test_bench.empty()) answer["test_bench"] = report.test_bench.string();
  return answer;
}

int run(const ExportArguments& arguments, const CommonOptions& common) {
  check_usage(arguments);
  const ExportOptions options = options_of(arguments);
  const LoadedModel loaded = load_model(arguments.model);
  check_use(arguments, loaded);
  const ExportReport report = export_model(loaded, arguments.model, options);
  if (!common.quiet) print_report(arguments, report);
  if (common.json) print_json(to_json(arguments, report));
  return 0;
}

}  // namespace

void add_export(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "export", "Write the hardened circuit of a model, proven equivalent to it.",
      "boolgrad export runs/life-1/model.safetensors --format verilog --size 16x16 -o life.v");
  const auto arguments = std::make_shared<ExportArguments>();
  add_model(*command, arguments->model);
  command
      ->add_option("--format", arguments->format,
                   "netlist, c, verilog (with a test bench), blif, aiger (ASCII if FILE ends in "
                   ".aag), dot, or html (an interactive viewer)")
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember(export_formats()));
  command->add_option("-o,--output", arguments->file, "Output file")->type_name("FILE")->required();
  command
      ->add_option("--pipeline", arguments->pipeline,
                   "Verilog: add registers after every N levels of gates")
      ->type_name("N");
  command
      ->add_option("--size", arguments->size,
                   "Verilog: write an automaton as an array of cells; one cell by default")
      ->type_name("HxW");
  command
      ->add_option(
          "--classes", arguments->classes,
          "Split the outputs into N groups and output the index of the group with the most "
          "ones, in binary. Trained classifiers do this by default")
      ->type_name("N");
  command->add_flag("--shared-kernels", arguments->shared_kernels,
                    "C and Verilog: write every kernel of a convolution once, as a function that "
                    "loops call or as a module");
  command->add_flag("--as-trained", arguments->as_trained, "Do not simplify the circuit");
  command->add_flag("--no-proof", arguments->unproven, "Skip the proof of equivalence");
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli

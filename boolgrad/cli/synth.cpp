// `boolgrad synth`: the size of a circuit on an FPGA or in standard cells, by Yosys.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/shipped.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/synthesis.h"

namespace boolgrad::cli {
namespace {

struct SynthArguments {
  std::string circuit;
  std::string report;
  SynthesisOptions options;
};

/// Whether the target has gates rather than LUTs.
bool has_gates(const SynthArguments& arguments) {
  return arguments.options.target == "gates" || arguments.options.target == "sky130-like";
}

std::string text_of(const SynthArguments& arguments, const SynthesisReport& report) {
  std::string text = fmt::format("{} for {}, by {}\n", printable(arguments.circuit),
                                 arguments.options.target, printable(report.yosys));
  const auto line = [&](std::string_view what, std::int64_t number) {
    text += fmt::format("  {:<16}{:>9}\n", what, number);
  };
  if (report.area) text += fmt::format("  {:<16}{:>9.2f} GE\n", "area", *report.area);
  if (has_gates(arguments)) line("gates", report.gates);
  else line("LUTs", report.luts);
  line("flip-flops", report.flip_flops);
  if (report.carries > 0) line("carries", report.carries);
  if (report.multiplexers > 0) line("multiplexers", report.multiplexers);
  line("depth", report.depth);
  text += "  cells\n";
  for (const auto& [type, number] : report.cells) {
    text += fmt::format("    {:<14}{:>9}\n", printable(type), number);
  }
  return text;
}

nlohmann::json to_json(const SynthArguments& arguments, const SynthesisReport& report) {
  nlohmann::json cells = nlohmann::json::object();
  for (const auto& [type, number] : report.cells) cells[type] = number;
  nlohmann::json object = {{"circuit", arguments.circuit}, {"target", arguments.options.target},
                           {"yosys", report.yosys},        {"module", report.module_name},
                           {"luts", report.luts},          {"flip_flops", report.flip_flops},
                           {"carries", report.carries},    {"multiplexers", report.multiplexers},
                           {"depth", report.depth},        {"cells", std::move(cells)}};
  if (has_gates(arguments)) object["gates"] = report.gates;
  if (report.area) object["area"] = *report.area;
  return object;
}

int run(const SynthArguments& arguments, const CommonOptions& common) {
  if (arguments.options.pipeline && *arguments.options.pipeline < 1) {
    throw UsageError(fmt::format("[synth] expected --pipeline of at least 1, received {}",
                                 *arguments.options.pipeline));
  }
  if (arguments.options.pipeline && arguments.options.with_thresholds) {
    throw UsageError("[synth] expected --pipeline or --thresholds, received both");
  }
  const CircuitSource source = load_circuit(arguments.circuit);
  SynthesisOptions options = arguments.options;
  options.library = shipped_folder("libraries") / "cells.genlib";
  const SynthesisReport report = synthesise(source, arguments.circuit, options);
  const std::string text = text_of(arguments, report);
  if (!arguments.report.empty()) write_file("synth", arguments.report, text);
  if (!common.quiet) fmt::print("{}", text);
  if (common.json) print_json(to_json(arguments, report));
  return 0;
}

}  // namespace

void add_synth(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "synth",
      "Synthesise a circuit with Yosys and report its size on an FPGA or in standard cells.",
      "boolgrad synth runs/add-1 --target ice40\n"
      "  boolgrad synth adder.blif --target sky130-like",
      "MODEL is a model, the folder of a run, or a circuit: netlist text, BLIF, AIGER, structural "
      "Verilog or an HTML viewer. Needs yosys.");
  const auto arguments = std::make_shared<SynthArguments>();
  add_model(*command, arguments->circuit);
  command
      ->add_option("--target", arguments->options.target,
                   "ice40, xc7 (Xilinx series 7), ecp5, generic (LUTs of four inputs), gates "
                   "(two-input gates) or sky130-like (standard cells of a 130 nm process)")
      ->type_name("TARGET")
      ->capture_default_str()
      ->check(CLI::IsMember(synthesis_targets()));
  command
      ->add_option("--pipeline", arguments->options.pipeline,
                   "Add registers after every N levels of gates")
      ->type_name("N");
  command->add_flag("--thresholds", arguments->options.with_thresholds,
                    "Classifiers: include the comparison of features with thresholds");
  command->add_flag("--as-trained", arguments->options.as_trained,
                    "Do not simplify the circuit before Yosys does");
  command->add_option("--report", arguments->report, "Write the table to a file too")
      ->type_name("FILE");
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli

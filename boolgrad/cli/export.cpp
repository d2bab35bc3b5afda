// `boolgrad export`: the hardened circuit of a model as a file for hardware or software.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/dot.h"
#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/circuit/formats/named_netlist.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/simplify_tables.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/circuit/shared_circuit.h"
#include "boolgrad/cli/classifier.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/cli/model_viewer.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/model.h"

namespace boolgrad::cli {
namespace {

constexpr const char* where = "export";

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

/// An exported file, and the netlist read back from it if there is a reader for the format.
struct Exported {
  std::string content;
  std::optional<circuit::Netlist> read_back;
  std::string test_bench = {};
  std::string why_no_target = {};  ///< of the HTML viewer
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

std::string name_of(const LoadedModel& loaded) {
  return loaded.spec ? loaded.spec->name : "circuit";
}

circuit::Netlist netlist_of(const LoadedModel& loaded) {
  circuit::Netlist netlist = loaded.model.is_automaton() ? automata::harden(loaded.model.rule())
                                                         : circuit::harden(loaded.model.network());
  netlist.name = name_of(loaded);
  return netlist;
}

circuit::SharedCircuit shared_circuit_of(const LoadedModel& loaded) {
  std::optional<circuit::SharedCircuit> circuit;
  if (!loaded.model.is_automaton()) circuit = circuit::shared_circuit_of(loaded.model.network());
  if (!circuit) {
    throw UsageError(fmt::format(
        "[export] --shared-kernels is for models that begin with convolutions, not for {}",
        printable(name_of(loaded))));
  }
  circuit->name = name_of(loaded);
  return *std::move(circuit);
}

/// Whether the export includes the thresholds and the head of a classifier.
bool has_head(const LoadedModel& loaded, const ExportArguments& arguments) {
  return loaded.model.classifier().has_value() && !arguments.classes;
}

/// The circuit as trained, and the circuit to write.
struct Circuits {
  circuit::Netlist original;
  circuit::Netlist written;
  std::optional<circuit::SharedCircuit> shared;  ///< `written` with shared kernels
};

/// Minimises look-up tables for formats that have them, and two-input gates for the others.
circuit::Netlist simplified_for(const circuit::Netlist& netlist, const std::string& format) {
  const bool keeps_tables = format == "netlist" || format == "blif" || format == "dot";
  return keeps_tables ? circuit::simplify_tables(netlist) : circuit::simplify(netlist);
}

/// C, or Verilog without registers, of a netlist or a circuit with shared kernels.
template <class Circuit>
Exported code_of(const Circuit& circuit, const LoadedModel& loaded,
                 const ExportArguments& arguments) {
  const bool is_classifier = has_head(loaded, arguments);
  if (arguments.format == "c") {
    return {
        is_classifier ? circuit::classifier_c(circuit, ports_of(loaded)) : circuit::to_c(circuit),
        std::nullopt};
  }
  const circuit::Verilog verilog = is_classifier
                                       ? circuit::classifier_verilog(circuit, ports_of(loaded))
                                       : circuit::to_verilog(circuit);
  return {verilog.design, std::nullopt, verilog.test_bench};
}

/// Verilog with registers.
Exported clocked_verilog_of(const circuit::Netlist& netlist, const ExportArguments& arguments) {
  const circuit::Verilog verilog =
      arguments.pipeline ? circuit::to_pipelined_verilog(netlist, *arguments.pipeline)
                         : circuit::to_verilog_array(netlist, parse_size(arguments.size));
  return {verilog.design, std::nullopt, verilog.test_bench};
}

Exported html_of(const circuit::Netlist& netlist, const circuit::Netlist& original,
                 const LoadedModel& loaded, const ExportArguments& arguments) {
  ModelViewer viewer = viewer_of_model(loaded, where, arguments.model);
  viewer.options.gates_before = circuit::gate_count(original);
  const std::string html = circuit::to_html(netlist, viewer.options);
  return {html, circuit::netlist_from_html(html, arguments.file), "", viewer.why_no_target};
}

Exported exported(const Circuits& circuits, const LoadedModel& loaded,
                  const ExportArguments& arguments) {
  if (circuits.shared) return code_of(*circuits.shared, loaded, arguments);
  const auto& [original, netlist, shared] = circuits;
  const std::string& file = arguments.file;
  if (arguments.format == "netlist") {
    const std::string text = circuit::to_text(netlist);
    return {text, circuit::netlist_from_text(text, file), ""};
  }
  if (arguments.format == "blif") {
    const std::string text = circuit::to_blif(netlist);
    return {text, circuit::netlist_from_blif(text, file), ""};
  }
  if (arguments.format == "aiger") {
    const bool ascii = std::filesystem::path(file).extension() == ".aag";
    const std::string bytes = circuit::to_aiger(
        netlist, ascii ? circuit::AigerFormat::ascii : circuit::AigerFormat::binary);
    return {bytes, circuit::netlist_from_aiger(bytes, file), ""};
  }
  if (arguments.format == "dot") return {circuit::to_dot(netlist), std::nullopt, ""};
  if (arguments.format == "html") return html_of(netlist, original, loaded, arguments);
  if (arguments.pipeline || !arguments.size.empty()) return clocked_verilog_of(netlist, arguments);
  return code_of(netlist, loaded, arguments);
}

/// The circuit to write, before its head is added.
void simplify(Circuits& circuits, const ExportArguments& arguments) {
  if (circuits.shared) {
    if (!arguments.as_trained) circuits.shared = circuit::simplified(*circuits.shared);
    circuits.written = circuit::flattened(*circuits.shared);
  } else {
    circuits.written = arguments.as_trained ? circuits.original
                                            : simplified_for(circuits.original, arguments.format);
  }
}

/// The head of a classifier is added after simplification and proof, so that no proof has to deal
/// with its adders.
Circuits circuits_of(const LoadedModel& loaded, const ExportArguments& arguments) {
  Circuits circuits;
  if (arguments.shared_kernels) circuits.shared = shared_circuit_of(loaded);
  circuits.original = netlist_of(loaded);
  if (arguments.classes) {
    circuits.original = circuit::with_argmax(circuits.original, *arguments.classes);
    if (circuits.shared) {
      circuits.shared->rest = circuit::with_argmax(circuits.shared->rest, *arguments.classes);
    }
  }
  simplify(circuits, arguments);
  if (!arguments.unproven) {
    circuit::expect_equivalent(circuits.original, circuits.written, "the simplified circuit");
  }
  // The C export sums with loops instead.
  if (has_head(loaded, arguments) && arguments.format != "c") {
    const Head& head = loaded.model.classifier()->head;
    circuits.original = circuit::with_head(circuits.original, head);
    circuits.written = circuit::with_head(circuits.written, head);
    if (circuits.shared) circuits.shared->rest = circuit::with_head(circuits.shared->rest, head);
  }
  return circuits;
}

/// `life.v` becomes `life_tb.v`.
std::string test_bench_path(const std::filesystem::path& path) {
  return (path.parent_path() / (path.stem().string() + "_tb" + path.extension().string())).string();
}

int run(const ExportArguments& arguments, const CommonOptions& common) {
  check_usage(arguments);
  const LoadedModel loaded = load_model(arguments.model);
  const Circuits circuits = circuits_of(loaded, arguments);
  const auto& [original, netlist, shared] = circuits;
  const Exported result = exported(circuits, loaded, arguments);
  // Before writing, so that a file that exists has been proven.
  if (!arguments.unproven && result.read_back) {
    circuit::expect_equivalent(netlist, *result.read_back, "the file's circuit");
  }
  circuit::write_file(where, arguments.file, result.content);
  nlohmann::json answer = {{"format", arguments.format},
                           {"file", arguments.file},
                           {"inputs", netlist.inputs.size()},
                           {"outputs", netlist.outputs.size()},
                           {"gates", circuit::gate_count(netlist)},
                           {"gates_before", circuit::gate_count(original)},
                           {"depth", circuit::depth(netlist)},
                           {"proven", !arguments.unproven},
                           {"read_back", !arguments.unproven && result.read_back.has_value()}};
  if (shared) answer["kernels"] = shared->kernel_counts();
  if (!result.test_bench.empty()) {
    const std::string path = test_bench_path(arguments.file);
    circuit::write_file(where, path, result.test_bench);
    answer["test_bench"] = path;
  }
  if (!common.quiet) {
    fmt::print("{}: {} gates of {}, depth {}{}\n", printable(arguments.file),
               circuit::gate_count(netlist), circuit::gate_count(original), circuit::depth(netlist),
               arguments.unproven ? ", not proven"
               : result.read_back ? ", proven equivalent to the model after reading it back"
                                  : ", proven equivalent to the model before writing");
    if (shared) {
      fmt::print("  {} kernels shared: {} gates in the file\n",
                 fmt::join(shared->kernel_counts(), " + "), shared->written_gates());
    }
    if (!result.why_no_target.empty()) {
      fmt::print("  no target: {}\n", printable(result.why_no_target));
    }
  }
  if (common.json) print_json(answer);
  return 0;
}

}  // namespace

void add_export(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "export", "Write the hardened circuit of a model, proven equivalent to it.",
      "boolgrad export runs/life-1/model.safetensors --format verilog --size 16x16 -o life.v");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("model", arguments->model, "Model or checkpoint")
      ->type_name("MODEL")
      ->required();
  command
      ->add_option("--format", arguments->format,
                   "netlist, c, verilog (with a test bench), blif, aiger (ASCII if FILE ends in "
                   ".aag), dot, or html (an interactive viewer)")
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember(
          std::vector<std::string>{"netlist", "c", "verilog", "blif", "aiger", "dot", "html"}));
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

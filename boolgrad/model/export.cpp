#include "boolgrad/model/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/cells/conjunctive_tables.h"
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/dot.h"
#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/circuit/formats/reserved_words.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/passes/covering.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/simplify_tables.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/circuit/proof/threshold_dont_cares.h"
#include "boolgrad/circuit/shared_circuit.h"
#include "boolgrad/circuit/threshold_bits.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/task_words.h"
#include "boolgrad/model/viewer.h"

namespace boolgrad {
namespace {

constexpr const char* where = "export";

/// The content of a file, and the netlist read back from it if there is a reader for the format.
struct Exported {
  std::string content;
  std::optional<circuit::Netlist> read_back;
  std::string test_bench = {};
  std::string why_no_target = {};
};

void check_target(const ExportOptions& options) {
  if (options.target.empty()) return;
  const auto& targets = export_targets();
  if (std::ranges::find(targets, options.target) == targets.end()) {
    fail(where, "expected the target {}, received '{}'", alternatives(targets),
         printable(options.target));
  }
  if (options.format == "aiger" || options.format == "html") {
    fail(where, "expected netlist, c, verilog, blif or dot with a target, received {}",
         options.format);
  }
  if (options.as_trained) fail(where, "expected a target or as trained, received both");
  if (options.shared_kernels) fail(where, "expected a target or shared kernels, received both");
}

void check(const ExportOptions& options) {
  const auto& formats = export_formats();
  if (std::ranges::find(formats, options.format) == formats.end()) {
    fail(where, "expected the format {}, received '{}'", alternatives(formats),
         printable(options.format));
  }
  const bool is_verilog = options.format == "verilog";
  if (options.shared_kernels && !is_verilog && options.format != "c") {
    fail(where, "expected c or verilog with shared kernels, received {}", options.format);
  }
  if (options.shared_kernels && (options.pipeline || options.size)) {
    fail(where, "expected shared kernels without a pipeline or a size");
  }
  if (!is_verilog && (options.pipeline || options.size)) {
    fail(where, "expected verilog with a pipeline or a size, received {}", options.format);
  }
  if (options.pipeline && options.size) fail(where, "expected a pipeline or a size, received both");
  if (options.pipeline && *options.pipeline < 1) {
    fail(where, "expected a pipeline of at least 1 level per stage, received {}",
         *options.pipeline);
  }
  if (!options.pipeline && (options.has_valid || options.has_reset || options.has_enable)) {
    fail(where, "expected valid, reset and enable with a pipeline, received none");
  }
  if (!options.name.empty()) circuit::check_identifier(where, options.name);
  check_target(options);
}

std::string name_of(const LoadedModel& loaded) {
  return loaded.spec ? loaded.spec->name : "circuit";
}

/// What to export: a circuit, and the model that it was hardened from, if any.
struct Subject {
  const circuit::Netlist& netlist;
  const LoadedModel* model;
  const std::string& source;  ///< the file
};

circuit::SharedCircuit shared_circuit_of(const Subject& subject) {
  std::optional<circuit::SharedCircuit> circuit;
  if (subject.model != nullptr && !subject.model->model.is_automaton()) {
    circuit = circuit::shared_circuit_of(subject.model->model.network());
  }
  if (!circuit) {
    fail(where, "expected a model that begins with convolutions for shared kernels, received {}",
         printable(subject.netlist.name));
  }
  circuit->name = subject.netlist.name;
  return *std::move(circuit);
}

/// Whether the inputs and outputs have names that become ports. Those of hardened networks without
/// a task are numbered, and a cell has neighbours.
bool has_port_names(const circuit::Netlist& netlist) {
  if (netlist.state) return false;
  const auto is_numbered = [](const std::vector<std::string>& names, std::string_view stem) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != fmt::format("{}{}", stem, i)) return false;
    }
    return true;
  };
  return !is_numbered(netlist.inputs, "x") && !is_numbered(netlist.inputs, "i");
}

circuit::VerilogOptions verilog_options(const circuit::Netlist& netlist,
                                        const ExportOptions& options) {
  return {.module_name = options.name,
          .has_tables = options.target.starts_with("lut"),
          .named_ports = !options.flat_ports && has_port_names(netlist)};
}

/// Whether the export includes the thresholds and the head of a classifier.
bool has_head(const Subject& subject, const ExportOptions& options) {
  return subject.model != nullptr && subject.model->model.classifier().has_value() &&
         !options.classes;
}

/// The circuit as trained, and the circuit to write.
struct Circuits {
  circuit::Netlist original;
  circuit::Netlist written;
  circuit::Netlist core;  ///< `written` without the head of a classifier
  std::int64_t core_gates_before = 0;
  std::optional<circuit::SharedCircuit> shared;  ///< `written` with shared kernels
};

/// Minimises look-up tables for formats that have them, and two-input gates for the others.
circuit::Netlist simplified_for(const circuit::Netlist& netlist, const std::string& format) {
  const bool keeps_tables = format == "netlist" || format == "blif" || format == "dot";
  return keeps_tables ? circuit::simplify_tables(netlist) : circuit::simplify(netlist);
}

/// C, or Verilog without registers, of a netlist or a circuit with shared kernels.
template <class Circuit>
Exported code_of(const Circuit& circuit, const Subject& subject, const ExportOptions& options) {
  const circuit::VerilogOptions names = verilog_options(subject.netlist, options);
  const bool is_classifier = has_head(subject, options);
  if (options.format == "c") {
    return {is_classifier ? circuit::classifier_c(circuit, ports_of(*subject.model))
                          : circuit::to_c(circuit),
            std::nullopt};
  }
  const circuit::Verilog verilog =
      is_classifier ? circuit::classifier_verilog(circuit, ports_of(*subject.model), names)
                    : circuit::to_verilog(circuit, names);
  return {verilog.design, std::nullopt, verilog.test_bench};
}

/// Verilog with registers.
Exported clocked_verilog_of(const circuit::Netlist& netlist, const ExportOptions& options) {
  const circuit::VerilogOptions names = verilog_options(netlist, options);
  const circuit::Verilog verilog =
      options.pipeline ? circuit::to_pipelined_verilog(netlist,
                                                       {.levels = *options.pipeline,
                                                        .has_valid = options.has_valid,
                                                        .has_reset = options.has_reset,
                                                        .has_enable = options.has_enable},
                                                       names)
                       : circuit::to_verilog_array(netlist, *options.size, names);
  return {verilog.design, std::nullopt, verilog.test_bench};
}

Exported html_of(const Circuits& circuits, const Subject& subject, const ExportOptions& options) {
  ModelViewer viewer;
  if (subject.model != nullptr) viewer = viewer_of_model(*subject.model, where, subject.source);
  viewer.options.gates_before = circuit::gate_count(circuits.original);
  if (has_head(subject, options)) {
    viewer.options.gates_before = circuits.core_gates_before;
    viewer.options.classifier =
        viewer_of_classifier(*subject.model->model.classifier(), circuits.core);
  }
  const std::string html = circuit::to_html(circuits.written, viewer.options);
  return {html, circuit::netlist_from_html(html, options.file.string()), "", viewer.why_no_target};
}

Exported exported(const Circuits& circuits, const Subject& subject, const ExportOptions& options) {
  if (circuits.shared) return code_of(*circuits.shared, subject, options);
  const auto& [original, netlist, core, core_gates, shared] = circuits;
  const std::string file = options.file.string();
  if (options.format == "netlist") {
    const std::string text = circuit::to_text(netlist);
    return {text, circuit::netlist_from_text(text, file)};
  }
  if (options.format == "blif") {
    const std::string text = circuit::to_blif(netlist);
    return {text, circuit::netlist_from_blif(text, file)};
  }
  if (options.format == "aiger") {
    const bool ascii = options.file.extension() == ".aag";
    const std::string bytes = circuit::to_aiger(
        netlist, ascii ? circuit::AigerFormat::ascii : circuit::AigerFormat::binary);
    return {bytes, circuit::netlist_from_aiger(bytes, file)};
  }
  if (options.format == "dot") return {circuit::to_dot(netlist), std::nullopt};
  if (options.format == "html") return html_of(circuits, subject, options);
  if (options.pipeline || options.size) return clocked_verilog_of(netlist, options);
  return code_of(netlist, subject, options);
}

/// The circuit to write, before its head is added.
void simplify(Circuits& circuits, const ExportOptions& options) {
  if (circuits.shared) {
    if (!options.as_trained) circuits.shared = circuit::simplified(*circuits.shared);
    circuits.written = circuit::flattened(*circuits.shared);
  } else {
    circuits.written =
        options.as_trained ? circuits.original : simplified_for(circuits.original, options.format);
  }
}

/// The circuit and its head as gates of the target, with a proof of both steps: from the original
/// to its simplified form, for all bits that features can have behind `thresholds`, if any; and
/// from there, with the head, to gates of the target. The second keeps the structure, so that a
/// proof about adders is easy.
void map_to_target(Circuits& circuits, const Subject& subject, const ExportOptions& options) {
  const std::optional<Classifier>* classifier =
      subject.model != nullptr ? &subject.model->model.classifier() : nullptr;
  const logic::Thresholds* thresholds =
      classifier != nullptr && *classifier ? &(*classifier)->thresholds : nullptr;
  const circuit::AddHead add_head = [&](const circuit::Netlist& netlist) {
    const logic::AdderGates adders =
        options.target == "cells" ? logic::AdderGates::conjunctions : logic::AdderGates::tables;
    if (options.classes) return circuit::with_argmax(netlist, *options.classes, {}, adders);
    // The C export sums with loops instead.
    const bool has_own = has_head(subject, options) && options.format != "c";
    return has_own ? circuit::with_head(netlist, (*classifier)->head, adders) : netlist;
  };
  const circuit::Netlist& original = circuits.original;
  circuit::Netlist own_tables = circuit::with_own_tables(original);
  if (thresholds != nullptr) {
    own_tables =
        circuit::with_own_tables(circuit::optimise_for_thresholds(own_tables, *thresholds));
  }
  circuit::Netlist core = circuit::simplify(own_tables);
  if (options.target == "gates") {
    circuits.written = circuit::decompose(add_head(core));
  } else if (options.target == "cells") {
    core = circuit::form_for_cells(own_tables, core);
    circuits.written = add_head(core);
  } else {
    circuit::LutCover cover =
        circuit::cover_with_luts(own_tables, core, options.target == "lut6" ? 6 : 4, add_head);
    circuits.written = std::move(cover.netlist);
    if (cover.keeps_tables) core = std::move(own_tables);
  }
  if (options.proves) {
    const auto possible = [&](const circuit::Netlist& netlist) {
      return thresholds == nullptr ? netlist : circuit::behind_thresholds(netlist, *thresholds);
    };
    circuit::expect_equivalent(possible(original), possible(core), "the simplified circuit");
    circuit::expect_equivalent(add_head(core), circuits.written, "the mapped circuit");
  }
  circuits.original = add_head(original);
}

/// The head of a classifier is added after simplification and proof, so that no proof has to deal
/// with its adders.
Circuits circuits_of(const Subject& subject, const ExportOptions& options) {
  Circuits circuits;
  if (options.shared_kernels) circuits.shared = shared_circuit_of(subject);
  circuits.original = subject.netlist;
  if (!options.name.empty()) {
    circuits.original.name = options.name;
    if (circuits.shared) circuits.shared->name = options.name;
  }
  if (!options.target.empty()) {
    map_to_target(circuits, subject, options);
    return circuits;
  }
  if (options.classes) {
    circuits.original = circuit::with_argmax(circuits.original, *options.classes);
    if (circuits.shared) {
      circuits.shared->rest = circuit::with_argmax(circuits.shared->rest, *options.classes);
    }
  }
  simplify(circuits, options);
  if (options.proves) {
    circuit::expect_equivalent(circuits.original, circuits.written, "the simplified circuit");
  }
  // The C export sums with loops instead.
  if (has_head(subject, options) && options.format != "c") {
    const Head& head = subject.model->model.classifier()->head;
    circuits.core = circuits.written;
    circuits.core_gates_before = circuit::gate_count(circuits.original);
    circuits.original = circuit::with_head(circuits.original, head);
    circuits.written = circuit::with_head(circuits.written, head);
    if (circuits.shared) circuits.shared->rest = circuit::with_head(circuits.shared->rest, head);
  }
  return circuits;
}

/// `life.v` becomes `life_tb.v`.
std::filesystem::path test_bench_path(const std::filesystem::path& path) {
  return path.parent_path() / (path.stem().string() + "_tb" + path.extension().string());
}

/// What to write, proven unless the options say otherwise.
Exported proven(const Circuits& circuits, const Subject& subject, const ExportOptions& options) {
  Exported result = exported(circuits, subject, options);
  if (options.proves && result.read_back) {
    circuit::expect_equivalent(circuits.written, *result.read_back, "the file's circuit");
  }
  return result;
}

ExportReport export_subject(const Subject& subject, const ExportOptions& options) {
  check(options);
  const Circuits circuits = circuits_of(subject, options);
  const auto& [original, netlist, core, core_gates, shared] = circuits;
  const Exported result = proven(circuits, subject, options);
  write_file(where, options.file, result.content);
  ExportReport report{.inputs = std::ssize(netlist.inputs),
                      .outputs = std::ssize(netlist.outputs),
                      .gates = circuit::gate_count(netlist),
                      .gates_before = circuit::gate_count(original),
                      .depth = circuit::depth(netlist),
                      .depth_before = circuit::depth(original),
                      .read_back = options.proves && result.read_back.has_value(),
                      .why_no_target = result.why_no_target};
  if (shared) {
    report.kernels = shared->kernel_counts();
    report.written_gates = shared->written_gates();
  }
  if (!result.test_bench.empty()) {
    report.test_bench = test_bench_path(options.file);
    write_file(where, report.test_bench, result.test_bench);
  }
  return report;
}

}  // namespace

circuit::Netlist netlist_of(const LoadedModel& loaded) {
  circuit::Netlist netlist = loaded.model.is_automaton() ? automata::harden(loaded.model.rule())
                                                         : circuit::harden(loaded.model.network());
  netlist.name = name_of(loaded);
  if (loaded.spec && !loaded.model.is_automaton()) {
    name_operands(netlist, loaded.spec->task.kind);
  }
  return netlist;
}

circuit::ClassifierPorts ports_of(const LoadedModel& loaded) {
  const Classifier& classifier = *loaded.model.classifier();
  return {
      .thresholds = classifier.thresholds,
      .head = classifier.head,
      .has_bytes = classifier.has_bytes,
      .features = classifier.format.columns.empty()
                      ? std::vector<std::string>{}
                      : data::feature_names(classifier.format, classifier.thresholds.features()),
      .classes = classifier.format.classes};
}

bool is_circuit_file(const std::filesystem::path& path) {
  return circuit::has_readable_extension(path) && !std::filesystem::is_directory(path);
}

CircuitSource load_circuit(const std::filesystem::path& path, const std::string& format) {
  if (!format.empty() || is_circuit_file(path)) {
    return {circuit::read_netlist(path, format), std::nullopt};
  }
  LoadedModel loaded = load_model(path);
  circuit::Netlist netlist = netlist_of(loaded);
  return {std::move(netlist), std::move(loaded)};
}

std::string export_format_of(const std::filesystem::path& file) {
  const std::string format = circuit::format_of_file(where, file);
  return format == "aag" ? "aiger" : format;
}

const std::vector<std::string>& export_targets() {
  static const std::vector<std::string> targets = {"lut6", "lut4", "gates", "cells"};
  return targets;
}

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> formats = {"netlist", "c",   "verilog", "blif",
                                                   "aiger",   "dot", "html"};
  return formats;
}

ExportReport export_model(const LoadedModel& loaded, const std::string& source,
                          const ExportOptions& options) {
  const circuit::Netlist netlist = netlist_of(loaded);
  return export_subject({netlist, &loaded, source}, options);
}

ExportReport export_circuit(const circuit::Netlist& netlist, const std::string& source,
                            const ExportOptions& options) {
  return export_subject({netlist, nullptr, source}, options);
}

std::string html_viewer(const LoadedModel& loaded, const std::string& source) {
  const ExportOptions options{.format = "html", .file = source};
  const circuit::Netlist netlist = netlist_of(loaded);
  const Subject subject{netlist, &loaded, source};
  return proven(circuits_of(subject, options), subject, options).content;
}

}  // namespace boolgrad

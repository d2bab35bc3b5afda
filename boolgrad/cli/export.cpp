// `boolgrad export`: the hardened circuit of a model as a file for hardware or software.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
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
#include "boolgrad/circuit/from_model.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/smallest_form.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/cli/classifier.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/cli/model_page.h"
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
};

/// What is written, and what a reader of the format finds in it, where there is one.
struct Exported {
  std::string content;
  std::optional<Netlist> read_back;
  std::string test_bench = {};
  std::string remark = {};  ///< on what was left out
};

GridSize parse_size(const std::string& text) {
  std::smatch found;
  if (!std::regex_match(text, found, std::regex("([0-9]{1,9})x([0-9]{1,9})"))) {
    throw UsageError(
        fmt::format("[export] expected --size HEIGHTxWIDTH in cells, as in 16x16, received '{}'",
                    printable(text)));
  }
  return {std::stoll(found[1].str()), std::stoll(found[2].str())};
}

void check_usage(const ExportArguments& arguments) {
  const bool is_verilog = arguments.format == "verilog";
  if (!is_verilog && (arguments.pipeline || !arguments.size.empty())) {
    throw UsageError(
        fmt::format("[export] expected --pipeline and --size with --format verilog only, "
                    "received --format {}",
                    arguments.format));
  }
  if (arguments.pipeline && !arguments.size.empty()) {
    throw UsageError("[export] expected --pipeline or --size, received both");
  }
  if (arguments.pipeline && *arguments.pipeline < 1) {
    throw UsageError(fmt::format("[export] expected --pipeline of 1 or more levels, received {}",
                                 *arguments.pipeline));
  }
}

Netlist netlist_of(const LoadedModel& loaded) {
  Netlist netlist = loaded.model.is_automaton() ? boolgrad::netlist_of(loaded.model.rule())
                                                : boolgrad::netlist_of(loaded.model.network());
  netlist.name = loaded.spec ? loaded.spec->name : "circuit";
  return netlist;
}

/// Whether what is exported goes from the numbers of a classifier to its class.
bool has_head(const LoadedModel& loaded, const ExportArguments& arguments) {
  return loaded.model.classifier().has_value() && !arguments.classes;
}

/// The circuit that is to be written, and the one before it that it was proven equal to.
struct Forms {
  Netlist original;
  Netlist small;
};

/// For formats that keep tables the fewest tables count; who reads the others splits them up, and
/// gets gates of two inputs.
Netlist small_form_of(const Netlist& netlist, const std::string& format) {
  const bool keeps_tables = format == "netlist" || format == "blif" || format == "dot";
  return keeps_tables ? smallest_form(netlist) : simplified(netlist);
}

Exported verilog_of(const Netlist& netlist, const LoadedModel& loaded,
                    const ExportArguments& arguments) {
  Verilog verilog;
  if (arguments.pipeline) {
    verilog = to_pipelined_verilog(netlist, *arguments.pipeline);
  } else if (!arguments.size.empty()) {
    verilog = to_verilog_array(netlist, parse_size(arguments.size));
  } else if (has_head(loaded, arguments)) {
    verilog = classifier_verilog(netlist, ports_of(loaded));
  } else {
    verilog = to_verilog(netlist);
  }
  return {verilog.design, std::nullopt, verilog.test_bench};
}

Exported page_of(const Netlist& netlist, const Netlist& original, const LoadedModel& loaded,
                 const ExportArguments& arguments) {
  ModelPage page = page_of_model(loaded, where, arguments.model);
  page.options.gates_before = gate_count(original);
  const std::string html = to_html(netlist, page.options);
  return {html, netlist_from_html(html, arguments.file), "", page.why_no_target};
}

Exported exported(const Netlist& netlist, const Netlist& original, const LoadedModel& loaded,
                  const ExportArguments& arguments) {
  const std::string& file = arguments.file;
  if (arguments.format == "netlist") {
    const std::string text = to_text(netlist);
    return {text, netlist_from_text(text, file), ""};
  }
  if (arguments.format == "blif") {
    const std::string text = to_blif(netlist);
    return {text, netlist_from_blif(text, file), ""};
  }
  if (arguments.format == "aiger") {
    const bool ascii = std::filesystem::path(file).extension() == ".aag";
    const std::string bytes = to_aiger(netlist, ascii ? AigerForm::ascii : AigerForm::binary);
    return {bytes, netlist_from_aiger(bytes, file), ""};
  }
  if (arguments.format == "c") {
    return {
        has_head(loaded, arguments) ? classifier_c99(netlist, ports_of(loaded)) : to_c99(netlist),
        std::nullopt, ""};
  }
  if (arguments.format == "dot") return {to_dot(netlist), std::nullopt, ""};
  if (arguments.format == "html") return page_of(netlist, original, loaded, arguments);
  return verilog_of(netlist, loaded, arguments);
}

/// The head of a classifier comes on top of its gates once they are simplified and proven: the same
/// sums on both, so that nobody has to prove adders equal.
Forms forms_of(const LoadedModel& loaded, const ExportArguments& arguments) {
  Forms forms{netlist_of(loaded), {}};
  if (arguments.classes) forms.original = with_argmax(forms.original, *arguments.classes);
  forms.small =
      arguments.as_trained ? forms.original : small_form_of(forms.original, arguments.format);
  if (!arguments.unproven) expect_equivalent(forms.original, forms.small, "the simplified circuit");
  // C counts ones in loops of its own.
  if (has_head(loaded, arguments) && arguments.format != "c") {
    forms.original = with_head(forms.original, loaded.model.classifier()->head);
    forms.small = with_head(forms.small, loaded.model.classifier()->head);
  }
  return forms;
}

/// `life.v` becomes `life_tb.v`.
std::string test_bench_path(const std::filesystem::path& path) {
  return (path.parent_path() / (path.stem().string() + "_tb" + path.extension().string())).string();
}

int run(const ExportArguments& arguments, const CommonOptions& common) {
  check_usage(arguments);
  const LoadedModel loaded = load_model(arguments.model);
  const auto [original, netlist] = forms_of(loaded, arguments);
  const Exported result = exported(netlist, original, loaded, arguments);
  // Before anything is written: a file that is there has been proven.
  if (!arguments.unproven && result.read_back) {
    expect_equivalent(netlist, *result.read_back, "the file's circuit");
  }
  write_file(where, arguments.file, result.content);
  nlohmann::json answer = {{"format", arguments.format},
                           {"file", arguments.file},
                           {"inputs", netlist.inputs.size()},
                           {"outputs", netlist.outputs.size()},
                           {"gates", gate_count(netlist)},
                           {"gates_before", gate_count(original)},
                           {"depth", depth(netlist)},
                           {"proven", !arguments.unproven},
                           {"read_back", !arguments.unproven && result.read_back.has_value()}};
  if (!result.test_bench.empty()) {
    const std::string path = test_bench_path(arguments.file);
    write_file(where, path, result.test_bench);
    answer["test_bench"] = path;
  }
  if (!common.quiet) {
    fmt::print("{}: {} gates of {}, depth {}{}\n", printable(arguments.file), gate_count(netlist),
               gate_count(original), depth(netlist),
               arguments.unproven ? ", not proven"
               : result.read_back ? ", proven equal to the model as read back"
                                  : ", proven equal to the model before it was written");
    if (!result.remark.empty()) fmt::print("  no target: {}\n", printable(result.remark));
  }
  if (common.json) print_json(answer);
  return 0;
}

}  // namespace

void add_export(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "export", "Writes the hardened circuit of a model, proven equal to it.",
      "boolgrad export runs/life-1/model.safetensors --format verilog --size 16x16 -o life.v");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("model", arguments->model, "A model or a checkpoint")
      ->type_name("MODEL")
      ->required();
  command
      ->add_option(
          "--format", arguments->format,
          "netlist, c, verilog (with a test bench beside it), blif, aiger (ASCII for a FILE "
          "that ends in .aag), dot, or html (a page that runs it)")
      ->type_name("FORMAT")
      ->required()
      ->check(CLI::IsMember(
          std::vector<std::string>{"netlist", "c", "verilog", "blif", "aiger", "dot", "html"}));
  command->add_option("-o,--output", arguments->file, "Where to write it")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--pipeline", arguments->pipeline,
                   "Verilog with registers after every N levels of gates")
      ->type_name("N");
  command
      ->add_option("--size", arguments->size,
                   "Verilog of an automaton as an array of so many cells; without it, one cell")
      ->type_name("HxW");
  command
      ->add_option("--classes", arguments->classes,
                   "Output the class, in binary digits, in place of the outputs: of so many groups "
                   "of outputs the one in which most are 1, the first of equal ones; a model that "
                   "was trained to classify does so by itself")
      ->type_name("N");
  command->add_flag("--as-trained", arguments->as_trained, "Every gate as it was trained");
  command->add_flag("--no-proof", arguments->unproven, "Write it without a proof");
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli

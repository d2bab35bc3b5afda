// The part of `boolgrad predict` for circuits, and what it shares with that for classifiers.
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/formats/port_groups.h"
#include "boolgrad/cli/predict.h"
#include "boolgrad/cli/samples.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/circuit_inputs.h"

namespace boolgrad::cli {
namespace {

/// Outputs of a circuit by row, and the ports to show.
struct Outputs {
  std::vector<circuit::PortGroup> ports;
  Tensor bits;  ///< uint8 [rows, outputs]

  std::string value(std::size_t row, const circuit::PortGroup& port) const {
    const auto width = static_cast<std::size_t>(bits.shape()[1]);
    return port_value(port, bits.values<std::uint8_t>().subspan(row * width, width));
  }
};

/// Every bit as a port of its own.
std::vector<circuit::PortGroup> single_bits(const std::vector<std::string>& names) {
  std::vector<circuit::PortGroup> ports;
  for (std::size_t i = 0; i < names.size(); ++i) ports.push_back({names[i], false, {i}});
  return ports;
}

std::string table_of(const UnlabelledSamples& samples, const Outputs& outputs) {
  std::string text = samples.what;
  for (const circuit::PortGroup& port : outputs.ports) text += "," + csv_field(port.name);
  text += "\n";
  for (std::size_t row = 0; row < samples.names.size(); ++row) {
    text += samples.names[row];
    for (const circuit::PortGroup& port : outputs.ports) text += "," + outputs.value(row, port);
    text += "\n";
  }
  return text;
}

nlohmann::json json_of(const PredictArguments& arguments, const UnlabelledSamples& samples,
                       const Outputs& outputs) {
  nlohmann::json object = json_of_samples(arguments, samples);
  if (!arguments.out.empty()) return object;
  nlohmann::json values = nlohmann::json::object();
  for (const circuit::PortGroup& port : outputs.ports) {
    nlohmann::json column = nlohmann::json::array();
    for (std::size_t row = 0; row < samples.names.size(); ++row) {
      const std::string value = outputs.value(row, port);
      if (value.starts_with("0x")) column.push_back(value);
      else column.push_back(std::stoull(value));
    }
    values[port.name] = std::move(column);
  }
  object["outputs"] = std::move(values);
  return object;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

void check_samples(const PredictArguments& arguments, const UnlabelledSamples& samples,
                   const CommonOptions& common) {
  if (!common.quiet) print_refused(samples);
  check_some_left("predict", arguments.data, samples);
  if (!samples.refused.empty() && !arguments.skips_bad_rows) {
    fail("predict", "{}: {} of {} samples cannot be used; --skip-bad-rows predicts the others",
         arguments.data, samples.refused.size(), samples.refused.size() + samples.names.size());
  }
}

void write_table(const PredictArguments& arguments, const UnlabelledSamples& samples,
                 const std::string& table, const CommonOptions& common) {
  if (!arguments.out.empty()) {
    write_file("predict", arguments.out, table);
    if (!common.quiet) {
      fmt::print("{}: {} predictions, {} left out\n", printable(arguments.out),
                 samples.names.size(), samples.refused.size());
    }
  } else if (!common.quiet) {
    fmt::print("{}", table);
  }
}

nlohmann::json json_of_samples(const PredictArguments& arguments,
                               const UnlabelledSamples& samples) {
  nlohmann::json refused = nlohmann::json::array();
  for (const RefusedSample& one : samples.refused) {
    refused.push_back({{samples.what, one.name}, {"reason", one.reason}});
  }
  nlohmann::json object = {{"model", arguments.model},
                           {"samples", samples.names.size()},
                           {"refused", std::move(refused)}};
  if (!arguments.out.empty()) object["output"] = arguments.out;
  return object;
}

void predict_circuit(const PredictArguments& arguments, const circuit::Netlist& netlist,
                     const CommonOptions& common) {
  if (arguments.scores || arguments.top != 1) {
    throw UsageError("[predict] --top and --scores are for classifiers, not for circuits");
  }
  const UnlabelledSamples samples = read_circuit_inputs(arguments.data, netlist);
  check_samples(arguments, samples, common);
  const Outputs outputs{.ports = arguments.has_bits ? single_bits(netlist.outputs)
                                                    : circuit::port_groups(netlist.outputs),
                        .bits = circuit_outputs(netlist, samples.features)};
  write_table(arguments, samples, table_of(samples, outputs), common);
  if (common.json) print_json(json_of(arguments, samples, outputs));
}

}  // namespace boolgrad::cli

#include "boolgrad/automata/rule.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "boolgrad/core/fail.h"

namespace boolgrad::automata {
namespace {

constexpr const char* rule_key = "automaton";
constexpr const char* perceive_prefix = "perceive.";
constexpr const char* update_prefix = "update.";
constexpr std::int64_t patch = 9;
// Random streams of the update layers start here, after those of perception.
constexpr std::uint32_t first_update_layer = 1000;

void add_network(TensorFile& file, const std::string& prefix, const logic::Network& network) {
  const TensorFile part = network.to_file();
  for (const auto& [name, tensor] : part.tensors) file.tensors[prefix + name] = tensor;
  for (const auto& [name, text] : part.metadata) file.metadata[prefix + name] = text;
}

template <class Map>
Map with_prefix(const Map& all, const std::string& prefix) {
  Map part;
  for (const auto& [name, value] : all) {
    if (name.starts_with(prefix)) part[name.substr(prefix.size())] = value;
  }
  return part;
}

logic::Network network_in(const TensorFile& file, const std::string& prefix) {
  TensorFile part;
  part.tensors = with_prefix(file.tensors, prefix);
  part.metadata = with_prefix(file.metadata, prefix);
  return logic::Network::from_file(part);
}

void check_shape(const RuleShape& shape) {
  if (shape.channels < 1 || shape.kernels < 1) {
    fail("rule", "expected at least one channel and one kernel, received {} and {}", shape.channels,
         shape.kernels);
  }
  if (shape.perceive.empty() || shape.perceive[0] != patch - 1) {
    fail("rule", "expected a first layer of perception with 8 gates, received {}",
         shape.perceive.empty() ? 0 : shape.perceive[0]);
  }
}

}  // namespace

Rule::Rule(Border border, std::int64_t kernels, logic::Network perceive, logic::Network update)
    : border_(border),
      kernels_(kernels),
      perceive_(std::move(perceive)),
      update_(std::move(update)) {
  if (perceive_.layers().empty() || update_.layers().empty()) {
    fail("rule", "expected at least one layer of perception and of the update, received {} and {}",
         perceive_.layers().size(), update_.layers().size());
  }
  if (perceive_.inputs() != patch) {
    fail("rule", "expected perception to read 9 values, received {}", perceive_.inputs());
  }
  if (kernels < 1 || perceive_.outputs() % kernels != 0) {
    fail("rule", "expected a number of kernels that divides {} outputs, received {}",
         perceive_.outputs(), kernels);
  }
  const std::int64_t inputs = channels() * (1 + perceive_.outputs());
  if (update_.inputs() != inputs) {
    fail("rule", "expected an update of {} inputs for {} channels, received {}", inputs, channels(),
         update_.inputs());
  }
  if (perceive_.dtype() != update_.dtype()) {
    fail("rule", "expected one dtype, received {} and {}", to_string(perceive_.dtype()),
         to_string(update_.dtype()));
  }
}

Rule Rule::make(const RuleShape& shape, Border border, Parametrisation parametrisation, DType dtype,
                const logic::InitialOptions& initial, std::uint64_t seed) {
  check_shape(shape);
  const auto logits = [&](std::int64_t gates, std::uint32_t layer) {
    return logic::initial_logits(parametrisation, gates, 2, dtype, initial, seed, layer);
  };
  logic::Network perceive(patch, parametrisation, dtype);
  perceive.add_layer(logic::moore_wiring(shape.kernels, seed, 0), logits(8 * shape.kernels, 0));
  for (std::uint32_t i = 1; i < shape.perceive.size(); ++i) {
    const logic::WiringPtr one = logic::adjacent_pairs(
        {.inputs = shape.perceive[i - 1], .gates = shape.perceive[i]}, seed, i);
    perceive.add_layer(logic::interleaved(*one, shape.kernels),
                       logits(shape.perceive[i] * shape.kernels, i));
  }
  logic::Network update(shape.update_inputs(), parametrisation, dtype);
  std::vector<std::int64_t> widths = shape.update;
  widths.push_back(shape.channels);
  for (std::uint32_t i = 0; i < widths.size(); ++i) {
    const std::uint32_t layer = first_update_layer + i;
    update.add_layer(
        logic::adjacent_pairs({.inputs = update.outputs(), .gates = widths[i]}, seed, layer),
        logits(widths[i], layer));
  }
  return {border, shape.kernels, std::move(perceive), std::move(update)};
}

std::int64_t Rule::gates() const {
  std::int64_t total = 0;
  for (const logic::Network* network : {&perceive_, &update_}) {
    for (const logic::GateLayer& layer : network->layers()) total += layer.wiring->gates();
  }
  return total;
}

std::vector<Tensor> Rule::parameters() const {
  std::vector<Tensor> all = perceive_.parameters();
  const std::vector<Tensor> rest = update_.parameters();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::vector<Tensor> Rule::tables(const std::vector<Tensor>& logits) const {
  const auto split = logits.begin() + std::ssize(perceive_.layers());
  std::vector<Tensor> all = perceive_.tables({logits.begin(), split});
  for (const Tensor& table : update_.tables({split, logits.end()})) all.push_back(table);
  return all;
}

void Rule::set_masks(const std::vector<Tensor>& masks) {
  const std::size_t first = perceive_.layers().size();
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (i < first) perceive_.set_mask(i, masks[i]);
    else update_.set_mask(i - first, masks[i]);
  }
}

std::vector<Tensor> Rule::hard_tables() const {
  std::vector<Tensor> all;
  for (const logic::Network* network : {&perceive_, &update_}) {
    for (std::size_t i = 0; i < network->layers().size(); ++i) {
      all.push_back(network->hard_tables_of(i));
    }
  }
  return all;
}

TensorFile Rule::to_file() const {
  TensorFile file;
  add_network(file, perceive_prefix, perceive_);
  add_network(file, update_prefix, update_);
  file.metadata[rule_key] =
      nlohmann::json{{"border", to_string(border_)}, {"kernels", kernels_}}.dump();
  return file;
}

bool Rule::is_in(const TensorFile& file) { return file.metadata.contains(rule_key); }

Rule Rule::from_file(const TensorFile& file) {
  const auto found = file.metadata.find(rule_key);
  if (found == file.metadata.end()) {
    fail("rule", "expected the metadata of an automaton, received none");
  }
  const nlohmann::json parsed = nlohmann::json::parse(found->second, nullptr, false);
  const bool complete = parsed.is_object() && parsed.contains("border") &&
                        parsed["border"].is_string() && parsed.contains("kernels") &&
                        parsed["kernels"].is_number_integer();
  const std::string border = complete ? parsed["border"].get<std::string>() : "";
  if (border != to_string(Border::zero) && border != to_string(Border::periodic)) {
    fail("rule", "expected border and kernels in the metadata, received {}", found->second);
  }
  return {border == to_string(Border::zero) ? Border::zero : Border::periodic,
          parsed["kernels"].get<std::int64_t>(), network_in(file, perceive_prefix),
          network_in(file, update_prefix)};
}

}  // namespace boolgrad::automata

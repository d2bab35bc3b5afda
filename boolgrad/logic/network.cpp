#include "boolgrad/logic/network.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/options/names.h"

namespace boolgrad::logic {
namespace {

constexpr const char* architecture_key = "logic_network";
constexpr const char* wire_logits_part = "wire_logits";
constexpr const char* candidates_part = "candidates";
constexpr const char* outside_part = "outside";

std::string layer_name(std::size_t layer, const char* part) {
  return fmt::format("layer.{}.{}", layer, part);
}

void check_mask(const Tensor& mask, std::int64_t gates, DType dtype, const std::string& of) {
  if (mask.shape() != Shape{gates} || mask.dtype() != dtype) {
    fail("mask", "expected {} [{}] for {}, received {} {}", to_string(dtype), gates, of,
         to_string(mask.dtype()), boolgrad::to_string(mask.shape()));
  }
}

// One factor per feature as a column, which broadcasts over samples or table entries.
Tensor as_column(const Tensor& mask) { return mask.viewed_as({mask.size(), 1}); }

bool is_all_ones(const Tensor& mask) {
  return visit_dtype(mask.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return std::ranges::all_of(mask.values<T>(),
                               [](T value) { return convert<double>(value) == 1; });
  });
}

/// The features that a mask switches off.
std::vector<bool> off_in(const Tensor& mask) {
  std::vector<bool> off;
  off.reserve(static_cast<std::size_t>(mask.size()));
  visit_dtype(mask.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (const T value : mask.values<T>()) off.push_back(convert<double>(value) < 0.5);
  });
  return off;
}

/// Sets the features to 0 that a mask switches off.
BitMatrix masked_bits(BitMatrix x, const Tensor& mask) {
  const std::vector<bool> off = off_in(mask);
  const auto words = static_cast<std::size_t>(x.words_per_feature());
  const std::size_t features = std::min(off.size(), static_cast<std::size_t>(x.features));
  for (std::size_t i = 0; i < features; ++i) {
    if (off[i]) std::fill_n(x.words.data() + i * words, words, 0);
  }
  return x;
}

void check_wire_logits(const WireCandidates& candidates, const Tensor& logits, DType dtype) {
  if (logits.shape() != candidates.shape() || logits.dtype() != dtype) {
    fail("network", "expected wire logits of {} {}, received {} {}", to_string(dtype),
         boolgrad::to_string(candidates.shape()), to_string(logits.dtype()),
         boolgrad::to_string(logits.shape()));
  }
}

const Tensor& part_of(const TensorFile& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) {
    fail("network",
         "expected a file with wires, logits and masks of every layer, received one "
         "without {}",
         name);
  }
  return found->second;
}

/// The candidates of a layer whose wires are learned. Without a list, all inputs are candidates.
CandidatesPtr candidates_in(const TensorFile& file, std::size_t layer, const Wiring& wiring) {
  const auto found = file.tensors.find(layer_name(layer, candidates_part));
  if (found != file.tensors.end()) {
    return std::make_shared<const WireCandidates>(
        wiring.inputs(), found->second,
        CandidateSharing{.positions = wiring.positions(),
                         .has_outside = wiring.sharing().outside.defined()});
  }
  return std::make_shared<const WireCandidates>(wiring.inputs(), wiring.gates(), wiring.arity());
}

/// Throws unless the list, if there is one, has an element of the right kind per layer.
void check_list(const nlohmann::json& architecture, const char* name,
                bool (nlohmann::json::*is_right)() const noexcept, const std::string& text) {
  if (!architecture.contains(name)) return;
  const nlohmann::json& list = architecture[name];
  const bool is_complete =
      list.is_array() && list.size() == architecture["layers"].get<std::size_t>() &&
      std::ranges::all_of(list, [&](const auto& e) { return (e.*is_right)(); });
  if (!is_complete) {
    fail("network", "expected {} with one element per layer in the metadata, received {}", name,
         text);
  }
}

nlohmann::json architecture_of(const TensorFile& file) {
  const auto found = file.metadata.find(architecture_key);
  if (found == file.metadata.end()) {
    fail("network", "expected the metadata of a logic network, received none");
  }
  nlohmann::json parsed = nlohmann::json::parse(found->second, nullptr, false);
  const bool complete =
      parsed.is_object() && parsed.contains("inputs") && parsed["inputs"].is_number_integer() &&
      parsed.contains("layers") && parsed["layers"].is_number_unsigned() &&
      parsed.contains("parametrisation") && parsed["parametrisation"].is_string() &&
      parsed.contains("group_sizes") && parsed["group_sizes"].is_array();
  if (!complete) {
    fail("network",
         "expected inputs, layers, parametrisation and group_sizes in the metadata, "
         "received {}",
         found->second);
  }
  check_list(parsed, "group_sizes", &nlohmann::json::is_number_integer, found->second);
  check_list(parsed, "positions", &nlohmann::json::is_number_integer, found->second);
  check_list(parsed, "pooling", &nlohmann::json::is_boolean, found->second);
  return parsed;
}

/// The wiring of a layer. Files without positions and pooling have neither.
WiringPtr wiring_in(const TensorFile& file, const nlohmann::json& architecture, std::size_t layer,
                    std::int64_t inputs) {
  const Tensor& wires = part_of(file, layer_name(layer, "wires"));
  if (architecture.contains("pooling") && architecture["pooling"].at(layer).get<bool>()) {
    return Wiring::pooling(inputs, wires);
  }
  TableSharing sharing;
  if (architecture.contains("positions")) {
    sharing.positions = architecture["positions"].at(layer).get<std::int64_t>();
  }
  const auto outside = file.tensors.find(layer_name(layer, outside_part));
  if (outside != file.tensors.end()) sharing.outside = outside->second;
  return std::make_shared<const Wiring>(
      inputs, wires, architecture["group_sizes"][layer].get<std::int64_t>(), std::move(sharing));
}

}  // namespace

Network::Network(std::int64_t inputs, Parametrisation parametrisation, DType dtype)
    : inputs_(inputs), parametrisation_(parametrisation), dtype_(dtype) {
  if (inputs < 1) fail("network", "expected at least one input, received {}", inputs);
  if (dtype != DType::float32 && dtype != DType::float64) {
    fail("network", "expected float32 or float64, received {}", to_string(dtype));
  }
  input_mask_ = Tensor::ones({inputs}, dtype);
}

void Network::add_layer(WiringPtr wiring, const Tensor& logits) {
  if (wiring->inputs() != outputs()) {
    fail("network", "expected a layer of {} inputs, received one of {}", outputs(),
         wiring->inputs());
  }
  if (wiring->pools()) fail("network", "expected a layer of gates, received pooling");
  check_arity(parametrisation_, wiring->arity());
  const Shape expected{wiring->tables(), logit_count(parametrisation_, wiring->arity())};
  if (logits.shape() != expected || logits.dtype() != dtype_) {
    fail("network", "expected logits of {} {}, received {} {}", to_string(dtype_),
         boolgrad::to_string(expected), to_string(logits.dtype()),
         boolgrad::to_string(logits.shape()));
  }
  const std::int64_t tables = wiring->tables();
  layers_.push_back({std::move(wiring), parameter(logits.clone()), Tensor::ones({tables}, dtype_)});
}

void Network::add_pooling(WiringPtr wiring) {
  if (!wiring->pools() || wiring->inputs() != outputs()) {
    fail("network", "expected pooling of {} inputs, received {} of {}", outputs(),
         wiring->pools() ? "pooling" : "gates", wiring->inputs());
  }
  const std::int64_t logits = logit_count(parametrisation_, wiring->arity());
  layers_.push_back(
      {std::move(wiring), parameter(Tensor({0, logits}, dtype_)), Tensor({0}, dtype_)});
}

void Network::add_layer(CandidatesPtr candidates, const Tensor& wire_logits, const Tensor& logits) {
  check_wire_logits(*candidates, wire_logits, dtype_);
  add_layer(best_wiring(*candidates, wire_logits), logits);
  layers_.back().candidates = std::move(candidates);
  layers_.back().wire_logits = parameter(wire_logits.clone());
}

void Network::add_layer(const LayerOptions& options) {
  const auto layer = static_cast<std::uint32_t>(layers_.size());
  check_arity(parametrisation_, options.arity);
  const WiringSize size{.inputs = outputs(), .gates = options.gates, .arity = options.arity};
  const Tensor logits = initial_logits(parametrisation_, options.gates, options.arity, dtype_,
                                       options.initialisation, options.seed, layer);
  if (options.candidates == 1) return add_layer(random_wiring(size, options.seed, layer), logits);
  CandidatesPtr candidates = random_candidates(
      size, options.candidates == 0 ? size.inputs : options.candidates, options.seed, layer);
  const Tensor wire_logits = initial_wire_logits(*candidates, dtype_, 1, options.seed, layer);
  add_layer(std::move(candidates), wire_logits, logits);
}

std::int64_t Network::outputs() const {
  return layers_.empty() ? inputs_ : layers_.back().wiring->gates();
}

std::vector<Tensor> Network::parameters() const {
  std::vector<Tensor> result;
  for (const GateLayer& layer : layers_) result.push_back(layer.logits);
  for (const GateLayer& layer : layers_) {
    if (layer.learns_wires()) result.push_back(layer.wire_logits);
  }
  return result;
}

bool Network::learns_wires() const {
  return std::ranges::any_of(layers_, &GateLayer::learns_wires);
}

void Network::choose_wires() {
  for (GateLayer& layer : layers_) {
    if (layer.learns_wires()) layer.wiring = best_wiring(*layer.candidates, layer.wire_logits);
  }
}

void Network::set_candidates(std::size_t layer, CandidatesPtr candidates,
                             const Tensor& wire_logits) {
  GateLayer& own = layers_.at(layer);
  if (!own.learns_wires()) {
    fail("network", "expected a layer with learned wires, received layer {}", layer);
  }
  if (candidates->shape() != own.candidates->shape() ||
      candidates->inputs() != own.candidates->inputs() ||
      candidates->sharing() != own.candidates->sharing()) {
    fail("network", "expected candidates {} out of {} inputs for layer {}, received {} out of {}",
         boolgrad::to_string(own.candidates->shape()), own.candidates->inputs(), layer,
         boolgrad::to_string(candidates->shape()), candidates->inputs());
  }
  check_wire_logits(*candidates, wire_logits, dtype_);
  own.candidates = std::move(candidates);
  if (own.wire_logits.data() != wire_logits.data()) {
    std::memcpy(own.wire_logits.mutable_data(), wire_logits.data(), wire_logits.bytes());
  }
  own.wiring = best_wiring(*own.candidates, own.wire_logits);
}

void Network::fix_wires() {
  choose_wires();
  for (GateLayer& layer : layers_) {
    layer.candidates = nullptr;
    layer.wire_logits = Tensor();
  }
}

// Outputs are linear in the table, so masking the table equals masking the outputs, at a cost per
// step instead of per sample.
Tensor Network::masked_tables(const GateLayer& layer, const Tensor& logits) const {
  if (layer.wiring->pools()) return Tensor({0, std::int64_t{1} << layer.wiring->arity()}, dtype_);
  return multiply(soft_tables(parametrisation_, logits), as_column(layer.mask));
}

std::vector<Tensor> Network::tables(const std::vector<Tensor>& logits) const {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    result.push_back(masked_tables(layers_[i], logits.at(i)));
  }
  return result;
}

std::vector<WiringPtr> Network::wirings() const {
  std::vector<WiringPtr> result;
  for (const GateLayer& layer : layers_) result.push_back(layer.wiring);
  return result;
}

Tensor Network::masked_inputs(const Tensor& x) const {
  return is_all_ones(input_mask_) ? x : multiply(x, as_column(input_mask_));
}

Tensor Network::soft(const Tensor& x, const std::vector<Tensor>& tables) const {
  if (layers_.empty()) return masked_inputs(x);
  return lut_layers(masked_inputs(x), tables, wirings());
}

Tensor Network::soft(const Tensor& x, const std::vector<Tensor>& tables,
                     const std::vector<Tensor>& wire_logits, WireForward forward,
                     double temperature, std::vector<SlotValues>* values) const {
  if (values != nullptr) values->assign(layers_.size(), {});
  if (!learns_wires()) return soft(x, tables);
  Tensor y = masked_inputs(x);
  // Layers up to the next one with learned wires are one op.
  for (std::size_t first = 0; first < layers_.size();) {
    std::vector<WiringPtr> wirings;
    if (layers_[first].learns_wires()) {
      const CandidatesPtr& candidates = layers_[first].candidates;
      const Tensor x_of_layer = y;
      y = select_wires(y, wire_logits.at(first), candidates, forward, temperature);
      if (values != nullptr) (*values)[first] = {.inputs = x_of_layer, .slots = y};
      wirings.push_back(candidates->slot_wiring());
    } else {
      wirings.push_back(layers_[first].wiring);
    }
    std::size_t end = first + 1;
    for (; end < layers_.size() && !layers_[end].learns_wires(); ++end) {
      wirings.push_back(layers_[end].wiring);
    }
    y = lut_layers(y, std::span(tables).subspan(first, end - first), wirings);
    first = end;
  }
  return y;
}

std::vector<Tensor> Network::soft_layers(const Tensor& x) const {
  std::vector<Tensor> outputs{masked_inputs(x)};
  for (const GateLayer& layer : layers_) {
    outputs.push_back(lut_layer(outputs.back(), masked_tables(layer, layer.logits), layer.wiring));
  }
  outputs.erase(outputs.begin());
  return outputs;
}

Tensor Network::hard_tables_of(std::size_t index) const {
  const GateLayer& layer = layers_.at(index);
  const std::int64_t size = std::int64_t{1} << layer.wiring->arity();
  if (layer.wiring->pools()) return Tensor({0, size}, DType::uint8);
  Tensor tables = hard_tables(parametrisation_, layer.logits);
  const std::span<std::uint8_t> values = tables.mutable_values<std::uint8_t>();
  const auto entries = static_cast<std::size_t>(size);
  const std::vector<bool> off = off_in(layer.mask);
  for (std::size_t gate = 0; gate < off.size(); ++gate) {
    if (off[gate]) std::ranges::fill(values.subspan(gate * entries, entries), std::uint8_t{0});
  }
  return tables;
}

Tensor Network::hard_gates_of(std::size_t index) const {
  return expanded_tables(hard_tables_of(index), *layers_.at(index).wiring);
}

std::vector<BitMatrix> Network::hard_layers(const BitMatrix& x) const {
  const BitMatrix masked = masked_bits(x, input_mask_);
  std::vector<BitMatrix> outputs;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    outputs.push_back(
        hard_lut_layer(i == 0 ? masked : outputs.back(), hard_tables_of(i), *layers_[i].wiring));
  }
  return outputs;
}

BitMatrix Network::hard(const BitMatrix& x) const {
  if (layers_.empty()) return x;
  BitMatrix bits = masked_bits(x, input_mask_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    bits = hard_lut_layer(bits, hard_tables_of(i), *layers_[i].wiring);
  }
  return bits;
}

void Network::set_input_mask(const Tensor& mask) {
  check_mask(mask, inputs_, dtype_, "the inputs");
  input_mask_ = mask.clone();
}

void Network::set_mask(std::size_t layer, const Tensor& mask) {
  if (layer >= layers_.size()) {
    fail("mask", "expected a layer below {}, received {}", layers_.size(), layer);
  }
  check_mask(mask, layers_[layer].wiring->tables(), dtype_, fmt::format("layer {}", layer));
  layers_[layer].mask = mask.clone();
}

TensorFile without_candidates(TensorFile file) {
  std::erase_if(file.tensors, [](const auto& item) {
    return item.first.ends_with(wire_logits_part) || item.first.ends_with(candidates_part);
  });
  return file;
}

TensorFile Network::to_file() const {
  TensorFile file;
  nlohmann::json architecture{{"inputs", inputs_},
                              {"layers", layers_.size()},
                              {"parametrisation", to_string(parametrisation_)},
                              {"group_sizes", nlohmann::json::array()}};
  auto positions = nlohmann::json::array();
  auto pooling = nlohmann::json::array();
  file.tensors["input_mask"] = input_mask_;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    file.tensors[layer_name(i, "wires")] = layers_[i].wiring->wires();
    file.tensors[layer_name(i, "logits")] = layers_[i].logits.detach();
    file.tensors[layer_name(i, "mask")] = layers_[i].mask;
    if (layers_[i].learns_wires()) {
      file.tensors[layer_name(i, wire_logits_part)] = layers_[i].wire_logits.detach();
      if (!layers_[i].candidates->has_all()) {
        file.tensors[layer_name(i, candidates_part)] = layers_[i].candidates->sources();
      }
    }
    const Wiring& wiring = *layers_[i].wiring;
    architecture["group_sizes"].push_back(wiring.group_size());
    positions.push_back(wiring.positions());
    pooling.push_back(wiring.pools());
    if (wiring.sharing().outside.defined()) {
      file.tensors[layer_name(i, outside_part)] = wiring.sharing().outside;
    }
  }
  // Files of networks without convolutions are as they were before these existed.
  const auto shares = [](const GateLayer& layer) {
    return layer.wiring->pools() || layer.wiring->positions() > 1;
  };
  if (std::ranges::any_of(layers_, shares)) {
    architecture["positions"] = positions;
    architecture["pooling"] = pooling;
  }
  file.metadata[architecture_key] = architecture.dump();
  return file;
}

Network Network::from_file(const TensorFile& file) {
  const nlohmann::json architecture = architecture_of(file);
  const Tensor& input_mask = part_of(file, "input_mask");
  Network network(architecture["inputs"].get<std::int64_t>(),
                  parametrisation_of("network", architecture["parametrisation"].get<std::string>()),
                  input_mask.dtype());
  network.set_input_mask(input_mask);
  for (std::size_t i = 0; i < architecture["layers"].get<std::size_t>(); ++i) {
    const Tensor& logits = part_of(file, layer_name(i, "logits"));
    WiringPtr wiring = wiring_in(file, architecture, i, network.outputs());
    if (wiring->pools()) {
      network.add_pooling(std::move(wiring));
      continue;
    }
    if (file.tensors.contains(layer_name(i, wire_logits_part))) {
      network.add_layer(candidates_in(file, i, *wiring),
                        part_of(file, layer_name(i, wire_logits_part)), logits);
    } else {
      network.add_layer(std::move(wiring), logits);
    }
    network.set_mask(i, part_of(file, layer_name(i, "mask")));
  }
  return network;
}

}  // namespace boolgrad::logic

#include "boolgrad/logic/network.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

constexpr const char* architecture_key = "logic_network";

std::string layer_name(std::size_t layer, const char* part) {
  return fmt::format("layer.{}.{}", layer, part);
}

void check_mask(const Tensor& mask, std::int64_t gates, DType dtype, const std::string& of) {
  if (mask.shape() != Shape{gates} || mask.dtype() != dtype) {
    fail("mask", "expected {} [{}] for {}, received {} {}", to_string(dtype), gates, of,
         to_string(mask.dtype()), to_string(mask.shape()));
  }
}

// A row of factors, one a feature, as a column that broadcasts over samples or table entries.
Tensor as_column(const Tensor& mask) { return mask.viewed_as({mask.size(), 1}); }

bool is_all_ones(const Tensor& mask) {
  return visit_dtype(mask.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return std::ranges::all_of(mask.values<T>(),
                               [](T value) { return convert<double>(value) == 1; });
  });
}

/// Which features a mask switches off.
std::vector<bool> off_in(const Tensor& mask) {
  std::vector<bool> off;
  off.reserve(static_cast<std::size_t>(mask.size()));
  visit_dtype(mask.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (const T value : mask.values<T>()) off.push_back(convert<double>(value) < 0.5);
  });
  return off;
}

/// Bits with the inputs set to 0 that a mask switches off.
BitMatrix masked_bits(BitMatrix x, const Tensor& mask) {
  const std::vector<bool> off = off_in(mask);
  const auto words = static_cast<std::size_t>(x.words_per_feature());
  const std::size_t features = std::min(off.size(), static_cast<std::size_t>(x.features));
  for (std::size_t i = 0; i < features; ++i) {
    if (off[i]) std::fill_n(x.words.data() + i * words, words, 0);
  }
  return x;
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
  if (!complete || parsed["group_sizes"].size() != parsed["layers"].get<std::size_t>()) {
    fail("network",
         "expected inputs, layers, parametrisation and group_sizes in the metadata, "
         "received {}",
         found->second);
  }
  for (const auto& size : parsed["group_sizes"]) {
    if (!size.is_number_integer()) {
      fail("network", "expected whole group sizes in the metadata, received {}", found->second);
    }
  }
  return parsed;
}

}  // namespace

LogicNetwork::LogicNetwork(std::int64_t inputs, Parametrisation parametrisation, DType dtype)
    : inputs_(inputs), parametrisation_(parametrisation), dtype_(dtype) {
  if (inputs < 1) fail("network", "expected at least one input, received {}", inputs);
  if (dtype != DType::float32 && dtype != DType::float64) {
    fail("network", "expected float32 or float64, received {}", to_string(dtype));
  }
  input_mask_ = Tensor::ones({inputs}, dtype);
}

void LogicNetwork::add_layer(WiringPtr wiring, const Tensor& logits) {
  if (wiring->inputs() != outputs()) {
    fail("network", "expected a layer of {} inputs, received one of {}", outputs(),
         wiring->inputs());
  }
  check_arity(parametrisation_, wiring->arity());
  const Shape expected{wiring->gates(), logit_count(parametrisation_, wiring->arity())};
  if (logits.shape() != expected || logits.dtype() != dtype_) {
    fail("network", "expected logits of {} {}, received {} {}", to_string(dtype_),
         to_string(expected), to_string(logits.dtype()), to_string(logits.shape()));
  }
  const std::int64_t gates = wiring->gates();
  layers_.push_back({std::move(wiring), parameter(logits.clone()), Tensor::ones({gates}, dtype_)});
}

std::int64_t LogicNetwork::outputs() const {
  return layers_.empty() ? inputs_ : layers_.back().wiring->gates();
}

std::vector<Tensor> LogicNetwork::parameters() const {
  std::vector<Tensor> result;
  for (const LogicLayer& layer : layers_) result.push_back(layer.logits);
  return result;
}

// A mask multiplies outputs, and outputs are linear in the table: masking the table is the same,
// and costs once a step what masking the outputs would cost once a sample.
Tensor LogicNetwork::masked_tables(const LogicLayer& layer, const Tensor& logits) const {
  return multiply(soft_tables(parametrisation_, logits), as_column(layer.mask));
}

std::vector<Tensor> LogicNetwork::tables(const std::vector<Tensor>& logits) const {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    result.push_back(masked_tables(layers_[i], logits.at(i)));
  }
  return result;
}

std::vector<WiringPtr> LogicNetwork::wirings() const {
  std::vector<WiringPtr> result;
  for (const LogicLayer& layer : layers_) result.push_back(layer.wiring);
  return result;
}

Tensor LogicNetwork::masked_inputs(const Tensor& x) const {
  return is_all_ones(input_mask_) ? x : multiply(x, as_column(input_mask_));
}

Tensor LogicNetwork::soft(const Tensor& x, const std::vector<Tensor>& tables) const {
  if (layers_.empty()) return masked_inputs(x);
  return lut_layers(masked_inputs(x), tables, wirings());
}

std::vector<Tensor> LogicNetwork::soft_layers(const Tensor& x) const {
  std::vector<Tensor> outputs{masked_inputs(x)};
  for (const LogicLayer& layer : layers_) {
    outputs.push_back(lut_layer(outputs.back(), masked_tables(layer, layer.logits), layer.wiring));
  }
  outputs.erase(outputs.begin());
  return outputs;
}

Tensor LogicNetwork::hard_tables_of(std::size_t index) const {
  const LogicLayer& layer = layers_.at(index);
  Tensor tables = hard_tables(parametrisation_, layer.logits);
  const std::span<std::uint8_t> values = tables.mutable_values<std::uint8_t>();
  const std::size_t entries = values.size() / static_cast<std::size_t>(layer.wiring->gates());
  const std::vector<bool> off = off_in(layer.mask);
  for (std::size_t gate = 0; gate < off.size(); ++gate) {
    if (off[gate]) std::ranges::fill(values.subspan(gate * entries, entries), std::uint8_t{0});
  }
  return tables;
}

std::vector<BitMatrix> LogicNetwork::hard_layers(const BitMatrix& x) const {
  const BitMatrix masked = masked_bits(x, input_mask_);
  std::vector<BitMatrix> outputs;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    outputs.push_back(
        hard_lut_layer(i == 0 ? masked : outputs.back(), hard_tables_of(i), *layers_[i].wiring));
  }
  return outputs;
}

BitMatrix LogicNetwork::hard(const BitMatrix& x) const {
  if (layers_.empty()) return x;
  BitMatrix bits = masked_bits(x, input_mask_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    bits = hard_lut_layer(bits, hard_tables_of(i), *layers_[i].wiring);
  }
  return bits;
}

void LogicNetwork::set_input_mask(const Tensor& mask) {
  check_mask(mask, inputs_, dtype_, "the inputs");
  input_mask_ = mask.clone();
}

void LogicNetwork::set_mask(std::size_t layer, const Tensor& mask) {
  if (layer >= layers_.size()) {
    fail("mask", "expected a layer below {}, received {}", layers_.size(), layer);
  }
  check_mask(mask, layers_[layer].wiring->gates(), dtype_, fmt::format("layer {}", layer));
  layers_[layer].mask = mask.clone();
}

TensorFile LogicNetwork::to_file() const {
  TensorFile file;
  nlohmann::json architecture{{"inputs", inputs_},
                              {"layers", layers_.size()},
                              {"parametrisation", to_string(parametrisation_)},
                              {"group_sizes", nlohmann::json::array()}};
  file.tensors["input_mask"] = input_mask_;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    file.tensors[layer_name(i, "wires")] = layers_[i].wiring->wires();
    file.tensors[layer_name(i, "logits")] = layers_[i].logits.detach();
    file.tensors[layer_name(i, "mask")] = layers_[i].mask;
    architecture["group_sizes"].push_back(layers_[i].wiring->group_size());
  }
  file.metadata[architecture_key] = architecture.dump();
  return file;
}

LogicNetwork LogicNetwork::from_file(const TensorFile& file) {
  const nlohmann::json architecture = architecture_of(file);
  const Tensor& input_mask = part_of(file, "input_mask");
  LogicNetwork network(
      architecture["inputs"].get<std::int64_t>(),
      parametrisation_of("network", architecture["parametrisation"].get<std::string>()),
      input_mask.dtype());
  network.set_input_mask(input_mask);
  for (std::size_t i = 0; i < architecture["layers"].get<std::size_t>(); ++i) {
    const auto group_size = architecture["group_sizes"][i].get<std::int64_t>();
    network.add_layer(std::make_shared<const Wiring>(
                          network.outputs(), part_of(file, layer_name(i, "wires")), group_size),
                      part_of(file, layer_name(i, "logits")));
    network.set_mask(i, part_of(file, layer_name(i, "mask")));
  }
  return network;
}

}  // namespace boolgrad

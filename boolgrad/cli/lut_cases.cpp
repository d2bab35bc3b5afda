#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/cli/reference.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::cli {
namespace {

constexpr Precision precisions[] = {{DType::float64, 1e-10}, {DType::float32, 1e-5}};

/// One case of a file.
class LutCase : public ReferenceCase {
 public:
  LutCase(const std::filesystem::path& path, const TensorFile& file, const std::string& name)
      : ReferenceCase(path, file, name) {
    if (!settings().contains("loss") || !settings()["loss"].is_string()) {
      fail("verify", "{}: expected settings with a loss for case {}, received none", path.string(),
           name);
    }
    loss_ = settings()["loss"].get<std::string>();
    while (has(fmt::format("layer.{}.logits", layers_))) ++layers_;
  }

  std::size_t layers() const { return layers_; }
  const Tensor& of_layer(std::size_t layer, const std::string& part) const {
    return tensor(fmt::format("layer.{}.{}", layer, part));
  }

  Tensor loss(const Tensor& y, const Tensor& target) const {
    return loss_on_device() == LossKind::l4 ? l4(y, target) : binary_cross_entropy(y, target);
  }
  LossKind loss_on_device() const {
    if (loss_ == "l4") return LossKind::l4;
    if (loss_ == "bce") return LossKind::bce;
    fail("verify", "{}: expected the loss l4 or bce, received {}", path().string(), loss_);
  }

 private:
  std::string loss_;
  std::size_t layers_ = 0;
};

// [samples, features], as in files, to [features, samples] of a dtype.
Tensor feature_major(const Tensor& x, DType dtype) { return cast(transpose(x), dtype); }

logic::Network network_of(const LutCase& of, DType dtype) {
  logic::Network network(of.tensor("input").shape().back(), Parametrisation::sigmoid, dtype);
  for (std::size_t layer = 0; layer < of.layers(); ++layer) {
    const Tensor& logits = of.of_layer(layer, "logits");
    if (logits.rank() != 3) {
      fail("verify", "expected logits [groups, group size, entries] in {}, received {}", of.name(),
           to_string(logits.shape()));
    }
    const Shape& shape = logits.shape();
    network.add_layer(std::make_shared<const logic::Wiring>(network.outputs(),
                                                            of.of_layer(layer, "wires"), shape[1]),
                      cast(reshape(logits, {shape[0] * shape[1], shape[2]}), dtype));
    network.set_mask(layer, cast(of.of_layer(layer, "gate_mask"), dtype));
  }
  return network;
}

/// Computed values of a case, feature-major.
struct LutValues {
  std::vector<Tensor> outputs;  ///< of every layer
  Tensor output;
  Tensor hard_output;
  Tensor loss;
  std::vector<Tensor> gradients;
};

LutValues values_on_cpu(const LutCase& of, const logic::Network& network, const Tensor& x,
                        const Tensor& target) {
  LutValues values;
  for (const Tensor& output : network.soft_layers(x)) values.outputs.push_back(output.detach());
  const Tensor y = network.soft(x);
  const Tensor loss = of.loss(y, target);
  values.output = y.detach();
  values.hard_output = logic::unpack_bits(network.hard(logic::pack_bits(x)), x.dtype());
  values.loss = loss.detach();
  values.gradients = grad(loss, network.parameters());
  return values;
}

LutValues values_on_device(const Device& name, const LutCase& of, const logic::Network& network,
                           const Tensor& x, const Tensor& target) {
  const auto device = logic::make_network_program(name, network,
                                                  {.batch = x.shape()[1],
                                                   .parametrisation = network.parametrisation(),
                                                   .loss = {of.loss_on_device()}});
  device->set_cases(DataRole::training, x, target);
  device->set_parameters(network.parameters(), masks_of(network), network.input_mask());
  LutValues values;
  values.loss = Tensor::scalar(device->gradients({}), x.dtype());
  values.outputs = device->layer_outputs();
  values.output = values.outputs.back();
  values.hard_output = cast(device->evaluate().hard, x.dtype());
  values.gradients = device->parameter_gradients();
  return values;
}

void verify_case(const LutCase& of, const Precision& precision, const Device& device,
                 std::vector<Check>& checks) {
  const Comparison compare(of.name(), precision, checks);
  const logic::Network network = network_of(of, precision.dtype);
  const Tensor x = feature_major(of.tensor("input"), precision.dtype);
  const Tensor target = feature_major(of.tensor("target"), precision.dtype);
  const LutValues values = device.is_cpu() ? values_on_cpu(of, network, x, target)
                                           : values_on_device(device, of, network, x, target);
  for (std::size_t layer = 0; layer < of.layers(); ++layer) {
    compare.add(fmt::format("layer.{}.output", layer), transpose(values.outputs[layer]),
                of.of_layer(layer, "output"));
  }
  compare.add("output", transpose(values.output), of.tensor("output"));
  compare.add("hard_output", transpose(values.hard_output), of.tensor("hard_output"), 0);
  compare.add("loss", values.loss, of.tensor("loss"));
  for (std::size_t layer = 0; layer < of.layers(); ++layer) {
    compare.add(fmt::format("layer.{}.grad", layer), values.gradients[layer],
                of.of_layer(layer, "grad"));
  }
}

constexpr const char* mark = "/layer.0.logits";

}  // namespace

bool holds_lut_cases(const TensorFile& file) { return !case_names(file, mark).empty(); }

std::vector<Check> verify_lut(const std::filesystem::path& path, const TensorFile& file,
                              const Device& device) {
  std::vector<Check> checks;
  for (const std::string& name : case_names(file, mark)) {
    const LutCase of(path, file, name);
    for (const Precision& precision : precisions) {
      if (!device.is_cpu() && precision.dtype != DType::float32) continue;
      verify_case(of, precision, device, checks);
    }
  }
  return checks;
}

}  // namespace boolgrad::cli

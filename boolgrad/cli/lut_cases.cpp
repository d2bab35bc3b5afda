#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/cli/reference.h"
#include "boolgrad/core/error.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::cli {
namespace {

constexpr Precision precisions[] = {{DType::float64, 1e-10}, {DType::float32, 1e-5}};

/// One case of a file, with its loss and the number of its layers.
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
    if (loss_ == "l4") return l4(y, target);
    if (loss_ == "bce") return binary_cross_entropy(y, target);
    fail("verify", "{}: expected the loss l4 or bce, received {}", path().string(), loss_);
  }

 private:
  std::string loss_;
  std::size_t layers_ = 0;
};

// [samples, features], as files hold it, to [features, samples] of a dtype, and back.
Tensor feature_major(const Tensor& x, DType dtype) { return cast(transpose(x), dtype); }

LogicNetwork network_of(const LutCase& of, DType dtype) {
  LogicNetwork network(of.tensor("input").shape().back(), Parametrisation::sigmoid, dtype);
  for (std::size_t layer = 0; layer < of.layers(); ++layer) {
    const Tensor& logits = of.of_layer(layer, "logits");
    if (logits.rank() != 3) {
      fail("verify", "expected logits [groups, group size, entries] in {}, received {}", of.name(),
           to_string(logits.shape()));
    }
    const Shape& shape = logits.shape();
    network.add_layer(
        std::make_shared<const Wiring>(network.outputs(), of.of_layer(layer, "wires"), shape[1]),
        cast(reshape(logits, {shape[0] * shape[1], shape[2]}), dtype));
    network.set_mask(layer, cast(of.of_layer(layer, "gate_mask"), dtype));
  }
  return network;
}

void verify_case(const LutCase& of, const Precision& precision, std::vector<Check>& checks) {
  const Comparison compare(of.name(), precision, checks);
  const LogicNetwork network = network_of(of, precision.dtype);
  const Tensor x = feature_major(of.tensor("input"), precision.dtype);
  const std::vector<Tensor> outputs = network.soft_layers(x);
  for (std::size_t layer = 0; layer < outputs.size(); ++layer) {
    compare.add(fmt::format("layer.{}.output", layer), transpose(outputs[layer].detach()),
                of.of_layer(layer, "output"));
  }
  const Tensor y = network.soft(x);
  compare.add("output", transpose(y.detach()), of.tensor("output"));
  const BitMatrix hard = network.hard(pack_bits(x));
  compare.add("hard_output", transpose(unpack_bits(hard, precision.dtype)),
              of.tensor("hard_output"), 0);
  const Tensor loss = of.loss(y, feature_major(of.tensor("target"), precision.dtype));
  compare.add("loss", loss.detach(), of.tensor("loss"));
  const std::vector<Tensor> gradients = grad(loss, network.parameters());
  for (std::size_t layer = 0; layer < gradients.size(); ++layer) {
    compare.add(fmt::format("layer.{}.grad", layer), gradients[layer], of.of_layer(layer, "grad"));
  }
}

constexpr const char* mark = "/layer.0.logits";

}  // namespace

bool holds_lut_cases(const TensorFile& file) { return !case_names(file, mark).empty(); }

std::vector<Check> verify_lut(const std::filesystem::path& path, const TensorFile& file,
                              const std::string& /*device*/) {
  std::vector<Check> checks;
  for (const std::string& name : case_names(file, mark)) {
    const LutCase of(path, file, name);
    for (const Precision& precision : precisions) verify_case(of, precision, checks);
  }
  return checks;
}

}  // namespace boolgrad::cli

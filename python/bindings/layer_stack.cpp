#include "layer_stack.h"

#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/network/lut.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::python {
namespace {

constexpr const char* where = "layers";

Parametrisation parametrisation_of(Tables kind) {
  switch (kind) {
    case Tables::softmax16: return Parametrisation::softmax16;
    case Tables::sigmoid: return Parametrisation::sigmoid;
    default: return Parametrisation::walsh;
  }
}

Tensor tables_of(Tables kind, const Tensor& weights) {
  return kind == Tables::walsh_logits ? logic::walsh_logits(weights)
                                      : logic::soft_tables(parametrisation_of(kind), weights);
}

Shape weight_shape(const logic::Wiring& wiring, Tables kind) {
  return {wiring.tables(), logit_count(parametrisation_of(kind), wiring.arity())};
}

}  // namespace

Tables tables_called(const std::string& name) {
  if (name == "softmax16") return Tables::softmax16;
  if (name == "sigmoid") return Tables::sigmoid;
  if (name == "walsh") return Tables::walsh;
  if (name == "walsh_logits") return Tables::walsh_logits;
  if (name == "pool") return Tables::pool;
  fail(where, "expected softmax16, sigmoid or walsh, received {}", printable(name));
}

LayerStack::LayerStack(std::vector<logic::WiringPtr> wirings, std::vector<Tables> kinds)
    : wirings_(std::move(wirings)), kinds_(std::move(kinds)) {
  if (wirings_.empty() || wirings_.size() != kinds_.size()) {
    fail(where, "expected as many kinds as wirings and at least one, received {} and {}",
         kinds_.size(), wirings_.size());
  }
  for (std::size_t i = 0; i < wirings_.size(); ++i) {
    const logic::Wiring& wiring = *wirings_[i];
    if (i > 0 && wiring.inputs() != wirings_[i - 1]->gates()) {
      fail(where, "expected layer {} to have {} inputs, received {}", i, wirings_[i - 1]->gates(),
           wiring.inputs());
    }
    if (wiring.pools() != (kinds_[i] == Tables::pool)) {
      fail(where, "expected the kind pool for pooling and for nothing else, in layer {}", i);
    }
    if (!wiring.pools()) logic::check_arity(parametrisation_of(kinds_[i]), wiring.arity());
    views_.push_back(wiring.view());
  }
}

void LayerStack::check(const Tensor& x, const std::vector<Tensor>& weights) const {
  if (x.dtype() != DType::float32 && x.dtype() != DType::float64) {
    fail(where, "expected float32 or float64, received {}", boolgrad::to_string(x.dtype()));
  }
  if (x.rank() != 2 || x.shape()[0] != inputs()) {
    fail(where, "expected inputs [{}, samples], received {}", inputs(),
         boolgrad::to_string(x.shape()));
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < wirings_.size(); ++i) {
    if (wirings_[i]->pools()) continue;
    const Shape expected = weight_shape(*wirings_[i], kinds_[i]);
    if (next >= weights.size()) fail(where, "expected weights for layer {}, received none", i);
    const Tensor& own = weights[next++];
    if (own.shape() != expected || own.dtype() != x.dtype()) {
      fail(where, "expected weights of {} {} for layer {}, received {} {}",
           boolgrad::to_string(x.dtype()), boolgrad::to_string(expected), i,
           boolgrad::to_string(own.dtype()), boolgrad::to_string(own.shape()));
    }
  }
  if (next != weights.size()) {
    fail(where, "expected weights for {} layers, received {}", next, weights.size());
  }
}

std::vector<Tensor> LayerStack::coefficients(const Tensor& x, const std::vector<Tensor>& weights,
                                             bool hard) const {
  const NoGrad off_the_tape;
  std::vector<Tensor> result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < wirings_.size(); ++i) {
    if (wirings_[i]->pools()) {
      result.emplace_back(Shape{0, std::int64_t{1} << wirings_[i]->arity()}, x.dtype());
      continue;
    }
    const Tensor& own = weights[next++];
    Tensor tables = hard ? cast(logic::hard_tables(parametrisation_of(kinds_[i]), own), x.dtype())
                         : tables_of(kinds_[i], own);
    result.emplace_back(tables.shape(), x.dtype());
    cpu::tables_to_coefficients(tables, result.back());
  }
  return result;
}

Tensor LayerStack::forward(const Tensor& x, const std::vector<Tensor>& weights, bool hard) const {
  check(x, weights);
  Tensor out({outputs(), x.shape()[1]}, x.dtype());
  if (out.size() > 0) cpu::lut_forward(views_, coefficients(x, weights, hard), x, out);
  return out;
}

std::vector<Tensor> LayerStack::backward(const Tensor& g, const Tensor& x,
                                         const std::vector<Tensor>& weights, bool hard,
                                         bool needs_x) const {
  check(x, weights);
  if (g.shape() != Shape{outputs(), x.shape()[1]} || g.dtype() != x.dtype()) {
    fail(where, "expected a gradient of {} [{}, {}], received {} {}",
         boolgrad::to_string(x.dtype()), outputs(), x.shape()[1], boolgrad::to_string(g.dtype()),
         boolgrad::to_string(g.shape()));
  }
  std::vector<Tensor> gradients(1);
  if (needs_x) gradients[0] = Tensor(x.shape(), x.dtype());
  if (x.shape()[1] == 0) {
    for (const Tensor& own : weights) gradients.push_back(Tensor::zeros(own.shape(), own.dtype()));
    return gradients;
  }
  std::vector<Tensor> sums;
  cpu::lut_backward(views_, coefficients(x, weights, hard), x, g, sums,
                    needs_x ? &gradients[0] : nullptr);
  std::size_t next = 0;
  for (std::size_t i = 0; i < wirings_.size(); ++i) {
    if (wirings_[i]->pools()) continue;
    Tensor of_tables(sums[i].shape(), x.dtype());
    cpu::coefficient_to_table_gradients(sums[i], of_tables);
    const Tensor own = parameter(weights[next++]);
    gradients.push_back(grad(tables_of(kinds_[i], own), own, {.upstream = of_tables}));
  }
  return gradients;
}

logic::Network LayerStack::hardened(const std::vector<Tensor>& weights, double strength) const {
  logic::Network network(inputs(), Parametrisation::sigmoid);
  std::size_t next = 0;
  for (std::size_t i = 0; i < wirings_.size(); ++i) {
    if (wirings_[i]->pools()) {
      network.add_pooling(wirings_[i]);
      continue;
    }
    if (next >= weights.size()) fail(where, "expected weights for layer {}, received none", i);
    const Tensor bits =
        cast(logic::hard_tables(parametrisation_of(kinds_[i]), weights[next++]), DType::float32);
    const Tensor half = Tensor::scalar(0.5, DType::float32);
    network.add_layer(wirings_[i], scale(subtract(bits, half), 2 * strength));
  }
  return network;
}

}  // namespace boolgrad::python

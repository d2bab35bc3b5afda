#include "boolgrad/train/learners/device_network_engine.h"

#include <algorithm>

#include "boolgrad/core/error.h"

namespace boolgrad {

std::vector<LutWires> wires_of(const LogicNetwork& network) {
  std::vector<LutWires> wires;
  for (const LogicLayer& layer : network.layers()) wires.push_back(layer.wiring->view());
  return wires;
}

void send(const LogicNetwork& network, DeviceNetwork& device) {
  std::vector<Tensor> logits;
  std::vector<Tensor> masks;
  for (const LogicLayer& layer : network.layers()) {
    logits.push_back(layer.logits.detach());
    masks.push_back(layer.mask);
  }
  device.set_parameters(logits, masks, network.input_mask());
}

const Experiment& trainable_on_device(const Experiment& experiment, const Device& device) {
  const HardeningKind kind = experiment.hardening.kind;
  if (kind != HardeningKind::none && kind != HardeningKind::blend &&
      kind != HardeningKind::straight_through) {
    fail("device", "expected hardening.kind none, blend or straight_through for {}, received {}",
         to_string(device), to_string(kind));
  }
  return experiment;
}

StepResult DeviceNetworkEngine::step(std::int64_t step, double learning_rate) {
  device_->set_hard_share(hardening().share());
  const NetworkStep taken = device_->step(picked(step), step, learning_rate, moves(step));
  if (taken.finite) {
    steps_ = step + 1;
    is_settled_ = false;
  }
  return {.loss = taken.loss, .finite = taken.finite};
}

void DeviceNetworkEngine::settle() {
  if (is_settled_) return;
  const std::vector<Tensor> here = device_->logits();
  std::vector<Tensor> there = network().parameters();
  for (std::size_t i = 0; i < here.size(); ++i) {
    std::ranges::copy(here[i].values<float>(), there[i].mutable_values<float>().begin());
  }
  is_settled_ = true;
}

AdamWState DeviceNetworkEngine::moments() const {
  return {.step = steps_, .first = device_->first_moments(), .second = device_->second_moments()};
}

void DeviceNetworkEngine::restore(const AdamWState& moments) {
  send(network(), *device_);
  device_->set_moments(moments.first, moments.second);
  steps_ = moments.step;
  is_settled_ = true;
}

}  // namespace boolgrad

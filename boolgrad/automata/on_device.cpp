#include "boolgrad/automata/on_device.h"

#include <vector>

#include "boolgrad/core/error.h"

namespace boolgrad {

std::unique_ptr<DeviceAutomaton> on_device(const Device& device, const Rule& rule,
                                           const RolloutSize& size,
                                           const OnDeviceOptions& options) {
  if (rule.dtype() != DType::float32) {
    fail(to_string(device), "expected a rule in float32, received {}", to_string(rule.dtype()));
  }
  if (rule.perceive().parametrisation() != rule.update().parametrisation()) {
    fail(to_string(device), "expected one parametrisation, received two");
  }
  if (rule.update().parametrisation() == Parametrisation::walsh) {
    fail(to_string(device), "expected softmax16 or sigmoid for an automaton, received walsh");
  }
  check_grid(rule.border(), size.height, size.width);
  const std::vector<WiringPtr> perceive_wirings = rule.perceive().wirings();
  const std::vector<WiringPtr> update_wirings = rule.update().wirings();
  std::vector<LutWires> perceive;
  std::vector<LutWires> update;
  for (const WiringPtr& wiring : perceive_wirings) perceive.push_back(wiring->view());
  for (const WiringPtr& wiring : update_wirings) update.push_back(wiring->view());
  AutomatonShape shape{.channels = rule.channels(),
                       .kernels = rule.kernels(),
                       .batch = size.batch,
                       .height = size.height,
                       .width = size.width,
                       .steps = size.steps,
                       .loss_channels = options.loss_channels,
                       .border = rule.border(),
                       .parametrisation = rule.update().parametrisation(),
                       .loss = options.loss,
                       .memory = options.memory.value_or(Memory{}),
                       .perceive = perceive,
                       .update = update};
  if (!options.memory) shape = with_fastest_memory(device, shape);
  auto automaton = make_device_automaton(device, shape, options.optimiser);
  send(rule, *automaton);
  return automaton;
}

void send(const Rule& rule, DeviceAutomaton& device) {
  std::vector<Tensor> logits;
  std::vector<Tensor> masks;
  for (const LogicNetwork* network : {&rule.perceive(), &rule.update()}) {
    for (const LogicLayer& layer : network->layers()) {
      logits.push_back(layer.logits.detach());
      masks.push_back(layer.mask);
    }
  }
  device.set_parameters(logits, masks);
}

}  // namespace boolgrad

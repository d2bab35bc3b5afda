// Automata on a device that Vulkan shows: training steps and rollouts, each in one submission that
// was recorded once.
//
// No header of Vulkan is included here, so that rooms above need not know whether the backend was
// built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/device_automaton.h"

namespace boolgrad::vulkan {

/// Whether device `number` has memory enough to keep all activations.
bool has_room_for_activations(int number, AutomatonShape shape);

/// A rule of two-input gates with all that training needs, on device `number`.
class Automaton final : public DeviceAutomaton {
 public:
  explicit Automaton(int number, const AutomatonShape& shape, const OptimiserOptions& options = {});
  ~Automaton() override;

  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) override;
  void get_parameters(std::span<Tensor> logits) const override;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  void get_moments(std::span<Tensor> first, std::span<Tensor> second) const override;
  void set_inputs(const AutomatonInputs& inputs) override;
  double gradients(const AutomatonDraws& draws) override;
  std::vector<Tensor> logit_gradients() const override;
  Tensor states() const override;
  AutomatonOutcome step(const AutomatonDraws& draws, std::int64_t step, double learning_rate,
                        bool with_hard) override;
  double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                      const AutomatonDraws& draws, Tensor& last) override;
  HardOutcome hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                           const AutomatonDraws& draws) override;
  Tensor hard_state() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Memory of device `number` that training takes.
std::size_t training_bytes(int number, const AutomatonShape& shape);

}  // namespace boolgrad::vulkan

// Networks of soft gates on a device that Vulkan shows: training steps, each in submissions that
// were recorded once, and the hardened circuit.
//
// No header of Vulkan is included here, so that rooms above need not know whether the backend was
// built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/device_network.h"

namespace boolgrad::vulkan {

/// A network on device `number`. See `DeviceNetwork`.
class Network final : public DeviceNetwork {
 public:
  /// The wires are copied.
  Network(int number, std::span<const LutWires> layers, const NetworkPlan& plan);
  ~Network() override;

  void set_cases(const Tensor& inputs, const Tensor& targets) override;
  void set_samples(const BitSamples& samples, const Tensor& targets) override;
  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks,
                      const Tensor& input_mask) override;
  std::vector<Tensor> logits() const override;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  std::vector<Tensor> first_moments() const override;
  std::vector<Tensor> second_moments() const override;
  void set_hard_share(double share) override;
  NetworkStep step(std::span<const std::int64_t> picked, std::int64_t step, double learning_rate,
                   std::span<const PictureMove> moves) override;
  double gradients(std::span<const std::int64_t> picked,
                   std::span<const PictureMove> moves) override;
  std::vector<Tensor> logit_gradients() const override;
  std::vector<Tensor> outputs() const override;
  NetworkScore evaluate() override;
  Tensor hard_outputs() override;
  double milliseconds(int count) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace boolgrad::vulkan

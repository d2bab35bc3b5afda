#include "boolgrad/backend/cuda/network/network.h"

#include <optional>

#include "boolgrad/backend/cuda/network/program.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/device/network_checks.h"

namespace boolgrad::cuda {
namespace {

class Network final : public DeviceNetwork {
 public:
  Network(int index, std::span<const LutWires> layers, const NetworkSpec& spec)
      : device_(selected(index)), program_(layers, spec) {}
  ~Network() override { cudaSetDevice(device_); }

  void set_cases(DataRole role, const Tensor& inputs, const Tensor& targets) override {
    select_device(device_);
    check_cases("cuda", inputs, targets, program_.inputs(), program_.outputs(), program_.spec());
    if (role == DataRole::training) program_.set_threshold_ranges({}, 0);
    set_data(role, NetworkData::of_cases(inputs), targets);
  }

  void set_samples(DataRole role, const FeatureSamples& samples, const Tensor& targets) override {
    select_device(device_);
    check_samples("cuda", samples, targets, program_.inputs(), program_.outputs(), program_.spec());
    if (role == DataRole::training) {
      program_.set_threshold_ranges(samples.ranges, samples.width_share);
    }
    set_data(role, NetworkData::of_features(samples), targets);
  }

  void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                      const Tensor& input_mask) override {
    select_device(device_);
    program_.set_parameters(parameters, masks, input_mask);
  }
  std::vector<Tensor> parameters() const override {
    select_device(device_);
    return program_.parameters();
  }

  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override {
    select_device(device_);
    program_.set_moments(first, second);
  }
  std::vector<Tensor> first_moments() const override {
    select_device(device_);
    return program_.first_moments();
  }
  std::vector<Tensor> second_moments() const override {
    select_device(device_);
    return program_.second_moments();
  }

  StepResult step(const NetworkStepArguments& arguments) override {
    select_device(device_);
    return program_.step(arguments);
  }
  double gradients(const NetworkStepArguments& arguments) override {
    select_device(device_);
    return program_.gradients_of(arguments);
  }
  std::vector<Tensor> parameter_gradients() const override {
    select_device(device_);
    return program_.gradients();
  }
  std::vector<Tensor> layer_outputs() const override {
    select_device(device_);
    return program_.layer_outputs();
  }

  WireSignals wire_signals(const NetworkStepArguments& arguments, std::size_t layer) override {
    select_device(device_);
    return program_.wire_signals(arguments, layer);
  }

  void set_candidates(std::size_t layer, const CandidateWires& candidates) override {
    select_device(device_);
    program_.set_candidates(layer, candidates);
  }

  NetworkScores evaluate(double wire_temperature) override {
    select_device(device_);
    return program_.evaluate(evaluation_ ? *evaluation_ : program_.training_data(),
                             wire_temperature);
  }

  double milliseconds(int count) override {
    select_device(device_);
    return program_.milliseconds(count);
  }

 private:
  /// Targets of evaluation data are not uploaded: the caller compares.
  void set_data(DataRole role, NetworkData data, const Tensor& targets) {
    if (role == DataRole::evaluation) evaluation_ = std::move(data);
    else program_.set_training_data(std::move(data), targets);
  }

  int device_;
  NetworkProgram program_;
  std::optional<NetworkData> evaluation_;
};

}  // namespace

std::unique_ptr<DeviceNetwork> make_network(int index, std::span<const LutWires> layers,
                                            const NetworkSpec& spec) {
  return std::make_unique<Network>(index, layers, spec);
}

}  // namespace boolgrad::cuda

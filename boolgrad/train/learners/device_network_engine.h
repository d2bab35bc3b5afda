// What engines of gate networks on devices share: the device holds the parameters and their
// moments, and the learner's are brought up to date when somebody looks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/learners/engine.h"

namespace boolgrad {

/// Where the wires of a network's layers lie, as the device takes them.
std::vector<LutWires> wires_of(const LogicNetwork& network);

/// Sends a network's logits and masks.
void send(const LogicNetwork& network, DeviceNetwork& device);

/// The experiment, once it is known that it asks for nothing that no network learns on `device`.
const Experiment& trainable_on_device(const Experiment& experiment, const Device& device);

class DeviceNetworkEngine : public Engine {
 public:
  StepResult step(std::int64_t step, double learning_rate) override;
  void settle() override;
  AdamWState moments() const override;
  void restore(const AdamWState& moments) override;

 protected:
  explicit DeviceNetworkEngine(std::unique_ptr<DeviceNetwork> device)
      : device_(std::move(device)) {}

  /// The learner's network, and the cases of a step; none stands for all.
  virtual const LogicNetwork& network() const = 0;
  virtual std::vector<std::int64_t> picked(std::int64_t step) = 0;
  /// How their pictures are moved, one a case; none where they are not.
  virtual std::vector<ImageShift> moves(std::int64_t /*step*/) const { return {}; }
  /// How hard its tables are now.
  virtual const Hardening& hardening() const = 0;

  DeviceNetwork& device() const { return *device_; }

 private:
  std::unique_ptr<DeviceNetwork> device_;
  std::int64_t steps_ = 0;  ///< that the moments have seen
  bool is_settled_ = true;  ///< whether the learner's parameters are those of the device
};

}  // namespace boolgrad

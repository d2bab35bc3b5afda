// Who takes a learner's steps: the host, on the tape, or a device that holds all it needs.
#pragma once

#include <cstdint>
#include <memory>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

/// What one step saw.
struct StepResult {
  double loss = 0;
  /// Whether loss and gradients were finite. Where they were not, nothing was updated.
  bool finite = true;
};

/// Trains a learner's parameters, which lie where the engine runs until they are asked for.
class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Loss and gradients of step `step`, counted from 0, and an update of the parameters.
  virtual StepResult step(std::int64_t step, double learning_rate) = 0;

  /// Makes the learner's parameters what they are here.
  virtual void settle() = 0;

  /// The moments as they are here, `step` of them taken. The caller may keep them.
  virtual AdamWState moments() const = 0;

  /// Goes on from the learner as it is now, masks included, with these moments.
  virtual void restore(const AdamWState& moments) = 0;

  /// How good the parameters are now.
  virtual Evaluation evaluate() const = 0;
};

/// The engine that trains `learner`, which outlives it, on `device`. It starts from moments of zero.
std::unique_ptr<Engine> make_engine(const Device& device, const Experiment& experiment,
                                    Learner& learner);

}  // namespace boolgrad

// Training programs that compute a batch block by block, alone or with other ranks.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "boolgrad/train/learners/block_sum.h"

namespace boolgrad::train {

/// What the programs of networks and automata share: gradients come from a program for one block,
/// on any device. They are summed over blocks and ranks, and the parameters are updated here.
template <class Program>
class BlockwiseProgram : public Program {
 public:
  std::vector<Tensor> parameters() const override { return logic::detached(parameters_); }
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override {
    optimiser_->restore({.step = optimiser_->state().step,
                         .first = {first.begin(), first.end()},
                         .second = {second.begin(), second.end()}});
  }
  std::vector<Tensor> first_moments() const override { return clones(optimiser_->state().first); }
  std::vector<Tensor> second_moments() const override { return clones(optimiser_->state().second); }
  std::vector<Tensor> parameter_gradients() const override { return gradients_; }

 protected:
  BlockwiseProgram(std::unique_ptr<Program> block, const Blocks& blocks,
                   const AdamWOptions& options)
      : block_(std::move(block)), blocks_(blocks), options_(options) {}

  Program& block() const { return *block_; }
  const Blocks& blocks() const { return blocks_; }

  /// Copies parameters. The moments are kept if the shapes are.
  void take_parameters(std::span<const Tensor> parameters) {
    if (parameters_.size() == parameters.size()) {
      logic::copy_values({parameters.begin(), parameters.end()}, parameters_);
      return;
    }
    parameters_ = clones({parameters.begin(), parameters.end()});
    optimiser_ = std::make_unique<AdamW>(parameters_, options_);
  }

  /// `gradients_of(b)` is the loss of block b; its gradients are those of the program.
  template <class GradientsOf>
  double sum_over_blocks(double factor, const GradientsOf& gradients_of) {
    BlockSum sum(blocks_);
    for (std::int64_t b = blocks_.first(); b < blocks_.last(); ++b) {
      const double loss = gradients_of(b);
      sum.add(loss, clones(block_->parameter_gradients()));
    }
    auto [loss, gradients] = sum.total(factor);
    gradients_ = std::move(gradients);
    return loss;
  }

  /// Updates the parameters if the loss and all gradients are finite, and returns whether they are.
  bool update(double loss, std::int64_t step, double learning_rate) {
    if (!std::isfinite(loss) || !all_finite(gradients_)) return false;
    optimiser_->set_step(step);
    optimiser_->step(gradients_, learning_rate);
    return true;
  }

 private:
  static std::vector<Tensor> clones(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> result;
    for (const Tensor& tensor : tensors) {
      result.push_back(tensor.defined() ? tensor.detach().clone() : Tensor());
    }
    return result;
  }

  std::unique_ptr<Program> block_;
  Blocks blocks_;
  AdamWOptions options_;
  std::vector<Tensor> parameters_;
  std::unique_ptr<AdamW> optimiser_;
  std::vector<Tensor> gradients_;
};

/// `block` is a program for `blocks.samples()` samples, with the specification `spec` otherwise.
std::unique_ptr<DeviceNetwork> make_blockwise_network(std::unique_ptr<DeviceNetwork> block,
                                                      const Blocks& blocks,
                                                      const NetworkSpec& spec);

/// `block` is a program for `blocks.samples()` grids.
std::unique_ptr<DeviceAutomaton> make_blockwise_automaton(std::unique_ptr<DeviceAutomaton> block,
                                                          const Blocks& blocks,
                                                          const automata::AutomatonSpec& spec,
                                                          std::int64_t channels);

}  // namespace boolgrad::train

// Reference values of automata: tensors `case/initial`, `case/perceive.0.logits`, ...
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/cli/reference.h"

namespace boolgrad::cli {

/// Computed values, with the names and the order of axes of the file.
struct AutomatonValues {
  Tensor soft_states;
  Tensor hard_states;
  Tensor loss;
  std::vector<std::pair<std::string, Tensor>> gradients;

  /// Loss and gradients.
  std::vector<std::pair<std::string, Tensor>> named() const;
};

/// One case of a file, in one precision. The file must outlive it.
class AutomatonCase {
 public:
  AutomatonCase(const std::filesystem::path& path, const TensorFile& file, const std::string& name,
                DType dtype);

  const automata::Rule& rule() const { return rule_; }
  automata::RolloutSize size() const;
  bool has(const std::string& part) const { return of_.has(part); }
  const Tensor& reference(const std::string& part) const { return of_.tensor(part); }

  /// The loss, for gradients.
  Tensor loss() const;
  AutomatonValues values() const;

  /// The same on a device, in float32.
  AutomatonValues values_on(const Device& device) const;
  /// The automaton's program on a device, with its inputs.
  std::unique_ptr<DeviceAutomaton> on(const Device& device) const;

 private:
  Tensor loss_at(const Tensor& states) const;
  Tensor hard_states_on(const Device& device) const;
  automata::AutomatonSpec spec_for(const automata::RolloutSize& size) const;
  void name_gradients(const std::vector<Tensor>& gradients, AutomatonValues& values) const;

  ReferenceCase of_;
  automata::Rule rule_;
  std::int64_t steps_;
  Tensor initial_;
  Tensor target_;
  Tensor fire_;
};

std::set<std::string> automaton_case_names(const TensorFile& file);

}  // namespace boolgrad::cli

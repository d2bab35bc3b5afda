#include "boolgrad/train/search/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/train/experiment/chosen_head.h"
#include "boolgrad/train/experiment/initial_circuit.h"
#include "boolgrad/train/experiment/memory_estimate.h"
#include "boolgrad/train/learners/network_learner.h"

namespace boolgrad::train {
namespace {

constexpr const char* step_key = "step";
constexpr const char* members_key = "search.members";
constexpr const char* leader_key = "search.leader";

std::string member_prefix(std::size_t index) { return fmt::format("member.{}.", index); }

/// A number in the metadata of a checkpoint, from 0 to `max`.
std::int64_t number_in(const TensorFile& state, const char* key, const char* what, std::int64_t max,
                       const std::string& source) {
  const auto found = state.metadata.find(key);
  const std::string text = found == state.metadata.end() ? "" : found->second;
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > max) {
    fail("resume", "{}: expected {}, received '{}'", source, what, text);
  }
  return value;
}

}  // namespace

Trainer::Trainer(const Experiment& experiment, const Device& device, Group& group)
    : Trainer(device, group, with_initial_circuit(with_chosen_head(experiment))) {}

Trainer::Trainer(const Device& device, Group& group, const Experiment& experiment)
    : samples_(experiment.is_classifier() ? training_samples_of(experiment) : nullptr),
      experiment_(with_epochs_in_steps(experiment)),
      device_(device),
      group_(group) {
  check_memory(experiment_);
  for (std::int64_t i = 0; i < experiment_.search.members; ++i) {
    members_.push_back(std::make_unique<Member>(experiment_, i, device, group));
  }
}

/// In parallel on the host, where small problems leave threads idle. One after the other on a
/// device, which a single member keeps busy, and in a group, whose ranks must exchange in one
/// order.
void Trainer::for_each_member(const std::function<void(std::size_t)>& act) {
  if (device_.is_cpu() && group_.size() == 1) return parallel_for(members_.size(), act);
  for (std::size_t i = 0; i < members_.size(); ++i) act(i);
}

void Trainer::take_knockout() {
  for (const auto& member : members_) member->take_knockout();
}

StepResult Trainer::step() {
  if (knockout_due()) take_knockout();
  std::vector<StepResult> results(members_.size());
  for_each_member([&](std::size_t i) { results[i] = members_[i]->step(); });
  for (const StepResult& result : results) {
    if (!result.finite) return result;
  }
  ++steps_;
  const StepResult result = results[leader_];
  const SearchOptions& search = experiment_.search;
  if (steps_ % search.every == 0) record();
  if (search.local_search > 0 && steps_ % search.local_search_every == 0) local_search();
  if (steps_ == search.until && members_.size() > 1) {
    evaluate();
    Members best;
    best.push_back(std::move(members_[leader_]));
    members_ = std::move(best);
    leader_ = 0;
  }
  return result;
}

/// Does nothing if no option needs the records, since evaluation takes time.
void Trainer::record() {
  const SearchOptions& search = experiment_.search;
  if (search.restart == RestartKind::none && !search.keep_best && search.local_search == 0) return;
  // Initialisations that no member has used: the range is unique for every step.
  const std::int64_t first = steps_ / search.every * search.members;
  for_each_member(
      [&](std::size_t i) { members_[i]->record(steps_, first + static_cast<std::int64_t>(i)); });
}

void Trainer::local_search() {
  for_each_member([&](std::size_t i) { members_[i]->begin_local_search(); });
  parallel_for(members_.size(), [&](std::size_t i) { members_[i]->run_local_search(); });
  for_each_member([&](std::size_t i) { members_[i]->end_local_search(); });
}

Evaluation Trainer::evaluate() {
  for_each_member([&](std::size_t i) { members_[i]->evaluate(); });
  const auto rank = [](const std::unique_ptr<Member>& member) {
    const Evaluation& evaluation = member->evaluate();
    return std::pair(evaluation.hard_loss, evaluation.soft_loss);
  };
  const auto best = std::ranges::min_element(members_, {}, rank);
  leader_ = static_cast<std::size_t>(best - members_.begin());
  return leader().evaluate();
}

void Trainer::take_best() {
  if (!experiment_.search.keep_best) return;
  for (const auto& member : members_) member->take_best();
  evaluate();
}

TensorFile Trainer::state() const {
  TensorFile file = leader().state();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (i != leader_) add_prefixed(file, members_[i]->state(), member_prefix(i));
  }
  file.metadata[step_key] = fmt::format("{}", steps());
  file.metadata[members_key] = fmt::format("{}", members_.size());
  file.metadata[leader_key] = fmt::format("{}", leader_);
  return file;
}

void Trainer::restore(const TensorFile& state, const std::string& source) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const std::int64_t steps = number_in(state, step_key, "the number of steps taken", any, source);
  std::int64_t count = 1;
  std::int64_t leader = 0;
  if (state.metadata.contains(members_key)) {
    count =
        number_in(state, members_key, "the number of members", experiment_.search.members, source);
    leader = number_in(state, leader_key, "the index of the leader", count - 1, source);
  }
  members_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, count)));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const bool leads = i == static_cast<std::size_t>(leader);
    members_[i]->restore(leads ? state : prefixed_part(state, member_prefix(i)), steps, source);
  }
  leader_ = static_cast<std::size_t>(leader);
  steps_ = steps;
}

}  // namespace boolgrad::train

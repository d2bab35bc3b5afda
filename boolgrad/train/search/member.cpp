#include "boolgrad/train/search/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/optim/schedule.h"
#include "boolgrad/train/search/local_search.h"

namespace boolgrad::train {
namespace {

// The names in checkpoints must not change: earlier versions wrote them.
constexpr const char* restart_key = "search.draw";
constexpr const char* updates_key = "search.updates";
constexpr const char* restart_at_key = "search.draw_at";
constexpr const char* restart_loss_key = "search.draw_loss";
constexpr const char* best_loss_key = "search.best_loss";
constexpr const char* candidate_error_key = "search.promise_error";
constexpr std::string_view best_prefix = "best.";
constexpr std::string_view candidate_prefix = "promise.";

Schedule schedule_of(const TrainingOptions& training) {
  return {.kind = training.schedule,
          .rate = training.learning_rate,
          .warm_up = training.warmup_steps,
          .steps = training.steps,
          .final_share = training.final_learning_rate_factor};
}

std::string moment_name(std::size_t layer, const char* which) {
  return fmt::format("adamw.{}.{}", which, layer);
}

/// Whether a tensor holds wires that training does not change.
bool has_fixed_wires(const TensorFile& file, const std::string& name) {
  constexpr std::string_view wires = ".wires";
  if (!name.ends_with(wires)) return false;
  return !file.tensors.contains(name.substr(0, name.size() - wires.size()) + ".wire_logits");
}

/// Throws if `saved` differs from `own` in shapes or fixed wires.
void check_same_architecture(const TensorFile& own, const TensorFile& saved,
                             const std::string& source) {
  for (const auto& [name, tensor] : own.tensors) {
    const auto found = saved.tensors.find(name);
    if (found == saved.tensors.end()) {
      fail("resume", "{}: not a checkpoint of this experiment: tensor {} is missing", source, name);
    }
    const Tensor& other = found->second;
    if (other.dtype() != tensor.dtype() || other.shape() != tensor.shape()) {
      fail("resume", "{}: expected {} to be {} {}, received {} {}", source, name,
           to_string(tensor.dtype()), to_string(tensor.shape()), to_string(other.dtype()),
           to_string(other.shape()));
    }
    if (!has_fixed_wires(own, name)) continue;
    if (!std::ranges::equal(tensor.values<std::int32_t>(), other.values<std::int32_t>())) {
      fail("resume", "{}: not a checkpoint of this experiment: the seed gives other {}", source,
           name);
    }
  }
}

const Tensor& moment_of(const TensorFile& state, const std::string& name,
                        const std::string& source) {
  const auto found = state.tensors.find(name);
  if (found == state.tensors.end()) {
    fail("resume", "{}: not a checkpoint: tensor {} is missing", source, name);
  }
  return found->second;
}

/// A number in the metadata of a checkpoint, at least `fallback`; `fallback` if it is missing.
template <class T>
T number_in(const TensorFile& state, const char* key, T fallback, const std::string& source) {
  const auto found = state.metadata.find(key);
  if (found == state.metadata.end()) return fallback;
  const std::string& text = found->second;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= fallback)) {
    fail("resume", "{}: expected {} to be a number of at least {}, received '{}'", source, key,
         fallback, text);
  }
  return value;
}

TensorFile copy_of(TensorFile file) {
  // Training changes parameters in place, so sharing memory is not enough.
  for (auto& [name, tensor] : file.tensors) tensor = tensor.clone();
  return file;
}

}  // namespace

void add_prefixed(TensorFile& file, const TensorFile& part, std::string_view prefix) {
  for (const auto& [name, tensor] : part.tensors) {
    file.tensors[std::string(prefix) + name] = tensor;
  }
  for (const auto& [name, text] : part.metadata) file.metadata[std::string(prefix) + name] = text;
}

TensorFile prefixed_part(const TensorFile& file, std::string_view prefix) {
  TensorFile part;
  for (const auto& [name, tensor] : file.tensors) {
    if (name.starts_with(prefix)) part.tensors[name.substr(prefix.size())] = tensor;
  }
  for (const auto& [name, text] : file.metadata) {
    if (name.starts_with(prefix)) part.metadata[name.substr(prefix.size())] = text;
  }
  return part;
}

std::int64_t seed_of_restart(std::int64_t seed, std::int64_t restart) {
  if (restart == 0) return seed;
  const PhiloxCounter bits = random_bits({.seed = static_cast<std::uint64_t>(seed),
                                          .stream = restart_stream,
                                          .index = static_cast<std::uint64_t>(restart)});
  const std::uint64_t word = (std::uint64_t{bits[0]} << 32) | bits[1];
  return static_cast<std::int64_t>(word >> 1);
}

Member::Member(const Experiment& experiment, std::int64_t restart, const Device& device,
               Group& group)
    : experiment_(experiment), run_seed_(experiment.seed), device_(device), group_(group) {
  initialise(restart);
}

void Member::initialise(std::int64_t restart) {
  restart_ = restart;
  updates_ = 0;
  experiment_.seed = seed_of_restart(run_seed_, restart);
  candidate_error_ = -1;
  learner_.reset();  // frees its memory before the next one is made
  learner_ = make_learner(experiment_, device_, group_);
  evaluation_.reset();
}

Learner& Member::learner() const {
  learner_->read_back();
  return *learner_;
}

void Member::take_knockout() {
  const AdamWState moments = learner_->moments();
  learner().knock_out();
  learner_->load(moments);
  evaluation_.reset();
}

double Member::learning_rate() const {
  return schedule_of(experiment_.training).at(std::max<std::int64_t>(0, updates_ - 1));
}

StepResult Member::step() {
  const double rate = schedule_of(experiment_.training).at(updates_) * learner_->rate_factor();
  const StepResult result = learner_->step(updates_, rate);
  if (!result.finite) return result;
  ++updates_;
  evaluation_.reset();
  return result;
}

const Evaluation& Member::evaluate() {
  if (!evaluation_) evaluation_ = learner_->evaluate();
  return *evaluation_;
}

bool Member::keeps_best() const {
  return experiment_.search.keep_best || experiment_.search.restart == RestartKind::best;
}

void Member::record(std::int64_t steps, std::int64_t next_restart) {
  const double loss = evaluate().hard_loss;
  if (restart_loss_ < 0 || loss < restart_loss_) {
    restart_loss_ = loss;
    restart_at_ = steps;
  }
  if (keeps_best() && (best_loss_ < 0 || loss < best_loss_)) {
    best_loss_ = loss;
    best_ = copy_of(learner().model().to_file());
  }
  const SearchOptions& search = experiment_.search;
  if (search.local_search > 0) record_candidate();
  const bool stuck = loss > 0 && steps - restart_at_ >= search.patience;
  if (search.restart == RestartKind::none || !stuck) return;
  restart_at_ = steps;
  restart_loss_ = -1;
  if (search.restart == RestartKind::fresh) initialise(next_restart);
  else take_best();
}

void Member::record_candidate() {
  const double error = 1 - evaluate().bit_accuracy;
  if (candidate_error_ >= 0 && error >= candidate_error_) return;
  candidate_error_ = error;
  candidate_ = copy_of(learner().model().to_file());
}

void Member::begin_local_search() {
  record_candidate();
  const double error = std::exchange(candidate_error_, -1);
  if (evaluate().solved() || error > experiment_.search.local_search_max_error) return;
  AdamWState moments = learner_->moments();
  local_search_ = {.moments = std::move(moments), .before = copy_of(learner().model().to_file())};
  learner_->model().restore(std::exchange(candidate_, {}));
}

void Member::run_local_search() {
  if (!local_search_) return;
  const SearchOptions& search = experiment_.search;
  local_search_->errors =
      local_search(*learner_, {.candidates = search.local_search,
                               .random_moves = search.local_search_random_moves,
                               .seed = static_cast<std::uint64_t>(experiment_.seed),
                               .step = static_cast<std::uint32_t>(updates_)})
          .after;
}

void Member::end_local_search() {
  if (!local_search_) return;
  // A partial improvement is dropped: training would soon undo it.
  if (local_search_->errors > 0) learner_->model().restore(local_search_->before);
  learner_->load(local_search_->moments);
  local_search_.reset();
  evaluation_.reset();
}

void Member::saturate() {
  const AdamWState moments = learner_->moments();
  saturate_logits(learner().model());
  learner_->load(moments);
  evaluation_.reset();
}

void Member::take(const TensorFile& model) {
  learner_->model().restore(copy_of(model));
  learner_->load(zero_moments(learner_->model().parameters(), updates_));
  evaluation_.reset();
}

void Member::take_best() {
  if (!best_.tensors.empty() && best_loss_ < evaluate().hard_loss) take(best_);
}

TensorFile Member::state() const {
  TensorFile file = copy_of(learner().model().to_file());
  const AdamWState moments = learner_->moments();
  for (std::size_t i = 0; i < moments.first.size(); ++i) {
    file.tensors[moment_name(i, "first")] = moments.first[i];
    file.tensors[moment_name(i, "second")] = moments.second[i];
  }
  learner_->save_progress(file);
  file.metadata[restart_key] = fmt::format("{}", restart_);
  file.metadata[updates_key] = fmt::format("{}", updates_);
  file.metadata[restart_at_key] = fmt::format("{}", restart_at_);
  file.metadata[restart_loss_key] = fmt::format("{}", restart_loss_);
  file.metadata[best_loss_key] = fmt::format("{}", best_loss_);
  add_prefixed(file, best_, best_prefix);
  file.metadata[candidate_error_key] = fmt::format("{}", candidate_error_);
  if (candidate_error_ >= 0) add_prefixed(file, candidate_, candidate_prefix);
  return file;
}

void Member::restore(const TensorFile& state, std::int64_t steps, const std::string& source) {
  const auto restart = number_in<std::int64_t>(state, restart_key, 0, source);
  if (restart != restart_) initialise(restart);
  check_same_architecture(learner_->model().to_file(), state, source);
  // Checkpoints of versions without restarts have no count of updates.
  const bool has_restarts = state.metadata.contains(updates_key);
  updates_ = has_restarts ? number_in<std::int64_t>(state, updates_key, 0, source) : steps;
  AdamWState moments{.step = updates_, .first = {}, .second = {}};
  for (std::size_t i = 0; i < learner_->model().parameters().size(); ++i) {
    moments.first.push_back(moment_of(state, moment_name(i, "first"), source));
    moments.second.push_back(moment_of(state, moment_name(i, "second"), source));
  }
  learner_->enter(std::max<std::int64_t>(0, updates_ - 1));
  learner_->model().restore(state);
  learner_->load_progress(state);
  learner_->load(moments);
  restart_at_ = number_in<std::int64_t>(state, restart_at_key, 0, source);
  restart_loss_ = number_in<double>(state, restart_loss_key, -1, source);
  best_loss_ = number_in<double>(state, best_loss_key, -1, source);
  best_ = prefixed_part(state, best_prefix);
  candidate_error_ = number_in<double>(state, candidate_error_key, -1, source);
  candidate_ = prefixed_part(state, candidate_prefix);
  evaluation_.reset();
}

}  // namespace boolgrad::train

#include "boolgrad/train/search/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/optim/schedule.h"
#include "boolgrad/train/search/local_search.h"

namespace boolgrad {
namespace {

constexpr const char* draw_key = "search.draw";
constexpr const char* updates_key = "search.updates";
constexpr const char* draw_at_key = "search.draw_at";
constexpr const char* draw_loss_key = "search.draw_loss";
constexpr const char* best_loss_key = "search.best_loss";
constexpr const char* promise_error_key = "search.promise_error";
constexpr std::string_view best_prefix = "best.";
constexpr std::string_view promise_prefix = "promise.";

Schedule schedule_of(const TrainingOptions& training) {
  return {.kind = training.schedule,
          .rate = training.learning_rate,
          .warm_up = training.warm_up,
          .steps = training.steps,
          .final_share = training.final_share};
}

std::string moment_name(std::size_t layer, const char* which) {
  return fmt::format("adamw.{}.{}", which, layer);
}

/// Throws where `saved` is not a model of the very wires of `own`.
void check_same_architecture(const TensorFile& own, const TensorFile& saved,
                             const std::string& source) {
  for (const auto& [name, tensor] : own.tensors) {
    const auto found = saved.tensors.find(name);
    if (found == saved.tensors.end()) {
      fail("resume",
           "{}: expected a network of the experiment's architecture, received one without {}",
           source, name);
    }
    const Tensor& other = found->second;
    if (other.dtype() != tensor.dtype() || other.shape() != tensor.shape()) {
      fail("resume", "{}: expected {} to be {} {}, received {} {}", source, name,
           to_string(tensor.dtype()), to_string(tensor.shape()), to_string(other.dtype()),
           to_string(other.shape()));
    }
    if (!name.ends_with(".wires")) continue;
    if (!std::ranges::equal(tensor.values<std::int32_t>(), other.values<std::int32_t>())) {
      fail("resume", "{}: expected the wires that the seed gives in {}, received others", source,
           name);
    }
  }
}

const Tensor& moment_of(const TensorFile& state, const std::string& name,
                        const std::string& source) {
  const auto found = state.tensors.find(name);
  if (found == state.tensors.end()) {
    fail("resume", "{}: expected a checkpoint with {}, received a file without", source, name);
  }
  return found->second;
}

/// What a checkpoint says of `key`; `otherwise` where it says nothing.
template <class T>
T noted(const TensorFile& state, const char* key, T otherwise, const std::string& source) {
  const auto found = state.metadata.find(key);
  if (found == state.metadata.end()) return otherwise;
  const std::string& text = found->second;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= otherwise)) {
    fail("resume", "{}: expected {} to be a number of at least {}, received '{}'", source, key,
         otherwise, text);
  }
  return value;
}

TensorFile copy_of(TensorFile file) {
  // Parameters are written in place; a copy must stay what it is.
  for (auto& [name, tensor] : file.tensors) tensor = tensor.clone();
  return file;
}

AdamWState zero_moments(const std::vector<Tensor>& parameters, std::int64_t step) {
  AdamWState moments{.step = step, .first = {}, .second = {}};
  for (const Tensor& parameter : parameters) {
    moments.first.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
    moments.second.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
  }
  return moments;
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

std::int64_t seed_of_draw(std::int64_t seed, std::int64_t draw) {
  if (draw == 0) return seed;
  const PhiloxCounter bits = random_bits({.seed = static_cast<std::uint64_t>(seed),
                                          .stream = draw_stream,
                                          .index = static_cast<std::uint64_t>(draw)});
  const std::uint64_t word = (std::uint64_t{bits[0]} << 32) | bits[1];
  return static_cast<std::int64_t>(word >> 1);
}

Member::Member(const Experiment& experiment, std::int64_t draw, const Device& device)
    : experiment_(experiment), run_seed_(experiment.seed), device_(device) {
  make(draw);
}

void Member::make(std::int64_t draw) {
  draw_ = draw;
  updates_ = 0;
  experiment_.seed = seed_of_draw(run_seed_, draw);
  promise_error_ = -1;
  learner_.reset();  // before another one takes memory
  learner_ = make_learner(experiment_, device_);
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

void Member::look(std::int64_t steps, std::int64_t fresh_draw) {
  const double loss = evaluate().hard_loss;
  if (draw_loss_ < 0 || loss < draw_loss_) {
    draw_loss_ = loss;
    draw_at_ = steps;
  }
  if (keeps_best() && (best_loss_ < 0 || loss < best_loss_)) {
    best_loss_ = loss;
    best_ = copy_of(learner().model().to_file());
  }
  const SearchOptions& search = experiment_.search;
  if (search.refit > 0) note_promise();
  const bool stuck = loss > 0 && steps - draw_at_ >= search.patience;
  if (search.restart == RestartKind::none || !stuck) return;
  draw_at_ = steps;
  draw_loss_ = -1;
  if (search.restart == RestartKind::fresh) make(fresh_draw);
  else take_best();
}

void Member::note_promise() {
  const double error = 1 - evaluate().bit_accuracy;
  if (promise_error_ >= 0 && error >= promise_error_) return;
  promise_error_ = error;
  promise_ = copy_of(learner().model().to_file());
}

void Member::begin_refit() {
  note_promise();
  const double error = std::exchange(promise_error_, -1);
  if (evaluate().solved() || error > experiment_.search.refit_below) return;
  AdamWState moments = learner_->moments();
  refitting_ = {.moments = std::move(moments), .before = copy_of(learner().model().to_file())};
  learner_->model().restore(std::exchange(promise_, {}));
}

void Member::search_refit() {
  if (!refitting_) return;
  const SearchOptions& search = experiment_.search;
  refitting_->wrong_bits =
      local_search(*learner_, {.candidates = search.refit,
                               .walk = search.refit_walk,
                               .seed = static_cast<std::uint64_t>(experiment_.seed),
                               .step = static_cast<std::uint32_t>(updates_)})
          .after;
}

void Member::end_refit() {
  if (!refitting_) return;
  // Training would soon undo changes that it did not ask for.
  if (refitting_->wrong_bits > 0) learner_->model().restore(refitting_->before);
  learner_->load(refitting_->moments);
  refitting_.reset();
  evaluation_.reset();
}

void Member::seal() {
  const AdamWState moments = learner_->moments();
  boolgrad::seal(learner().model());
  learner_->load(moments);
  evaluation_.reset();
}

void Member::take_best() {
  if (best_.tensors.empty() || best_loss_ >= evaluate().hard_loss) return;
  learner_->model().restore(copy_of(best_));
  learner_->load(zero_moments(learner_->model().parameters(), updates_));
  evaluation_.reset();
}

TensorFile Member::state() const {
  TensorFile file = copy_of(learner().model().to_file());
  const AdamWState moments = learner_->moments();
  for (std::size_t i = 0; i < moments.first.size(); ++i) {
    file.tensors[moment_name(i, "first")] = moments.first[i];
    file.tensors[moment_name(i, "second")] = moments.second[i];
  }
  learner_->save_progress(file);
  file.metadata[draw_key] = fmt::format("{}", draw_);
  file.metadata[updates_key] = fmt::format("{}", updates_);
  file.metadata[draw_at_key] = fmt::format("{}", draw_at_);
  file.metadata[draw_loss_key] = fmt::format("{}", draw_loss_);
  file.metadata[best_loss_key] = fmt::format("{}", best_loss_);
  add_prefixed(file, best_, best_prefix);
  file.metadata[promise_error_key] = fmt::format("{}", promise_error_);
  if (promise_error_ >= 0) add_prefixed(file, promise_, promise_prefix);
  return file;
}

void Member::restore(const TensorFile& state, std::int64_t steps, const std::string& source) {
  const auto draw = noted<std::int64_t>(state, draw_key, 0, source);
  if (draw != draw_) make(draw);
  check_same_architecture(learner_->model().to_file(), state, source);
  // A checkpoint from before there were draws has taken all its steps with one.
  const bool has_draws = state.metadata.contains(updates_key);
  updates_ = has_draws ? noted<std::int64_t>(state, updates_key, 0, source) : steps;
  AdamWState moments{.step = updates_, .first = {}, .second = {}};
  for (std::size_t i = 0; i < learner_->model().parameters().size(); ++i) {
    moments.first.push_back(moment_of(state, moment_name(i, "first"), source));
    moments.second.push_back(moment_of(state, moment_name(i, "second"), source));
  }
  learner_->enter(std::max<std::int64_t>(0, updates_ - 1));
  learner_->model().restore(state);
  learner_->load_progress(state);
  learner_->load(moments);
  draw_at_ = noted<std::int64_t>(state, draw_at_key, 0, source);
  draw_loss_ = noted<double>(state, draw_loss_key, -1, source);
  best_loss_ = noted<double>(state, best_loss_key, -1, source);
  best_ = prefixed_part(state, best_prefix);
  promise_error_ = noted<double>(state, promise_error_key, -1, source);
  promise_ = prefixed_part(state, promise_prefix);
  evaluation_.reset();
}

}  // namespace boolgrad

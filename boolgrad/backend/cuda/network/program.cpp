#include "boolgrad/backend/cuda/network/program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/plan/flat_tensors.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::cuda {
namespace {

// Gates per partial sum of a group: enough for the threads of a block, few enough to keep all
// multiprocessors busy.
constexpr int gates_per_part = 64;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

void check_width(const LutWires& wires, const RowShape& rows) {
  const std::int64_t limit =
      std::int64_t{std::numeric_limits<std::uint32_t>::max()} / (rows.stride / 4);
  if (std::max(wires.gates, wires.inputs) >= limit) {
    fail("cuda", "expected layers of fewer than {} gates for a batch of {}, received {}", limit,
         rows.samples, wires.gates);
  }
}

const NetworkSpec& checked(std::span<const LutWires> layers, const NetworkSpec& spec) {
  check_layers("cuda", layers, spec);
  if (spec.batch < 1 || spec.batch > max_samples) {
    fail("cuda", "expected a batch of 1 to {} samples, received {}", max_samples, spec.batch);
  }
  for (const LutWires& layer : layers) check_width(layer, row_shape(spec.batch));
  return spec;
}

/// Parameters of all layers, plus one threshold offset per input. Offsets that are not trained stay
/// 0, as do their gradients.
std::size_t parameter_count(std::span<const LutWires> layers, const NetworkSpec& spec) {
  const NetworkOffsets offsets = plan_network_offsets(layers, spec);
  return offsets.logits + offsets.wire_logits + index(layers.front().layer_inputs());
}

template <class T>
void send(DeviceArray<T>& to, const PinnedArray<T>& from, cudaStream_t stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice,
                        stream),
        "copy to the device");
}

/// Whether the previous update cannot prepare the tables of this step.
bool needs_table_launch(HardeningKind kind) {
  return kind == HardeningKind::gates || kind == HardeningKind::freeze || changes_logits(kind);
}

}  // namespace

RowShape row_shape(std::int64_t samples) {
  constexpr std::int64_t sector_floats = 8;  // rows are aligned to memory sectors
  const std::int64_t stride = (samples + sector_floats - 1) / sector_floats * sector_floats;
  return {.samples = static_cast<int>(samples),
          .stride = static_cast<int>(stride),
          .vectors = static_cast<int>((samples + 3) / 4),
          .chunks = static_cast<int>((samples + chunk_samples - 1) / chunk_samples)};
}

// ------------------------------------------------------------------ layout

NetworkProgram::NetworkProgram(std::span<const LutWires> layers, const NetworkSpec& spec)
    : spec_(checked(layers, spec)),
      rows_(row_shape(spec.batch)),
      logit_shapes_(boolgrad::logit_shapes(layers, spec)),
      optimiser_(parameter_count(layers, spec), spec.optimiser),
      parameters_(optimiser_.count()),
      gradients_(optimiser_.count()),
      state_(1),
      chosen_(index(spec.batch)),
      transforms_(index(spec.batch)),
      host_state_(1),
      host_chosen_(index(spec.batch)),
      host_transforms_(index(spec.batch)),
      outcome_(1) {
  inputs_ = layers.front().layer_inputs();
  widest_ = std::max<std::int64_t>(inputs_, groups());
  for (const LutWires& layer : layers) widest_ = std::max(widest_, layer.gates);
  const NetworkOffsets offsets = plan_network_offsets(layers, spec);
  gates_ = offsets.tables;
  entries_ = offsets.entries;
  logits_ = offsets.logits;
  wire_logits_ = offsets.wire_logits;
  input_factor_ = static_cast<float>(offsets.input_gradient_factor);
  const std::vector<LayerBuffers> rows = plan_network_buffers(layers, groups());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    add_layer(layers[i], rows[i], offsets.layers[i]);
    add_candidates(layers[i], offsets.layers[i]);
    output_rows_.push_back(rows[i].output_rows);
  }
  masks_ = DeviceArray<float>(gates_);
  frozen_ = DeviceArray<float>(gates_);
  input_mask_ = DeviceArray<float>(index(inputs()));
  coefficients_ = DeviceArray<float>(entries_);
  sums_ = DeviceArray<float>(entries_ * index(rows_.chunks));
  loss_ = DeviceArray<float>(1);
  not_finite_ = DeviceArray<std::uint32_t>(1);
  not_finite_.clear();
  state_.clear();
  parameters_.clear();
  gradients_.clear();
  plan_passes(offsets);
  allocate_rows();
}

void NetworkProgram::add_layer(const LutWires& wires, const LayerBuffers& rows,
                               const LayerOffsets& offsets) {
  LayerWires own;
  own.sources = DeviceArray<int>(std::vector<int>(wires.sources.begin(), wires.sources.end()));
  if (wires.arity == 2) {
    own.pair_gates = DeviceArray<PairGate>(pair_gates_of(wires, rows));
    own.pair_inputs =
        DeviceArray<PairInput>(pair_inputs_of(wires, rows, static_cast<std::int32_t>(widest_)));
  } else {
    std::vector<GateReader> readers;
    for (const Consumer& consumer : wires.consumers) {
      readers.push_back({consumer.gate, consumer.slot});
    }
    own.first_reader = DeviceArray<int>(
        std::vector<int>(wires.first_consumer.begin(), wires.first_consumer.end()));
    own.readers = DeviceArray<GateReader>(readers);
    own.source_rows = DeviceArray<int>(source_rows_of(wires, rows));
    own.output_rows = DeviceArray<int>(rows.output_rows);
    own.gradient_rows = DeviceArray<int>(rows.gradient_rows);
  }
  layers_.push_back({.inputs = static_cast<int>(wires.inputs),
                     .gates = static_cast<int>(wires.gates),
                     .arity = wires.arity,
                     .first_gate = offsets.first_table,
                     .first_entry = offsets.first_entry,
                     .pair_gates = own.pair_gates.data(),
                     .pair_inputs = own.pair_inputs.data(),
                     .pair_input_count = static_cast<int>(own.pair_inputs.size()),
                     .first_reader = own.first_reader.data(),
                     .readers = own.readers.data(),
                     .source_rows = own.source_rows.data(),
                     .output_rows = own.output_rows.data(),
                     .gradient_rows = own.gradient_rows.data(),
                     .sources = own.sources.data()});
  layer_gates_.push_back(wires.gates);
  wires_.push_back(std::move(own));
}

void NetworkProgram::add_candidates(const LutWires& wires, const LayerOffsets& offsets) {
  LayerCandidates& own = candidates_.emplace_back();
  if (!wires.learns_wires()) return;
  const CandidateWires& given = wires.candidates;
  const auto slots = static_cast<std::size_t>(given.slots);
  own.chosen = DeviceArray<int>(slots);
  own.slots = DeviceArray<float>(row_floats(given.slots, rows_));
  if (spec_.wire_forward == WireForward::soft) {
    own.weights = DeviceArray<float>(slots * static_cast<std::size_t>(given.count));
  }
  own.view = {.inputs = static_cast<int>(given.inputs),
              .slots = static_cast<int>(given.slots),
              .count = static_cast<int>(given.count),
              .sources = nullptr,
              .first_use = nullptr,
              .uses = nullptr,
              .logits = parameters_.data() + offsets.first_wire_logit,
              .chosen = own.chosen.data(),
              .weights = own.weights.data(),
              .factor = static_cast<float>(offsets.gradient_factor)};
  layers_.back().sources = own.chosen.data();
  max_slots_ = std::max(max_slots_, given.slots);
  set_candidates(candidates_.size() - 1, given);
}

void NetworkProgram::set_candidates(std::size_t layer, const CandidateWires& candidates) {
  const WireLayer known = layer < candidates_.size() ? candidates_[layer].view : WireLayer{};
  check_candidates("cuda", layer,
                   {.inputs = known.inputs, .slots = known.slots, .count = known.count},
                   candidates);
  LayerCandidates& own = candidates_[layer];
  has_choices_ = false;
  if (candidates.has_all()) return;
  stream_.wait();
  const auto on_device = [](std::span<const std::int32_t> values) {
    return DeviceArray<int>(std::vector<int>(values.begin(), values.end()));
  };
  own.sources = on_device(candidates.sources);
  own.first_use = on_device(candidates.first_use);
  own.uses = on_device(candidates.uses);
  own.view.sources = own.sources.data();
  own.view.first_use = own.first_use.data();
  own.view.uses = own.uses.data();
  graph_.reset();
}

// Consecutive layers of the same arity are contiguous in every array. Gradients are linear in those
// of the outputs, so the factors of the layers above can be applied here.
void NetworkProgram::plan_passes(const NetworkOffsets& offsets) {
  std::vector<std::size_t> first_gates;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerOffsets& layer = offsets.layers[i];
    first_gates.push_back(layer.first_table);
    if (i > 0 && layers_[i].arity == layers_[i - 1].arity && spec_.gradient_factor == 1) {
      passes_.back().gates += index(layers_[i].gates);
      continue;
    }
    GateUpdate pass{};
    pass.gates = index(layers_[i].gates);
    pass.first_gate = layer.first_table;
    pass.first_entry = layer.first_entry;
    pass.first_logit = layer.first_logit;
    pass.arity = layers_[i].arity;
    pass.factor = static_cast<float>(layer.gradient_factor);
    passes_.push_back(pass);
  }
  first_gates_ = DeviceArray<std::size_t>(first_gates);
}

void NetworkProgram::allocate_rows() {
  x_ = DeviceArray<float>(row_floats(inputs(), rows_));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    y_.emplace_back(is_summed(i) ? 0 : row_floats(layers_[i].gates, rows_));
    y_.back().clear();  // the padding between rows is read back with them
  }
  for (DeviceArray<float>& gradient : g_) {
    gradient = DeviceArray<float>(row_floats(widest_ + 1, rows_));
    gradient.clear();
  }
  if (spec_.head) {
    const auto per_group = static_cast<int>(outputs() / groups());
    parts_ = (per_group + gates_per_part - 1) / gates_per_part;
    scores_ = DeviceArray<float>(row_floats(std::int64_t{groups()} * parts_, rows_));
  }
  loss_count_ = loss_parts(spec_.head.has_value(), static_cast<int>(outputs()), rows_);
  losses_ = DeviceArray<double>(index(loss_count_));
  slot_gradients_ = DeviceArray<float>(row_floats(max_slots_, rows_));
  std::int64_t inputs_with_bits = 0;
  for (const LayerCandidates& own : candidates_) {
    if (own.view.sources != nullptr) {
      inputs_with_bits = std::max<std::int64_t>(inputs_with_bits, own.view.inputs);
    }
  }
  input_bits_ =
      DeviceArray<std::uint32_t>(index(inputs_with_bits) * ((index(rows_.samples) + 31) / 32));
  allocate_scratch();
}

/// For input gradients of layers whose gates do not have two inputs.
void NetworkProgram::allocate_scratch() {
  std::size_t scratch_rows = 0;
  for (std::size_t i = learns_thresholds() ? 0 : 1; i < layers_.size(); ++i) {
    if (layers_[i].arity == 2 || learns_wires(i)) continue;
    scratch_rows = std::max(scratch_rows, index(layers_[i].gates) * index(layers_[i].arity));
  }
  slot_scratch_ = DeviceArray<float>(scratch_rows * index(rows_.stride));
}

std::vector<Shape> NetworkProgram::parameter_shapes() const {
  std::vector<Shape> shapes = logit_shapes_;
  if (learns_thresholds()) shapes.push_back({inputs()});
  return shapes;
}

// ------------------------------------------------------------------ kernel arguments

LossArguments NetworkProgram::loss_arguments() const {
  const Head head = spec_.head.value_or(Head{});
  const bool has_teacher = spec_.teacher_weight > 0 && data_.soft_targets.size() > 0;
  return {.has_head = spec_.head.has_value(),
          .head = head.kind,
          .kind = spec_.loss.kind,
          .gamma = static_cast<float>(spec_.loss.focal_gamma),
          .groups = groups(),
          .scale = static_cast<float>(1 / head.temperature),
          .smoothing = static_cast<float>(spec_.label_smoothing),
          .low = static_cast<float>(head.low),
          .per_range = static_cast<float>(1 / (head.high - head.low)),
          .targets = targets_.data(),
          .labels = labels_.data(),
          .soft_targets = has_teacher ? data_.soft_targets.data() : nullptr,
          .teacher_weight = static_cast<float>(spec_.teacher_weight),
          .outputs = static_cast<int>(outputs()),
          .samples = data_.samples,
          .chosen = has_choice_ ? chosen_.data() : nullptr,
          .parts = parts_,
          .scores = scores_.data(),
          .state = state_.data(),
          .not_finite = not_finite_.data()};
}

GateUpdate NetworkProgram::update_arguments(GateUpdate pass, bool only_gradients) const {
  pass.parametrisation = spec_.parametrisation;
  pass.chunks = rows_.chunks;
  pass.entries = entries_;
  pass.sums = sums_.data();
  pass.masks = masks_.data();
  pass.coefficients = coefficients_.data();
  pass.logits = parameters_.data();
  pass.first = optimiser_.first().data();
  pass.second = optimiser_.second().data();
  pass.gradients = only_gradients ? gradients_.data() : nullptr;
  pass.state = state_.data();
  pass.not_finite = not_finite_.data();
  pass.losses = losses_.data();
  pass.loss_count = loss_count_;
  pass.result = outcome_.data();
  pass.loss = loss_.data();
  pass.hardens = hardens_;
  pass.first_gates = first_gates_.data();
  pass.layers = static_cast<int>(layers_.size());
  pass.frozen = frozen_.data();
  return pass;
}

SampleInputs NetworkProgram::sample_inputs(const NetworkData& data) const {
  const bool learns = learns_thresholds() && data.has_features();
  return {.samples = data.samples,
          .inputs = static_cast<int>(inputs()),
          .mask = input_mask_.data(),
          .rows = data.has_features() ? nullptr : data.rows.data(),
          .bits = data.bits.data(),
          .bytes = data.bytes.data(),
          .floats = data.floats.data(),
          .features = static_cast<int>(data.features),
          .height = static_cast<int>(data.height),
          .width = static_cast<int>(data.width),
          .offsets = learns ? parameters_.data() + first_offset() : nullptr,
          .ranges = learns ? ranges_.data() : nullptr};
}

SampleChoice NetworkProgram::step_choice() const {
  return {.chosen = has_choice_ ? chosen_.data() : nullptr,
          .transforms = has_choice_ && data_.has_features() ? transforms_.data() : nullptr,
          .only_shifts = only_shifts_,
          .first = 0};
}

// ------------------------------------------------------------------ launches

void NetworkProgram::make_tables(float share) {
  for (const GateUpdate& pass : passes_) {
    GateUpdate arguments = update_arguments(pass, false);
    arguments.hardens = false;
    arguments.hard_share = share;
    check(make_coefficients(arguments, stream_.get()), "compute the tables");
  }
  table_share_ = share;
}

void NetworkProgram::ensure_tables(float share) {
  if (table_share_ != share) make_tables(share);
}

void NetworkProgram::make_hardened_tables() {
  for (const GateUpdate& pass : passes_) {
    check(make_coefficients(update_arguments(pass, false), stream_.get()), "compute the tables");
  }
}

void NetworkProgram::gather() {
  check(gather_samples(sample_inputs(data_), step_choice(), rows_, x_.data(), stream_.get()),
        "gather a batch");
}

void NetworkProgram::choose_sources() {
  for (const LayerCandidates& own : candidates_) {
    if (own.view.count > 0) check(choose_wires(own.view, stream_.get()), "choose the wires");
  }
  has_choices_ = true;
}

void NetworkProgram::forward() {
  const float* from = x_.data();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (learns_wires(i)) {
      LayerCandidates& own = candidates_[i];
      if (own.view.weights != nullptr) {
        check(weigh_wires(own.view, state_.data(), stream_.get()), "weigh the wires");
      }
      check(select_slots(own.view, from, rows_, own.slots.data(), stream_.get()),
            "select the wires");
      from = own.slots.data();
    }
    check(is_summed(i) ? layer_scores(layers_[i], coefficients_.data(), from, rows_, groups(),
                                      parts_, scores_.data(), stream_.get())
                       : layer_forward(layers_[i], coefficients_.data(), from, rows_, y_[i].data(),
                                       stream_.get()),
          "compute a layer");
    from = y_[i].data();
  }
}

void NetworkProgram::backward(std::size_t first, bool only_slots) {
  for (std::size_t i = layers_.size(); i-- > first;) {
    const bool wants_inputs = i > 0 || learns_thresholds();
    const float* inputs = i == 0 ? x_.data() : y_[i - 1].data();
    float* input_gradients = wants_inputs ? g_[(i + 1) % 2].data() : nullptr;
    const bool reads_slots = learns_wires(i);
    const LayerBackward arguments{.layer = layers_[i],
                                  .coefficients = coefficients_.data(),
                                  .x = reads_slots ? candidates_[i].slots.data() : inputs,
                                  .g = g_[i % 2].data(),
                                  .gx = reads_slots ? slot_gradients_.data() : input_gradients,
                                  .reads_slots = reads_slots,
                                  .slot_scratch = slot_scratch_.data(),
                                  .sums = sums_.data(),
                                  .entries = entries_,
                                  .state = state_.data(),
                                  .not_finite = not_finite_.data()};
    check(layer_backward(arguments, rows_, stream_.get()), "compute the gradients of a layer");
    if (!reads_slots || (only_slots && i == first)) continue;
    const WireLayer& wires = candidates_[i].view;
    const bool reads_bits = wires.sources != nullptr && has_binary_inputs(i);
    if (reads_bits) {
      check(pack_bits(inputs, wires.inputs, index(rows_.samples), index(rows_.stride),
                      input_bits_.data(), (index(rows_.samples) + 31) / 32, stream_.get()),
            "pack the inputs");
    }
    check(selection_backward({.wires = wires,
                              .x = inputs,
                              .bits = reads_bits ? input_bits_.data() : nullptr,
                              .g = slot_gradients_.data(),
                              .gx = input_gradients,
                              .gradients = gradients_.data() + (wires.logits - parameters_.data()),
                              .state = state_.data(),
                              .not_finite = not_finite_.data()},
                             rows_, stream_.get()),
          "compute the gradients of wires");
  }
  if (!learns_thresholds() || only_slots) return;
  check(threshold_gradients({.from = sample_inputs(data_),
                             .choice = step_choice(),
                             .g = g_[1].data(),
                             .width_share = width_share_,
                             .factor = input_factor_,
                             .gradients = gradients_.data() + first_offset(),
                             .state = state_.data(),
                             .not_finite = not_finite_.data()},
                            rows_, stream_.get()),
        "compute the gradients of the thresholds");
}

void NetworkProgram::differentiate_loss() {
  check(loss_and_gradient(loss_arguments(), y_.back().data(), rows_,
                          g_[(layers_.size() + 1) % 2].data(), losses_.data(), loss_count_,
                          stream_.get()),
        "compute the loss");
}

void NetworkProgram::launch_step(bool only_gradients) {
  if (hardens_) make_hardened_tables();
  if (has_choice_ || learns_thresholds()) gather();
  forward();
  differentiate_loss();
  backward();
  for (const GateUpdate& pass : passes_) {
    check(update_gates(update_arguments(pass, only_gradients), stream_.get()), "update the logits");
  }
  // The logits of wires and the threshold offsets follow those of gates.
  const std::size_t others = wire_logits_ + (learns_thresholds() ? index(inputs()) : 0);
  if (only_gradients || others == 0) return;
  check(update_parameters({.count = others,
                           .values = parameters_.data() + logits_,
                           .first = optimiser_.first().data() + logits_,
                           .second = optimiser_.second().data() + logits_,
                           .gradients = gradients_.data() + logits_,
                           .state = state_.data(),
                           .not_finite = not_finite_.data()},
                          stream_.get()),
        "update wires and thresholds");
  choose_sources();
}

void NetworkProgram::send_step() {
  send(state_, host_state_, stream_.get());
  if (!has_choice_) return;
  send(chosen_, host_chosen_, stream_.get());
  if (data_.has_features()) send(transforms_, host_transforms_, stream_.get());
}

void NetworkProgram::prepare(const NetworkStepArguments& arguments) {
  check_step("cuda", arguments, rows_.samples,
             {.samples = static_cast<std::int64_t>(data_.samples), .has_images = data_.has_images},
             layer_gates_);
  const std::span<const std::int64_t> samples = arguments.samples;
  bool only_shifts = only_shifts_;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const ImageTransform transform =
        arguments.transforms.empty() ? ImageTransform{} : arguments.transforms[i];
    host_chosen_.data()[i] = static_cast<int>(samples[i]);
    host_transforms_.data()[i] = transform;
    only_shifts = only_shifts && transform.is_shift();
  }
  if (only_shifts != only_shifts_) {
    only_shifts_ = only_shifts;
    graph_.reset();
  }
  if (has_choice_ != !samples.empty()) {
    has_choice_ = !samples.empty();
    graph_.reset();
    if (!has_choice_) gather();
  }
  HardeningStep hardening = arguments.hardening;
  if (!(hardening.share > 0)) hardening.kind = HardeningKind::none;
  if (hardens_ != needs_table_launch(hardening.kind)) {
    hardens_ = !hardens_;
    graph_.reset();
  }
  if (hardening.kind == HardeningKind::freeze) upload_frozen(arguments.frozen);
  const bool is_soft = hardens_ || hardening.kind == HardeningKind::none;
  const float share = is_soft ? 0.0F : static_cast<float>(hardening.share);
  if (!hardens_) ensure_tables(share);
  if (tables_are_hard_ != (share == 1)) {
    tables_are_hard_ = !tables_are_hard_;
    graph_.reset();
  }
  if (!has_choices_) choose_sources();
  StepState& state = *host_state_.data();
  state.wire_scale = static_cast<float>(1 / arguments.wire_temperature);
  state.stamp = ++stamp_;
  state.hard_share = share;
  state.hardening = hardening;
}

void NetworkProgram::run_whole_step() {
  if (!graph_.is_captured()) {
    graph_.capture(stream_.get(), [&] { launch_step(!updates_in_step()); });
  }
  send_step();
  graph_.replay(stream_.get());
}

StepResult NetworkProgram::step(const NetworkStepArguments& arguments) {
  prepare(arguments);
  StepState& state = *host_state_.data();
  state.factors = optimiser_.factors(arguments.step, arguments.learning_rate);
  run_whole_step();
  bool finite = true;
  if (!updates_in_step()) {
    optimiser_.step(parameters_.data(), gradients_.data(), loss_.data(), arguments.step,
                    arguments.learning_rate, stream_.get());
    make_tables(state.hard_share);
    choose_sources();
    stream_.wait();
    int flag = 0;
    copy_to_host(&flag, optimiser_.finite(), sizeof(flag));
    finite = flag != 0;
  }
  stream_.wait();
  const StepOutcome& outcome = *outcome_.data();
  finite = finite && outcome.finite != 0;
  if (hardens_ && updates_in_step()) {
    // A successful update leaves soft tables. A skipped one leaves the tables of this step.
    table_share_ = finite ? std::optional(0.0F) : std::nullopt;
  }
  return {.loss = outcome.loss, .finite = finite};
}

double NetworkProgram::gradients_of(const NetworkStepArguments& arguments) {
  prepare(arguments);
  send_step();
  launch_step(true);
  stream_.wait();
  if (hardens_) table_share_.reset();
  return outcome_.data()->loss;
}

WireSignals NetworkProgram::wire_signals(const NetworkStepArguments& arguments, std::size_t layer) {
  if (layer >= layers_.size() || !learns_wires(layer)) {
    fail("cuda", "expected a layer with learned wires, received layer {}", layer);
  }
  prepare(arguments);
  send_step();
  if (hardens_) make_hardened_tables();
  if (has_choice_ || learns_thresholds()) gather();
  forward();
  differentiate_loss();
  backward(layer, true);
  stream_.wait();
  if (hardens_) table_share_.reset();
  const WireLayer& wires = candidates_[layer].view;
  return {.inputs = download_rows(layer == 0 ? x_ : y_[layer - 1], wires.inputs),
          .slot_gradients = download_rows(slot_gradients_, wires.slots)};
}

double NetworkProgram::milliseconds(int count) {
  if (!graph_.is_captured()) fail("cuda", "no step has been run yet");
  return milliseconds_of(stream_, [&] {
    for (int i = 0; i < count; ++i) run_whole_step();
  });
}

// ------------------------------------------------------------------ data and parameters

void NetworkProgram::set_training_data(NetworkData data, const Tensor& targets) {
  stream_.wait();
  data_ = std::move(data);
  if (spec_.head && spec_.head->kind != HeadKind::regression) {
    labels_ = on_device<int>(targets);
  } else {
    targets_ = on_device<float>(targets);
  }
  has_choice_ = true;  // so that the next sequential step gathers its batch
  only_shifts_ = true;
  graph_.reset();
}

void NetworkProgram::set_threshold_ranges(std::span<const float> ranges, double width_share) {
  stream_.wait();
  ranges_ = ranges.empty() ? DeviceArray<float>()
                           : DeviceArray<float>(std::vector<float>(ranges.begin(), ranges.end()));
  width_share_ = static_cast<float>(width_share);
  gradients_.clear();
  allocate_scratch();
  graph_.reset();
}

void NetworkProgram::set_parameters(std::span<const Tensor> parameters,
                                    std::span<const Tensor> masks, const Tensor& input_mask) {
  check_masks("cuda", masks, layer_gates_, input_mask, inputs());
  upload(parameters, parameters_);
  const std::vector<float> all_masks = flat(masks);
  masks_.upload(all_masks.data(), all_masks.size());
  input_mask_.upload(input_mask.values<float>().data(), input_mask_.size());
  const auto is_binary = [](float mask) { return mask == 0 || mask == 1; };
  mask_is_binary_ = std::ranges::all_of(all_masks, is_binary) &&
                    std::ranges::all_of(input_mask.values<float>(), is_binary);
  table_share_.reset();
  has_choices_ = false;
  has_choice_ = true;  // the input mask may have changed
  graph_.reset();
}

void NetworkProgram::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  upload(first, optimiser_.first());
  upload(second, optimiser_.second());
}

void NetworkProgram::upload(std::span<const Tensor> tensors, DeviceArray<float>& flat) const {
  std::vector<Shape> shapes = parameter_shapes();
  const bool brings_offsets = data_.samples == 0 && tensors.size() == logit_shapes_.size() + 1;
  if (brings_offsets && !learns_thresholds()) shapes.push_back({inputs()});
  check_of_layers("cuda", tensors, shapes);
  stream_.wait();
  std::size_t first = 0;
  for (const Tensor& tensor : tensors) {
    copy_to_device(flat.data() + first, tensor.data(), tensor.bytes());
    first += index(tensor.size());
  }
}

std::vector<Tensor> NetworkProgram::download(const DeviceArray<float>& flat) const {
  stream_.wait();
  std::vector<Tensor> result;
  std::size_t first = 0;
  for (const Shape& shape : parameter_shapes()) {
    Tensor tensor(shape, DType::float32);
    copy_to_host(tensor.mutable_data(), flat.data() + first, tensor.bytes());
    first += index(tensor.size());
    result.push_back(std::move(tensor));
  }
  return result;
}

Tensor NetworkProgram::download_rows(const DeviceArray<float>& rows, std::int64_t count) const {
  std::vector<float> all(row_floats(count, rows_));
  rows.download(all.data(), all.size());
  Tensor result({count, rows_.samples}, DType::float32);
  const auto to = result.mutable_values<float>();
  const std::size_t samples = index(rows_.samples);
  for (std::size_t at = 0; at < to.size(); ++at) {
    to[at] = all[at / samples * index(rows_.stride) + at % samples];
  }
  return result;
}

void NetworkProgram::upload_frozen(std::span<const Tensor> frozen) {
  std::vector<float> all = flat(frozen);
  if (all == host_frozen_) return;
  host_frozen_ = std::move(all);
  frozen_.upload(host_frozen_.data(), host_frozen_.size());
}

std::vector<Tensor> NetworkProgram::layer_outputs() const {
  stream_.wait();
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (is_summed(i)) continue;
    const std::vector<float> rows = y_[i].values();
    Tensor tensor({layers_[i].gates, rows_.samples}, DType::float32);
    const auto to = tensor.mutable_values<float>();
    const std::size_t samples = index(rows_.samples);
    for (std::size_t at = 0; at < to.size(); ++at) {
      const std::size_t row = index(output_rows_[i][at / samples]);
      to[at] = rows[row * index(rows_.stride) + at % samples];
    }
    result.push_back(std::move(tensor));
  }
  return result;
}

}  // namespace boolgrad::cuda

#include "boolgrad/backend/cuda/network/program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/plan/flat_tensors.h"
#include "boolgrad/backend/plan/network_trees.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::cuda {
namespace {

// Gates per partial sum of a group: enough for the threads of a block, few enough to keep all
// multiprocessors busy.
constexpr int gates_per_part = 64;
// Sections of the outputs of trees, over all kernels and chunks of samples: two for every warp that
// a large GPU runs at once.
constexpr std::int64_t wanted_sections = 3072;

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

/// Parameters of all layers, plus one threshold offset per input and the exponents of trained
/// weights. If offsets are not trained, the values behind the exponents stay 0, as do their
/// gradients.
std::size_t parameter_count(std::span<const LutWires> layers, const NetworkSpec& spec) {
  const NetworkOffsets offsets = plan_network_offsets(layers, spec);
  const std::int64_t exponents = spec.head && spec.max_exponent > 0 ? layers.back().gates : 0;
  return offsets.logits + offsets.wire_logits + index(layers.front().layer_inputs() + exponents);
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
  const std::vector<NetworkStage> stages = network_stages(layers, spec.fuses_convolutions);
  widest_ = std::max<std::int64_t>(inputs_, groups());
  for (const NetworkStage& stage : stages) {
    widest_ = std::max(widest_, layers[stage.last()].gates);
  }
  widest_layer_ = widest_;
  for (const LutWires& layer : layers) widest_layer_ = std::max(widest_layer_, layer.gates);
  exponents_ = spec.head && spec.max_exponent > 0 ? index(layers.back().gates) : 0;
  weighs_outputs_ = spec.head && (exponents_ > 0 || !spec.head->exponents.empty());
  sums_last_layer_ = spec.head && !stages.back().trees && !layers.back().pools && !weighs_outputs_;
  const NetworkOffsets offsets = plan_network_offsets(layers, spec);
  tables_ = offsets.tables;
  entries_ = offsets.entries;
  logits_ = offsets.logits;
  wire_logits_ = offsets.wire_logits;
  input_factor_ = static_cast<float>(offsets.input_gradient_factor);
  const std::vector<LayerBuffers> rows =
      plan_network_buffers(layers, sums_last_layer_ ? groups() : 0);
  for (const NetworkStage& stage : stages) {
    for (std::size_t i = stage.first; i < stage.end(); ++i) {
      add_layer(layers[i], rows[i], offsets.layers[i], stage.trees.has_value());
      add_candidates(layers[i], offsets.layers[i]);
      output_rows_.push_back(rows[i].output_rows);
    }
    add_stage(stage, rows[stage.last()].output_rows, offsets);
  }
  masks_ = DeviceArray<float>(tables_);
  frozen_ = DeviceArray<float>(tables_);
  input_mask_ = DeviceArray<float>(index(inputs()));
  coefficients_ = DeviceArray<float>(entries_);
  sums_ = DeviceArray<float>(entries_ * index(rows_.chunks));
  expanded_ = DeviceArray<float>(expanded_entries_);
  expanded_sums_ = DeviceArray<float>(expanded_entries_ * index(rows_.chunks));
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
                               const LayerOffsets& offsets, bool is_in_trees) {
  LayerWires own;
  std::vector<int> sources(wires.sources.begin(), wires.sources.end());
  for (std::size_t i = 0; !wires.outside.empty() && i < sources.size(); ++i) {
    const std::size_t gate = i / index(wires.arity);
    if (((wires.outside[gate] >> (i % index(wires.arity))) & 1) != 0) sources[i] = -1;
  }
  own.sources = DeviceArray<int>(sources);
  if (!is_in_trees && wires.arity == 2 && !wires.pools) {
    own.pair_gates = DeviceArray<PairGate>(pair_gates_of(wires, rows));
    own.pair_inputs =
        DeviceArray<PairInput>(pair_inputs_of(wires, rows, static_cast<std::int32_t>(widest_)));
  } else if (!is_in_trees) {
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
  std::size_t first_entry = offsets.first_entry;
  shared_.emplace_back();
  if (!is_in_trees && wires.shares_tables()) {
    own.outside = DeviceArray<std::uint8_t>(
        std::vector<std::uint8_t>(wires.outside.begin(), wires.outside.end()));
    shared_.back() = {.tables = static_cast<int>(wires.tables()),
                      .positions = static_cast<int>(wires.positions),
                      .arity = wires.arity,
                      .first_entry = offsets.first_entry,
                      .first_expanded = expanded_entries_,
                      .outside = wires.outside.empty() ? nullptr : own.outside.data()};
    first_entry = expanded_entries_;
    // Coefficients of two-input gates are loaded as vectors of four.
    expanded_entries_ += (index(wires.gates) * wires.entries() + 3) / 4 * 4;
  }
  layers_.push_back({.inputs = static_cast<int>(wires.inputs),
                     .gates = static_cast<int>(wires.gates),
                     .arity = wires.arity,
                     .pools = wires.pools,
                     .positions = static_cast<int>(wires.positions),
                     .first_table = offsets.first_table,
                     .first_entry = first_entry,
                     .pair_gates = own.pair_gates.data(),
                     .pair_inputs = own.pair_inputs.data(),
                     .pair_input_count = static_cast<int>(own.pair_inputs.size()),
                     .first_reader = own.first_reader.data(),
                     .readers = own.readers.data(),
                     .source_rows = own.source_rows.data(),
                     .output_rows = own.output_rows.data(),
                     .gradient_rows = own.gradient_rows.data(),
                     .sources = own.sources.data(),
                     .source_count = static_cast<int>(wires.inputs)});
  layer_tables_.push_back(wires.tables());
  wires_.push_back(std::move(own));
}

/// `output_rows` are those of the last layer.
void NetworkProgram::add_stage(const NetworkStage& stage,
                               const std::vector<std::int32_t>& output_rows,
                               const NetworkOffsets& offsets) {
  Stage& own = stages_.emplace_back();
  own.first = stage.first;
  own.last = stage.last();
  if (!stage.trees) return;
  const GateTrees& trees = *stage.trees;
  const std::int64_t warps = trees.kernels() * rows_.chunks;
  const TreePlan plan = plan_trees(trees, (wanted_sections + warps - 1) / warps);
  std::vector<int> rows;
  for (const std::int32_t output : plan.outputs) rows.push_back(output_rows[index(output)]);
  own.rows = DeviceArray<int>(rows);
  own.kernel_of = DeviceArray<int>(plan.kernels);
  own.leaves = DeviceArray<int>(plan.leaves);
  own.sections = DeviceArray<TreeSection>(plan.sections);
  own.first_section = DeviceArray<int>(plan.first_section);
  own.first_leaf_row = DeviceArray<int>(plan.first_leaf_row);
  own.leaf_rows = DeviceArray<int>(plan.leaf_rows);
  own.trees = {.levels = trees.levels,
               .pool = static_cast<int>(trees.pool),
               .inputs = static_cast<int>(trees.inputs),
               .outputs = static_cast<int>(trees.outputs),
               .kernels = static_cast<int>(trees.kernels()),
               .section_count = static_cast<int>(plan.sections.size()),
               .first_entry = {},
               .rows = own.rows.data(),
               .kernel_of = own.kernel_of.data(),
               .leaves = own.leaves.data(),
               .sections = own.sections.data(),
               .first_section = own.first_section.data(),
               .first_leaf_row = own.first_leaf_row.data(),
               .leaf_rows = own.leaf_rows.data()};
  for (int level = 0; level < trees.levels; ++level) {
    own.trees->first_entry[level] = offsets.layers[stage.first + index(level)].first_entry;
  }
  if (trees.pool > 1) {
    own.winners = DeviceArray<std::uint32_t>(row_floats(trees.outputs, rows_) / 4);
  }
}

void NetworkProgram::add_candidates(const LutWires& wires, const LayerOffsets& offsets) {
  LayerCandidates& own = candidates_.emplace_back();
  if (!wires.learns_wires()) return;
  const CandidateWires& given = wires.candidates;
  const auto slots = static_cast<std::size_t>(given.slots);
  own.chosen = DeviceArray<int>(slots);
  own.slots = DeviceArray<float>(row_floats(given.slots, rows_));
  if (spec_.wire_forward == WireForward::soft) {
    own.weights = DeviceArray<float>(index(given.logit_slots() * given.count));
  }
  own.has_outside = given.has_outside;
  own.view = {.inputs = static_cast<int>(given.real_inputs()),
              .slots = static_cast<int>(given.slots),
              .count = static_cast<int>(given.count),
              .arity = wires.arity,
              .positions = static_cast<int>(given.positions),
              .sources = nullptr,
              .first_use = nullptr,
              .uses = nullptr,
              .logits = parameters_.data() + offsets.first_wire_logit,
              .chosen = own.chosen.data(),
              .weights = own.weights.data(),
              .factor = static_cast<float>(offsets.gradient_factor)};
  layers_.back().sources = own.chosen.data();
  layers_.back().source_count = own.view.inputs;
  max_slots_ = std::max(max_slots_, given.slots);
  set_candidates(candidates_.size() - 1, given);
}

void NetworkProgram::set_candidates(std::size_t layer, const CandidateWires& candidates) {
  const bool is_there = layer < candidates_.size();
  const WireLayer known = is_there ? candidates_[layer].view : WireLayer{};
  const bool has_outside = is_there && candidates_[layer].has_outside;
  check_candidates("cuda", layer,
                   {.inputs = known.inputs + (has_outside ? 1 : 0),
                    .slots = known.slots,
                    .count = known.count,
                    .positions = known.positions,
                    .has_outside = has_outside},
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
  std::vector<std::size_t> first_tables;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerOffsets& layer = offsets.layers[i];
    first_tables.push_back(layer.first_table);
    if (layers_[i].pools) continue;
    if (!passes_.empty() && layers_[i].arity == passes_.back().arity &&
        spec_.gradient_factor == 1) {
      passes_.back().tables += index(layer_tables_[i]);
      continue;
    }
    GateUpdate pass{};
    pass.tables = index(layer_tables_[i]);
    pass.first_table = layer.first_table;
    pass.first_entry = layer.first_entry;
    pass.first_logit = layer.first_logit;
    pass.arity = layers_[i].arity;
    pass.factor = static_cast<float>(layer.gradient_factor);
    passes_.push_back(pass);
  }
  first_tables_ = DeviceArray<std::size_t>(first_tables);
}

void NetworkProgram::allocate_rows() {
  x_ = DeviceArray<float>(row_floats(inputs(), rows_));
  y_.resize(layers_.size());
  for (const Stage& stage : stages_) {
    if (is_summed(stage.last)) continue;
    y_[stage.last] = DeviceArray<float>(row_floats(layers_[stage.last].gates, rows_));
    y_[stage.last].clear();  // the padding between rows is read back with them
  }
  for (DeviceArray<float>& gradient : g_) {
    gradient = DeviceArray<float>(row_floats(widest_ + 1, rows_));
    gradient.clear();
  }
  if (spec_.head) allocate_head();
  loss_count_ = loss_parts(loss_arguments(), rows_);
  losses_ = DeviceArray<double>(index(loss_count_));
  slot_gradients_ = DeviceArray<float>(row_floats(max_slots_, rows_));
  std::int64_t inputs_with_bits = 0;
  std::size_t slot_sums = 0;
  for (const LayerCandidates& own : candidates_) {
    if (own.view.sources != nullptr) {
      inputs_with_bits = std::max<std::int64_t>(inputs_with_bits, own.view.inputs);
    }
    if (own.view.positions > 1) {
      slot_sums = std::max(slot_sums, index(own.view.slots) * index(own.view.count));
    }
  }
  slot_sums_ = DeviceArray<float>(slot_sums);
  input_bits_ =
      DeviceArray<std::uint32_t>(index(inputs_with_bits) * ((index(rows_.samples) + 31) / 32));
  allocate_scratch();
}

void NetworkProgram::allocate_head() {
  const auto per_group = static_cast<int>(outputs() / groups());
  parts_ = (per_group + gates_per_part - 1) / gates_per_part;
  scores_ = DeviceArray<float>(row_floats(std::int64_t{groups()} * parts_, rows_));
  group_sums_ = DeviceArray<float>(row_floats(groups(), rows_));
  if (sums_outputs()) sum_gradients_ = DeviceArray<float>(row_floats(groups(), rows_));
  std::vector<float> weights;
  for (std::size_t i = 0; weighs_outputs_ && i < index(outputs()); ++i) {
    weights.push_back(static_cast<float>(spec_.head->weight(i)));
  }
  weights_ = DeviceArray<float>(weights);
  std::vector<float> largest;
  for (std::int64_t group = 0; group < groups(); ++group) {
    largest.push_back(static_cast<float>(spec_.head->largest_sum(group, outputs())));
  }
  largest_sums_ = DeviceArray<float>(largest);
}

/// For sums of trees, and for gradients of leaves and of the inputs of other gates.
void NetworkProgram::allocate_scratch() {
  std::size_t scratch_rows = 0;
  std::size_t leaf_rows = 0;
  std::size_t sums = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const NetworkLayer& layer = layers_[stage.first];
    if (stage.trees) {
      const std::size_t gates = (std::size_t{1} << stage.trees->levels) - 1;
      sums = std::max(sums, index(stage.trees->section_count) * gates * 4);
      if (wants_gradients_below(i)) leaf_rows = std::max(leaf_rows, stage.leaves.size());
    } else if (layer.arity != 2 && !layer.pools && !learns_wires(stage.first) &&
               wants_gradients_below(i)) {
      scratch_rows = std::max(scratch_rows, index(layer.gates) * index(layer.arity));
    }
  }
  slot_scratch_ = DeviceArray<float>(scratch_rows * index(rows_.stride));
  leaf_gradients_ = DeviceArray<float>(leaf_rows * index(rows_.stride));
  partial_sums_ = DeviceArray<float>(sums * index(rows_.chunks));
}

std::vector<Shape> NetworkProgram::parameter_shapes() const {
  std::vector<Shape> shapes = logit_shapes_;
  if (learns_thresholds()) shapes.push_back({inputs()});
  if (exponents_ > 0) shapes.push_back({outputs()});
  return shapes;
}

// ------------------------------------------------------------------ kernel arguments

NetworkProgram::LayerTables NetworkProgram::tables_of(std::size_t layer) const {
  return shared_[layer] ? LayerTables{expanded_.data(), expanded_sums_.data(), expanded_entries_}
                        : LayerTables{coefficients_.data(), sums_.data(), entries_};
}

HeadOutputs NetworkProgram::head_outputs() const {
  return {.outputs = static_cast<int>(outputs()),
          .groups = groups(),
          .parts = parts_,
          .weights = weighs_outputs_ ? weights_.data() : nullptr};
}

PowerWeights NetworkProgram::power_weights() const {
  return {.outputs = static_cast<int>(outputs()),
          .groups = groups(),
          .exponents = exponents_ > 0 ? parameters_.data() + first_exponent() : nullptr,
          .max_exponent = static_cast<float>(spec_.max_exponent),
          .weights = weights_.data(),
          .largest_sums = largest_sums_.data()};
}

HeadBackward NetworkProgram::head_backward(float* of_outputs) const {
  return {.head = head_outputs(),
          .of_sums = sum_gradients_.data(),
          .g = of_outputs,
          .trained = power_weights(),
          .gradients = gradients_.data() + first_exponent(),
          .y = y_.back().data(),
          .vote_share = spec_.head->has_votes() ? 0.5F : 0.0F,
          .sums = spec_.head->kind == HeadKind::regression ? group_sums_.data() : nullptr,
          .state = state_.data(),
          .not_finite = not_finite_.data()};
}

LossArguments NetworkProgram::loss_arguments() const {
  const Head head = spec_.head.value_or(Head{});
  const bool has_teacher = spec_.teacher_weight > 0 && data_.soft_targets.size() > 0;
  return {.has_head = spec_.head.has_value(),
          .head = head.kind,
          .kind = spec_.loss.kind,
          .gamma = static_cast<float>(spec_.loss.focal_gamma),
          .groups = groups(),
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
          .largest_sums = largest_sums_.data(),
          .sums = wants_sums() ? group_sums_.data() : nullptr,
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
  pass.first_tables = first_tables_.data();
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

void NetworkProgram::expand_tables() {
  for (const std::optional<SharedTables>& shared : shared_) {
    if (!shared) continue;
    check(expand_coefficients(*shared, coefficients_.data(), expanded_.data(), stream_.get()),
          "copy shared tables");
  }
}

void NetworkProgram::make_output_weights() {
  if (exponents_ == 0) return;
  check(make_weights(power_weights(), stream_.get()), "compute the weights of outputs");
}

void NetworkProgram::compute(const Stage& stage, const StageRows& rows) {
  const NetworkLayer& layer = layers_[stage.first];
  const float* from = rows.x;
  if (learns_wires(stage.first)) {
    check(select_slots(candidates_[stage.first].view, from, rows.shape, rows.slots, stream_.get()),
          "select the wires");
    from = rows.slots;
  }
  if (stage.trees) {
    check(trees_forward(*stage.trees, coefficients_.data(), from, rows.shape, rows.y, rows.winners,
                        stream_.get()),
          "compute trees");
  } else if (layer.pools) {
    check(pool_forward(layer, from, rows.shape, rows.y, stream_.get()), "pool a layer");
  } else {
    const float* coefficients = tables_of(stage.first).coefficients;
    check(is_summed(stage.last)
              ? layer_scores(layer, coefficients, from, rows.shape, groups(), parts_, rows.scores,
                             stream_.get())
              : layer_forward(layer, coefficients, from, rows.shape, rows.y, stream_.get()),
          "compute a layer");
  }
  if (&stage != &stages_.back() || !sums_outputs()) return;
  check(sum_outputs(head_outputs(), rows.y, rows.shape, rows.scores, stream_.get()),
        "sum the outputs");
}

void NetworkProgram::forward() {
  expand_tables();
  make_output_weights();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const LayerCandidates& own = candidates_[stage.first];
    if (learns_wires(stage.first) && own.view.weights != nullptr) {
      check(weigh_wires(own.view, state_.data(), stream_.get()), "weigh the wires");
    }
    compute(stage, {.shape = rows_,
                    .x = inputs_of(i),
                    .slots = own.slots.data(),
                    .y = y_[stage.last].data(),
                    .scores = scores_.data(),
                    .winners = stage.winners.data()});
  }
}

void NetworkProgram::differentiate(std::size_t number) {
  const Stage& stage = stages_[number];
  const NetworkLayer& layer = layers_[stage.first];
  const bool reads_slots = learns_wires(stage.first);
  const float* x = reads_slots ? candidates_[stage.first].slots.data() : inputs_of(number);
  const float* g = g_[number % 2].data();
  float* gx = reads_slots                     ? slot_gradients_.data()
              : wants_gradients_below(number) ? g_[(number + 1) % 2].data()
                                              : nullptr;
  if (stage.trees) {
    check(trees_backward({.stage = *stage.trees,
                          .coefficients = coefficients_.data(),
                          .x = x,
                          .g = g,
                          .winners = stage.winners.data(),
                          .leaf_gradients = gx == nullptr ? nullptr : leaf_gradients_.data(),
                          .gx = gx,
                          .partial_sums = partial_sums_.data(),
                          .sums = sums_.data(),
                          .entries = entries_,
                          .state = state_.data(),
                          .not_finite = not_finite_.data()},
                         rows_, stream_.get()),
          "compute the gradients of trees");
    return;
  }
  if (layer.pools) {
    if (gx == nullptr) return;
    check(pool_backward(layer, x, g, rows_, gx, stream_.get()), "compute the gradients of pooling");
    return;
  }
  const LayerTables tables = tables_of(stage.first);
  check(layer_backward({.layer = layer,
                        .coefficients = tables.coefficients,
                        .x = x,
                        .g = g,
                        .gx = gx,
                        .reads_slots = reads_slots,
                        .slot_scratch = slot_scratch_.data(),
                        .sums = tables.sums,
                        .entries = tables.entries,
                        .state = state_.data(),
                        .not_finite = not_finite_.data()},
                       rows_, stream_.get()),
        "compute the gradients of a layer");
  if (!shared_[stage.first]) return;
  check(add_shared_sums({.tables = *shared_[stage.first],
                         .expanded = expanded_sums_.data(),
                         .expanded_entries = expanded_entries_,
                         .sums = sums_.data(),
                         .entries = entries_,
                         .state = state_.data(),
                         .not_finite = not_finite_.data()},
                        rows_, stream_.get()),
        "add up the sums of shared tables");
}

void NetworkProgram::differentiate_wires(std::size_t stage) {
  const WireLayer& wires = candidates_[stages_[stage].first].view;
  const float* inputs = inputs_of(stage);
  const bool reads_bits = wires.sources != nullptr && has_binary_inputs(stages_[stage].first);
  if (reads_bits) {
    check(pack_bits(inputs, wires.inputs, index(rows_.samples), index(rows_.stride),
                    input_bits_.data(), (index(rows_.samples) + 31) / 32, stream_.get()),
          "pack the inputs");
  }
  const bool wants_inputs = stage > 0 || learns_thresholds();
  check(selection_backward({.wires = wires,
                            .x = inputs,
                            .bits = reads_bits ? input_bits_.data() : nullptr,
                            .g = slot_gradients_.data(),
                            .gx = wants_inputs ? g_[(stage + 1) % 2].data() : nullptr,
                            .gradients = gradients_.data() + (wires.logits - parameters_.data()),
                            .slot_sums = wires.positions > 1 ? slot_sums_.data() : nullptr,
                            .state = state_.data(),
                            .not_finite = not_finite_.data()},
                           rows_, stream_.get()),
        "compute the gradients of wires");
}

void NetworkProgram::backward(std::size_t first, bool only_slots) {
  for (std::size_t i = stages_.size(); i-- > first;) {
    differentiate(i);
    if (!learns_wires(stages_[i].first) || (only_slots && i == first)) continue;
    differentiate_wires(i);
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
  float* of_outputs = g_[(stages_.size() + 1) % 2].data();
  check(loss_and_gradient(loss_arguments(), y_.back().data(), rows_,
                          sums_outputs() ? sum_gradients_.data() : of_outputs, losses_.data(),
                          loss_count_, stream_.get()),
        "compute the loss");
  if (reports_deviation_) {
    check(deviation_of_sums(group_sums_.data(), groups(), rows_, outcome_.data(), stream_.get()),
          "compute the deviation of the sums");
  }
  if (!sums_outputs()) return;
  check(output_gradients(head_backward(of_outputs), rows_, stream_.get()),
        "compute the gradients of the outputs");
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
  // All other parameters follow the logits of gates.
  const std::size_t others = first_exponent() + exponents_ - logits_;
  if (only_gradients || others == 0) return;
  check(update_parameters({.count = others,
                           .values = parameters_.data() + logits_,
                           .first = optimiser_.first().data() + logits_,
                           .second = optimiser_.second().data() + logits_,
                           .gradients = gradients_.data() + logits_,
                           .state = state_.data(),
                           .not_finite = not_finite_.data()},
                          stream_.get()),
        "update wires, thresholds and weights");
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
             layer_tables_);
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
  if (reports_deviation_ != (spec_.head && arguments.head_temperature)) {
    reports_deviation_ = !reports_deviation_;
    graph_.reset();
  }
  StepState& state = *host_state_.data();
  state.wire_scale = static_cast<float>(1 / arguments.wire_temperature);
  const double temperature = spec_.head ? spec_.head->temperature : 1;
  state.score_scale = static_cast<float>(1 / arguments.head_temperature.value_or(temperature));
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
  return {.loss = outcome.loss,
          .finite = finite,
          .sum_deviation = reports_deviation_ ? outcome.sum_deviation : 0};
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
  const auto stage = std::ranges::find(stages_, layer, &Stage::first) - stages_.begin();
  backward(static_cast<std::size_t>(stage), true);
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
  check_masks("cuda", masks, layer_tables_, input_mask, inputs());
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
  check_of_layers("cuda", tensors, parameter_shapes());
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
  for (const Stage& stage : stages_) {
    const std::size_t i = stage.last;
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

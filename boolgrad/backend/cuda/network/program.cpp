#include "boolgrad/backend/cuda/network/program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/plan/flat_tensors.h"

namespace boolgrad::cuda {
namespace {

// Gates whose outputs a block adds up to a part of a group's sum: enough for its threads, few
// enough to keep all processors busy.
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

/// Parameters of all layers, and room for an offset of each input's threshold. Offsets that are not
/// trained stay 0, as do their gradients.
std::size_t parameter_count(std::span<const LutWires> layers, const NetworkSpec& spec) {
  return plan_network_offsets(layers, spec).logits + index(layers.front().inputs);
}

template <class T>
void send(DeviceArray<T>& to, const PinnedArray<T>& from, cudaStream_t stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice,
                        stream),
        "copy to the device");
}

/// Whether the tables of a step cannot be left by the update before it.
bool hardens_by_itself(HardeningKind kind) {
  return kind == HardeningKind::gates || kind == HardeningKind::freeze || changes_logits(kind);
}

}  // namespace

RowShape row_shape(std::int64_t samples) {
  constexpr std::int64_t sector_floats = 8;  // rows begin where the memory's units do
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
      shifts_(index(spec.batch)),
      host_state_(1),
      host_chosen_(index(spec.batch)),
      host_shifts_(index(spec.batch)),
      outcome_(1) {
  widest_ = std::max<std::int64_t>(layers.front().inputs, groups());
  for (const LutWires& layer : layers) widest_ = std::max(widest_, layer.gates);
  const NetworkOffsets offsets = plan_network_offsets(layers, spec);
  gates_ = offsets.gates;
  entries_ = offsets.entries;
  logits_ = offsets.logits;
  input_factor_ = static_cast<float>(offsets.input_gradient_factor);
  const std::vector<LayerRows> rows = plan_network_rows(layers, groups());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    add_layer(layers[i], rows[i], offsets.layers[i]);
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

void NetworkProgram::add_layer(const LutWires& wires, const LayerRows& rows,
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
                     .first_gate = offsets.first_gate,
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

// Layers of one arity that follow one another lie side by side in every array. Gradients are linear
// in those of the outputs, so what layers above multiply them by may be multiplied here.
void NetworkProgram::plan_passes(const NetworkOffsets& offsets) {
  std::vector<std::size_t> first_gates;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerOffsets& layer = offsets.layers[i];
    first_gates.push_back(layer.first_gate);
    if (i > 0 && layers_[i].arity == layers_[i - 1].arity && spec_.gradient_factor == 1) {
      passes_.back().gates += index(layers_[i].gates);
      continue;
    }
    GateUpdate pass{};
    pass.gates = index(layers_[i].gates);
    pass.first_gate = layer.first_gate;
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
    y_.back().clear();  // what lies between rows is read back with them
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
  allocate_scratch();
}

/// For gradients of the inputs of layers whose gates have other than two inputs.
void NetworkProgram::allocate_scratch() {
  std::size_t scratch_rows = 0;
  for (std::size_t i = learns_thresholds() ? 0 : 1; i < layers_.size(); ++i) {
    if (layers_[i].arity == 2) continue;
    scratch_rows = std::max(scratch_rows, index(layers_[i].gates) * index(layers_[i].arity));
  }
  slot_scratch_ = DeviceArray<float>(scratch_rows * index(rows_.stride));
}

std::vector<Shape> NetworkProgram::parameter_shapes() const {
  std::vector<Shape> shapes = logit_shapes_;
  if (learns_thresholds()) shapes.push_back({inputs()});
  return shapes;
}

// ------------------------------------------------------------------ what kernels read

LossArguments NetworkProgram::loss_arguments() const {
  const Head head = spec_.head.value_or(Head{});
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
          .outputs = static_cast<int>(outputs()),
          .samples = data_.samples,
          .chosen = chooses_ ? chosen_.data() : nullptr,
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
          .numbers = data.numbers.data(),
          .features = static_cast<int>(data.features),
          .height = static_cast<int>(data.height),
          .width = static_cast<int>(data.width),
          .offsets = learns ? parameters_.data() + logits_ : nullptr,
          .ranges = learns ? ranges_.data() : nullptr};
}

SampleChoice NetworkProgram::step_choice() const {
  return {.chosen = chooses_ ? chosen_.data() : nullptr,
          .shifts = chooses_ && data_.has_features() ? shifts_.data() : nullptr,
          .first = 0};
}

// ------------------------------------------------------------------ launches

void NetworkProgram::make_tables(float share) {
  for (const GateUpdate& pass : passes_) {
    GateUpdate arguments = update_arguments(pass, false);
    arguments.hardens = false;
    arguments.hard_share = share;
    check(make_coefficients(arguments, stream_.get()), "make the tables");
  }
  made_share_ = share;
}

void NetworkProgram::make_tables_as(float share) {
  if (made_share_ != share) make_tables(share);
}

void NetworkProgram::make_hardened_tables() {
  for (const GateUpdate& pass : passes_) {
    check(make_coefficients(update_arguments(pass, false), stream_.get()), "make the tables");
  }
}

void NetworkProgram::gather() {
  check(gather_samples(sample_inputs(data_), step_choice(), rows_, x_.data(), stream_.get()),
        "gather a batch");
}

void NetworkProgram::forward() {
  const float* from = x_.data();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    check(is_summed(i) ? layer_scores(layers_[i], coefficients_.data(), from, rows_, groups(),
                                      parts_, scores_.data(), stream_.get())
                       : layer_forward(layers_[i], coefficients_.data(), from, rows_, y_[i].data(),
                                       stream_.get()),
          "compute a layer");
    from = y_[i].data();
  }
}

void NetworkProgram::backward() {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const bool wants_inputs = i > 0 || learns_thresholds();
    const LayerBackward arguments{.layer = layers_[i],
                                  .coefficients = coefficients_.data(),
                                  .x = i == 0 ? x_.data() : y_[i - 1].data(),
                                  .g = g_[i % 2].data(),
                                  .gx = wants_inputs ? g_[(i + 1) % 2].data() : nullptr,
                                  .slot_scratch = slot_scratch_.data(),
                                  .sums = sums_.data(),
                                  .entries = entries_,
                                  .state = state_.data(),
                                  .not_finite = not_finite_.data()};
    check(layer_backward(arguments, rows_, stream_.get()), "compute the gradients of a layer");
  }
  if (!learns_thresholds()) return;
  check(threshold_gradients({.from = sample_inputs(data_),
                             .choice = step_choice(),
                             .g = g_[1].data(),
                             .width_share = width_share_,
                             .factor = input_factor_,
                             .gradients = gradients_.data() + logits_,
                             .state = state_.data(),
                             .not_finite = not_finite_.data()},
                            rows_, stream_.get()),
        "compute the gradients of thresholds");
}

void NetworkProgram::launch_step(bool only_gradients) {
  if (hardens_) make_hardened_tables();
  if (chooses_ || learns_thresholds()) gather();
  forward();
  check(loss_and_gradient(loss_arguments(), y_.back().data(), rows_,
                          g_[(layers_.size() + 1) % 2].data(), losses_.data(), loss_count_,
                          stream_.get()),
        "compute the loss");
  backward();
  for (const GateUpdate& pass : passes_) {
    check(update_gates(update_arguments(pass, only_gradients), stream_.get()), "update the logits");
  }
  if (only_gradients || !learns_thresholds()) return;
  check(update_thresholds({.inputs = static_cast<int>(inputs()),
                           .offsets = parameters_.data() + logits_,
                           .first = optimiser_.first().data() + logits_,
                           .second = optimiser_.second().data() + logits_,
                           .gradients = gradients_.data() + logits_,
                           .state = state_.data(),
                           .not_finite = not_finite_.data()},
                          stream_.get()),
        "update the thresholds");
}

void NetworkProgram::send_step() {
  send(state_, host_state_, stream_.get());
  if (!chooses_) return;
  send(chosen_, host_chosen_, stream_.get());
  if (data_.has_features()) send(shifts_, host_shifts_, stream_.get());
}

void NetworkProgram::prepare(const NetworkStepArguments& arguments) {
  check_step("cuda", arguments, rows_.samples,
             {.samples = static_cast<std::int64_t>(data_.samples), .has_images = data_.has_images},
             layer_gates_);
  const std::span<const std::int64_t> samples = arguments.samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    host_chosen_.data()[i] = static_cast<int>(samples[i]);
    host_shifts_.data()[i] = arguments.shifts.empty() ? ImageShift{} : arguments.shifts[i];
  }
  if (chooses_ != !samples.empty()) {
    chooses_ = !samples.empty();
    graph_.forget();
    if (!chooses_) gather();
  }
  HardeningStep hardening = arguments.hardening;
  if (!(hardening.share > 0)) hardening.kind = HardeningKind::none;
  if (hardens_ != hardens_by_itself(hardening.kind)) {
    hardens_ = !hardens_;
    graph_.forget();
  }
  if (hardening.kind == HardeningKind::freeze) upload_frozen(arguments.frozen);
  const bool is_soft = hardens_ || hardening.kind == HardeningKind::none;
  const float share = is_soft ? 0.0F : static_cast<float>(hardening.share);
  if (!hardens_) make_tables_as(share);
  StepState& state = *host_state_.data();
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
    stream_.wait();
    int flag = 0;
    copy_to_host(&flag, optimiser_.finite(), sizeof(flag));
    finite = flag != 0;
  }
  stream_.wait();
  const StepOutcome& outcome = *outcome_.data();
  finite = finite && outcome.finite != 0;
  if (hardens_ && updates_in_step()) {
    // The update leaves soft tables, but where nothing is updated it leaves this step's.
    made_share_ = finite ? std::optional(0.0F) : std::nullopt;
  }
  return {.loss = outcome.loss, .finite = finite};
}

double NetworkProgram::gradients_of(const NetworkStepArguments& arguments) {
  prepare(arguments);
  send_step();
  launch_step(true);
  stream_.wait();
  if (hardens_) made_share_.reset();
  return outcome_.data()->loss;
}

double NetworkProgram::milliseconds(int count) {
  if (!graph_.is_captured()) fail("cuda", "expected a step before it is timed, received none");
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
  chooses_ = true;  // so that the first step in order gathers its batch
  graph_.forget();
}

void NetworkProgram::set_threshold_ranges(std::span<const float> ranges, double width_share) {
  stream_.wait();
  ranges_ = ranges.empty() ? DeviceArray<float>()
                           : DeviceArray<float>(std::vector<float>(ranges.begin(), ranges.end()));
  width_share_ = static_cast<float>(width_share);
  gradients_.clear();
  allocate_scratch();
  graph_.forget();
}

void NetworkProgram::set_parameters(std::span<const Tensor> parameters,
                                    std::span<const Tensor> masks, const Tensor& input_mask) {
  check_masks("cuda", masks, layer_gates_, input_mask, inputs());
  upload(parameters, parameters_);
  const std::vector<float> all_masks = flat(masks);
  masks_.upload(all_masks.data(), all_masks.size());
  input_mask_.upload(input_mask.values<float>().data(), input_mask_.size());
  made_share_.reset();
  chooses_ = true;  // the batch may be masked otherwise now
  graph_.forget();
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

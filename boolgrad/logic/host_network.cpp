#include "boolgrad/logic/host_network.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/gate_penalty.h"
#include "boolgrad/logic/hardening.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/host_program.h"
#include "boolgrad/logic/image_transforms.h"
#include "boolgrad/logic/thresholds.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

// Samples per soft forward pass of an evaluation. Bounds its memory.
constexpr std::int64_t evaluation_batch = 4096;

/// The selected rows of bytes [samples, bits], transposed to [bits, samples] in a floating dtype.
Tensor columns_of_rows(const Tensor& rows, std::span<const std::int64_t> samples, DType dtype) {
  const auto width = static_cast<std::size_t>(rows.shape()[1]);
  const auto from = rows.values<std::uint8_t>();
  Tensor result({rows.shape()[1], std::ssize(samples)}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto to = result.mutable_values<T>();
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const auto row = from.subspan(static_cast<std::size_t>(samples[s]) * width, width);
      for (std::size_t b = 0; b < width; ++b) to[b * samples.size() + s] = convert<T>(row[b]);
    }
  });
  return result;
}

/// The selected columns of a matrix.
Tensor columns(const Tensor& matrix, std::span<const std::int64_t> picked) {
  const std::int64_t rows = matrix.shape()[0];
  const auto width = static_cast<std::size_t>(matrix.shape()[1]);
  Tensor result({rows, std::ssize(picked)}, matrix.dtype());
  visit_dtype(matrix.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto from = matrix.values<T>();
    auto to = result.mutable_values<T>().begin();
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      for (const std::int64_t column : picked) {
        *to++ = from[row * width + static_cast<std::size_t>(column)];
      }
    }
  });
  return result;
}

/// The selected elements of a vector.
Tensor elements(const Tensor& vector, std::span<const std::int64_t> picked) {
  return columns(vector.viewed_as({1, vector.size()}), picked).viewed_as({std::ssize(picked)});
}

/// Samples [samples, features] transposed to float32 [features, samples].
Tensor float_columns(const Tensor& rows) {
  Tensor x({rows.shape()[1], rows.shape()[0]}, DType::float32);
  const auto samples = static_cast<std::size_t>(rows.shape()[0]);
  const auto features = static_cast<std::size_t>(rows.shape()[1]);
  visit_dtype(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t s = 0; s < samples; ++s) {
      for (std::size_t f = 0; f < features; ++f) {
        x.mutable_values<float>()[f * samples + s] =
            convert<float>(rows.values<T>()[s * features + f]);
      }
    }
  });
  return x;
}

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

/// Samples, given as inputs or as features to be binarised.
struct Data {
  Tensor inputs;   ///< [inputs, samples], if given directly
  Tensor targets;  ///< [outputs, samples], or one label per sample
  Tensor features;
  std::int64_t height = 0;
  std::int64_t width = 0;
  Tensor bytes;         ///< [samples, inputs]: cached bits of fixed thresholds
  Tensor soft_targets;  ///< [classes, samples] in the network's dtype, if given

  bool has_features() const { return features.defined(); }
  std::int64_t count() const {
    return has_features() ? features.shape()[0] : inputs.defined() ? inputs.shape()[1] : 0;
  }
};

class HostNetwork final : public HostProgram<DeviceNetwork> {
 public:
  HostNetwork(const Network& network, const NetworkSpec& spec)
      : HostProgram(network.parameters(), spec.optimiser), network_(network), spec_(spec) {
    if (spec.max_exponent == 0) return;
    exponents_ = parameter(Tensor::zeros({network_.outputs()}, DType::float32));
    train_all();
  }

  void set_cases(DataRole role, const Tensor& inputs, const Tensor& targets) override {
    Data& own = data(role);
    own = Data();
    own.inputs = inputs;
    own.targets = targets;
  }

  void set_samples(DataRole role, const FeatureSamples& samples, const Tensor& targets) override {
    data(role) = {.inputs = {},
                  .targets = targets,
                  .features = samples.features,
                  .height = samples.height,
                  .width = samples.width,
                  .bytes = {},
                  .soft_targets = samples.soft_targets.defined()
                                      ? cast(transpose(samples.soft_targets), network_.dtype())
                                      : Tensor()};
    sources_.assign(samples.sources.begin(), samples.sources.end());
    base_ = tensor_of(samples.thresholds);
    if (role != DataRole::training || !samples.learns_thresholds()) return;
    ranges_ = tensor_of(samples.ranges);
    widths_ = scale(ranges_, samples.width_share);
    offsets_ = parameter(Tensor::zeros(ranges_.shape(), DType::float32));
    train_all();
  }

  void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                      const Tensor& input_mask) override {
    copy_values({parameters.begin(), parameters.end()}, trained());
    for (std::size_t i = 0; i < masks.size(); ++i) network_.set_mask(i, masks[i]);
    network_.set_input_mask(input_mask);
  }

  StepResult step(const NetworkStepArguments& arguments) override {
    remember(arguments);
    const double loss = gradients(arguments);
    return {.loss = loss,
            .finite = update(loss, arguments.step, arguments.learning_rate),
            .sum_deviation = sum_deviation_};
  }

  double gradients(const NetworkStepArguments& arguments) override {
    return differentiate(loss_of_step(arguments, nullptr));
  }

  WireSignals wire_signals(const NetworkStepArguments& arguments, std::size_t layer) override {
    std::vector<SlotValues> values;
    const Tensor loss = loss_of_step(arguments, &values);
    const SlotValues& own = values.at(layer);
    return {.inputs = own.inputs.detach(), .slot_gradients = grad(loss, own.slots)};
  }

  std::vector<Tensor> layer_outputs() const override {
    const NoGrad off_the_tape;
    return network_.soft_layers(batch_in_order());
  }

  void set_candidates(std::size_t layer, const CandidateWires& candidates) override {
    const GateLayer& own = network_.layers().at(layer);
    network_.set_candidates(layer, candidates_of(candidates, *own.candidates), own.wire_logits);
  }

  NetworkScores evaluate(double wire_temperature) override {
    const NoGrad off_the_tape;
    network_.choose_wires();
    const bool mixes_wires = spec_.wire_forward == WireForward::soft && network_.learns_wires();
    const Data& all = evaluation_.count() > 0 ? evaluation_ : training_;
    const std::int64_t count = all.count();
    if (count == 0) fail("cpu", "expected evaluation samples, received none");
    const std::int64_t rows = spec_.score_count(network_.outputs());
    const std::vector<Tensor> tables = network_.tables();
    const Tensor bytes = all.has_features() ? thresholds().bytes_of(all.features) : Tensor();
    NetworkScores scores{Tensor({rows, count}, network_.dtype()), {}};
    for (std::int64_t begin = 0; begin < count; begin += evaluation_batch) {
      const std::int64_t end = std::min(begin + evaluation_batch, count);
      const Tensor x = all.has_features()
                           ? columns_of_rows(bytes, range(begin, end), network_.dtype())
                           : slice(all.inputs, 1, begin, end);
      const Tensor y =
          mixes_wires ? network_.soft(x, tables, wire_logits(), WireForward::soft, wire_temperature)
                      : network_.soft(x, tables);
      put_columns(spec_.head ? sums_of(head(), y).sums : y, begin, scores.soft);
    }
    const BitMatrix bits =
        all.has_features() ? thresholds().bits_of(all.features) : pack_bits(all.inputs);
    const BitMatrix hard = network_.hard(bits);
    scores.hard = spec_.head ? cast(group_counts(hard, rows, head().exponents), DType::int32)
                             : unpack_bits(hard, DType::uint8);
    return scores;
  }

  double milliseconds(int count) override {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      const NetworkStepArguments again = last_;
      step(again);
    }
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

 private:
  void train_all() {
    std::vector<Tensor> all = network_.parameters();
    if (offsets_.defined()) all.push_back(offsets_);
    if (exponents_.defined()) all.push_back(exponents_);
    train(std::move(all));
  }

  /// The head with its present weights.
  Head head() const {
    Head head = *spec_.head;
    if (exponents_.defined()) head.exponents = rounded_exponents(exponents_, spec_.max_exponent);
    return head;
  }

  Tensor loss_of_step(const NetworkStepArguments& arguments, std::vector<SlotValues>* values) {
    if (training_.count() == 0) fail("cpu", "expected training samples, received none");
    std::vector<Tensor> tables = step_tables(arguments);
    std::vector<Tensor> wire_logits(tables.size());
    double factor = 1;
    // Gradients are linear in those of the outputs, so the factors of all layers above can be
    // applied here at once.
    for (std::size_t i = tables.size(); i-- > 0;) {
      const GateLayer& layer = network_.layers()[i];
      tables[i] = with_scaled_gradient(tables[i], factor);
      if (layer.learns_wires()) wire_logits[i] = with_scaled_gradient(layer.wire_logits, factor);
      factor *= spec_.gradient_factor;
    }
    const Tensor y =
        network_.soft(with_scaled_gradient(step_inputs(arguments), factor), tables, wire_logits,
                      spec_.wire_forward, arguments.wire_temperature, values);
    Tensor loss = step_loss(y, arguments);
    if (!(spec_.gate_penalty > 0)) return loss;
    std::vector<Tensor> logits = network_.parameters();
    logits.resize(network_.layers().size());  // without those of learned wires
    return add(loss, scale(two_input_gates(network_.tables(logits)), spec_.gate_penalty));
  }

  void remember(const NetworkStepArguments& arguments) {
    if (arguments.samples.data() != last_samples_.data()) {
      last_samples_.assign(arguments.samples.begin(), arguments.samples.end());
      last_transforms_.assign(arguments.transforms.begin(), arguments.transforms.end());
      last_frozen_.assign(arguments.frozen.begin(), arguments.frozen.end());
    }
    last_ = arguments;
    last_.samples = last_samples_;
    last_.transforms = last_transforms_;
    last_.frozen = last_frozen_;
  }

  /// The candidates of a view, in place of others of the same layer.
  static CandidatesPtr candidates_of(const CandidateWires& view, const WireCandidates& others) {
    const int arity = others.arity();
    if (view.has_all()) {
      return std::make_shared<const WireCandidates>(view.inputs, view.slots / arity, arity);
    }
    Tensor sources({view.slots / arity, arity, view.count}, DType::int32);
    std::ranges::copy(view.sources, sources.mutable_values<std::int32_t>().begin());
    return std::make_shared<const WireCandidates>(others.inputs(), sources, others.sharing());
  }

  /// One tensor per layer, undefined for layers with fixed wires.
  std::vector<Tensor> wire_logits() const {
    std::vector<Tensor> result;
    for (const GateLayer& layer : network_.layers()) result.push_back(layer.wire_logits);
    return result;
  }

  static Tensor tensor_of(std::span<const float> values) {
    return Tensor::of(std::vector<float>(values.begin(), values.end()));
  }

  Data& data(DataRole role) { return role == DataRole::training ? training_ : evaluation_; }

  /// The current thresholds, on the tape if they are trained.
  Tensor threshold_values() const {
    return offsets_.defined() ? add(base_, multiply(offsets_, ranges_)) : base_;
  }
  Thresholds thresholds() const {
    const NoGrad off_the_tape;
    const Data& any = training_.has_features() ? training_ : evaluation_;
    return {any.features.shape()[1], sources_, threshold_values()};
  }

  std::vector<Tensor> step_tables(const NetworkStepArguments& arguments) const {
    const HardeningStep& hardening = arguments.hardening;
    std::vector<Tensor> logits = network_.parameters();
    logits.resize(network_.layers().size());  // without those of learned wires
    std::vector<Tensor> soft =
        network_.tables(hardened_logits(hardening, logits, network_.parametrisation()));
    if (!hardens_tables(hardening)) return soft;
    std::vector<Tensor> hard;
    for (std::size_t i = 0; i < soft.size(); ++i) hard.push_back(network_.hard_tables_of(i));
    return hardened_tables(hardening, soft, hard,
                           {arguments.frozen.begin(), arguments.frozen.end()});
  }

  Tensor batch_in_order() const {
    return training_.has_features() ? columns_of_rows(thresholds().bytes_of(training_.features),
                                                      range(0, spec_.batch), network_.dtype())
                                    : slice(training_.inputs, 1, 0, spec_.batch);
  }

  Tensor step_inputs(const NetworkStepArguments& arguments) {
    if (!training_.has_features()) {
      if (!arguments.samples.empty()) return columns(training_.inputs, arguments.samples);
      return spec_.batch == training_.count() ? training_.inputs
                                              : slice(training_.inputs, 1, 0, spec_.batch);
    }
    const std::vector<std::int64_t> picked = picked_samples(arguments);
    const DType dtype = network_.dtype();
    if (arguments.transforms.empty() && !offsets_.defined()) {
      // Fixed thresholds give fixed bits: compute them once.
      if (!training_.bytes.defined()) training_.bytes = thresholds().bytes_of(training_.features);
      return columns_of_rows(training_.bytes, picked, dtype);
    }
    const Tensor rows = arguments.transforms.empty()
                            ? rows_at(training_.features, picked)
                            : transformed_images(training_.features, training_.height,
                                                 training_.width, picked, arguments.transforms);
    if (!offsets_.defined()) {
      return columns_of_rows(thresholds().bytes_of(rows), range(0, std::ssize(picked)), dtype);
    }
    return cast(threshold_bits(float_columns(rows), threshold_values(), sources_, widths_), dtype);
  }

  std::vector<std::int64_t> picked_samples(const NetworkStepArguments& arguments) const {
    if (arguments.samples.empty()) return range(0, spec_.batch);
    return {arguments.samples.begin(), arguments.samples.end()};
  }

  static Tensor rows_at(const Tensor& matrix, std::span<const std::int64_t> picked) {
    Tensor result({std::ssize(picked), matrix.shape()[1]}, matrix.dtype());
    const std::size_t bytes = matrix.bytes() / static_cast<std::size_t>(matrix.shape()[0]);
    auto* to = static_cast<std::byte*>(result.mutable_data());
    const auto* from = static_cast<const std::byte*>(matrix.data());
    for (const std::int64_t row : picked) {
      std::memcpy(to, from + static_cast<std::size_t>(row) * bytes, bytes);
      to += bytes;
    }
    return result;
  }

  Tensor step_targets(const NetworkStepArguments& arguments) const {
    if (spec_.head) return elements(training_.targets, picked_samples(arguments));
    if (!arguments.samples.empty()) return columns(training_.targets, arguments.samples);
    return spec_.batch == training_.count() ? training_.targets
                                            : slice(training_.targets, 1, 0, spec_.batch);
  }

  Tensor step_loss(const Tensor& y, const NetworkStepArguments& arguments) {
    const Tensor targets = step_targets(arguments);
    if (!spec_.head) return loss_of(spec_.loss, y, targets);
    SoftTargets soft;
    if (training_.soft_targets.defined() && spec_.teacher_weight > 0) {
      soft = {columns(training_.soft_targets, picked_samples(arguments)), spec_.teacher_weight};
    }
    Head head = *spec_.head;
    const Tensor weights =
        exponents_.defined() ? power_weights(exponents_, spec_.max_exponent, y.dtype()) : Tensor();
    const GroupSums sums = sums_of(head, y, weights);
    if (arguments.head_temperature) {
      head.temperature = *arguments.head_temperature;
      sum_deviation_ = standard_deviation(sums.sums);
    }
    return head_loss_of_sums(head, sums, targets, spec_.label_smoothing, soft);
  }

  static void put_columns(const Tensor& part, std::int64_t first, Tensor& whole) {
    visit_dtype(whole.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto from = part.values<T>();
      const auto width = static_cast<std::size_t>(part.shape()[1]);
      for (std::size_t row = 0; row < static_cast<std::size_t>(part.shape()[0]); ++row) {
        std::ranges::copy(from.subspan(row * width, width),
                          whole.mutable_values<T>().begin() +
                              static_cast<std::ptrdiff_t>(row) * whole.shape()[1] + first);
      }
    });
  }

  Network network_;
  NetworkSpec spec_;
  Data training_;
  Data evaluation_;
  std::vector<std::int32_t> sources_;
  Tensor base_;  ///< thresholds before the learned offsets
  // Only for learned thresholds:
  Tensor ranges_;
  Tensor widths_;
  Tensor offsets_;
  Tensor exponents_;  ///< only for trained weights
  double sum_deviation_ = 0;
  NetworkStepArguments last_;  ///< its spans refer to the copies below
  std::vector<std::int64_t> last_samples_;
  std::vector<ImageTransform> last_transforms_;
  std::vector<Tensor> last_frozen_;
};

}  // namespace

std::vector<LutWires> wires_of(const Network& network) {
  std::vector<LutWires> wires;
  for (const GateLayer& layer : network.layers()) {
    if (!layer.learns_wires()) {
      wires.push_back(layer.wiring->view());
      continue;
    }
    wires.push_back(layer.candidates->slot_wiring()->view());
    wires.back().candidates = layer.candidates->view();
  }
  return wires;
}

std::vector<Tensor> masks_of(const Network& network) {
  std::vector<Tensor> masks;
  for (const GateLayer& layer : network.layers()) masks.push_back(layer.mask);
  return masks;
}

void copy_values(const std::vector<Tensor>& from, std::vector<Tensor> to) {
  if (from.size() != to.size()) {
    fail("parameters", "expected {} tensors, received {}", to.size(), from.size());
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from[i].shape() != to[i].shape() || from[i].dtype() != to[i].dtype()) {
      fail("parameters", "expected {} {} for tensor {}, received {} {}", to_string(to[i].dtype()),
           boolgrad::to_string(to[i].shape()), i, to_string(from[i].dtype()),
           boolgrad::to_string(from[i].shape()));
    }
    if (from[i].data() != to[i].data()) {
      std::memcpy(to[i].mutable_data(), from[i].data(), from[i].bytes());
    }
  }
}

std::vector<Tensor> detached(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.detach());
  return result;
}

Tensor with_scaled_gradient(const Tensor& x, double factor) {
  if (factor == 1) return x;
  return record("with_scaled_gradient", {x}, x.detach(), {},
                [factor](const VjpContext& c) { return std::vector{scale(c.gradient(), factor)}; });
}

std::unique_ptr<DeviceNetwork> make_host_network(const Network& network, const NetworkSpec& spec) {
  return std::make_unique<HostNetwork>(network, spec);
}

std::unique_ptr<DeviceNetwork> make_network_program(const Device& device, const Network& network,
                                                    const NetworkSpec& spec) {
  if (device.is_cpu()) return make_host_network(network, spec);
  if (network.dtype() != DType::float32) {
    fail("device", "expected a network of float32 for {}, received {}", to_string(device),
         to_string(network.dtype()));
  }
  return make_device_network(device, wires_of(network), spec);
}

}  // namespace boolgrad::logic

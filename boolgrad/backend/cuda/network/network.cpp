#include "boolgrad/backend/cuda/network/network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/optimiser/optimiser.h"
#include "boolgrad/backend/plan/gate_order.h"
#include "boolgrad/backend/device/network_checks.h"

namespace boolgrad::cuda {

class Network final : public DeviceNetwork {
 public:
  /// The wires are copied.
  Network(std::span<const LutWires> layers, const NetworkPlan& plan);
  ~Network() override;

  void set_cases(const Tensor& inputs, const Tensor& targets) override;
  void set_samples(const BitSamples& samples, const Tensor& targets) override;
  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks,
                      const Tensor& input_mask) override;
  std::vector<Tensor> logits() const override;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  std::vector<Tensor> first_moments() const override;
  std::vector<Tensor> second_moments() const override;
  void set_hard_share(double share) override;
  NetworkStep step(std::span<const std::int64_t> picked, std::int64_t step, double learning_rate,
                   std::span<const ImageShift> moves) override;
  double gradients(std::span<const std::int64_t> picked,
                   std::span<const ImageShift> moves) override;
  std::vector<Tensor> logit_gradients() const override;
  std::vector<Tensor> outputs() const override;
  NetworkScore evaluate() override;
  Tensor hard_outputs() override;
  double milliseconds(int count) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace {

// Activations that an evaluation holds at a time, in bytes.
constexpr std::size_t evaluation_bytes = std::size_t{1} << 29;
// Gates whose outputs a block adds up to a class score: enough for its threads, few enough to keep
// all processors busy.
constexpr int gates_per_part = 64;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Rows rows_for(std::int64_t samples) {
  constexpr std::int64_t sector_floats = 8;  // rows begin where the memory's units do
  const std::int64_t stride = (samples + sector_floats - 1) / sector_floats * sector_floats;
  return {.samples = static_cast<int>(samples),
          .stride = static_cast<int>(stride),
          .vectors = static_cast<int>((samples + 3) / 4),
          .chunks = static_cast<int>((samples + chunk_samples - 1) / chunk_samples)};
}

std::size_t row_floats(std::int64_t features, const Rows& rows) {
  return index(features) * index(rows.stride);
}

/// A stream of our own, as only such a one can be recorded.
class OwnStream {
 public:
  OwnStream() { check(cudaStreamCreate(&stream_), "make a stream"); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "finish a step"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Launches recorded once and replayed as one.
class Recording {
 public:
  Recording() = default;
  ~Recording() { forget(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool is_made() const { return graph_ != nullptr; }
  void forget() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }
  template <class F>
  void record(cudaStream_t stream, F launches) {
    cudaGraph_t recorded = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "record a step");
    launches();
    check(cudaStreamEndCapture(stream, &recorded), "record a step");
    const cudaError_t error = cudaGraphInstantiate(&graph_, recorded, 0);
    cudaGraphDestroy(recorded);
    check(error, "prepare a recorded step");
  }
  void replay(cudaStream_t stream) const { check(cudaGraphLaunch(graph_, stream), "take a step"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// The wires of a layer on the device.
struct DeviceWires {
  DeviceArray<PairGate> pair_gates;
  DeviceArray<PairInput> pair_inputs;
  DeviceArray<int> first_reader;
  DeviceArray<GateReader> readers;
  DeviceArray<int> sources, source_rows, output_rows;
};

void check_width(const LutWires& wires, const Rows& rows) {
  const std::int64_t most = std::numeric_limits<std::uint32_t>::max() / (index(rows.stride) / 4);
  if (std::max(wires.gates, wires.inputs) >= most) {
    fail("cuda", "expected layers of fewer than {} gates for a batch of {}, received {}", most,
         rows.samples, wires.gates);
  }
}

using Numbers = std::vector<std::int32_t>;

Numbers in_order(std::int64_t count) {
  Numbers numbers(index(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Where each number of an order lies in it.
Numbers places_in(const Numbers& order) {
  Numbers places(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    places[index(order[i])] = static_cast<std::int32_t>(i);
  }
  return places;
}

/// A layer's wires with the rows of what it reads and writes.
struct RowWires {
  const LutWires& wires;
  Numbers gate_walk = {};      ///< of two-input gates
  Numbers input_walk = {};     ///< likewise
  Numbers input_rows = {};     ///< [inputs]
  Numbers output_rows = {};    ///< [gates]
  Numbers gradient_rows = {};  ///< [gates]: the same, or the class's where outputs are summed

  int source_row(std::size_t wire) const { return input_rows[index(wires.sources[wire])]; }
};

/// The walk of the gates, class by class where outputs are summed by class.
Numbers gates_by_class(const LutWires& wires, std::int64_t classes) {
  Numbers walk;
  const std::int64_t per_class = wires.gates / classes;
  for (std::int64_t c = 0; c < classes; ++c) {
    const Numbers part = walk_of_gates(wires, c * per_class, (c + 1) * per_class);
    walk.insert(walk.end(), part.begin(), part.end());
  }
  return walk;
}

/// Rows in the order in which the layer above reads them, where it has two-input gates.
std::vector<RowWires> rows_of_layers(std::span<const LutWires> layers, std::int64_t classes) {
  std::vector<RowWires> result;
  for (const LutWires& wires : layers) {
    RowWires layer{.wires = wires};
    layer.input_rows = in_order(wires.inputs);
    layer.output_rows = layer.gradient_rows = in_order(wires.gates);
    if (wires.arity == 2) {
      layer.gate_walk = walk_of_gates(wires, 0, wires.gates);
      layer.input_walk = walk_of_inputs(wires, layer.gate_walk);
      if (!result.empty()) {
        layer.input_rows = places_in(layer.input_walk);
        result.back().output_rows = result.back().gradient_rows = layer.input_rows;
      }
    }
    result.push_back(std::move(layer));
  }
  if (classes > 0) {
    RowWires& last = result.back();
    last.gate_walk = gates_by_class(last.wires, classes);
    const std::int64_t per_class = last.wires.gates / classes;
    for (std::int32_t& row : last.gradient_rows) row = static_cast<std::int32_t>(row / per_class);
  }
  return result;
}

std::vector<PairGate> pair_gates_of(const RowWires& layer) {
  std::vector<PairGate> gates;
  gates.reserve(layer.gate_walk.size());
  for (const std::int32_t gate : layer.gate_walk) {
    gates.push_back({gate, layer.gradient_rows[index(gate)], layer.source_row(index(gate) * 2),
                     layer.source_row(index(gate) * 2 + 1)});
  }
  return gates;
}

/// The inputs along a walk with their readers, two an entry.
std::vector<PairInput> pair_inputs_of(const RowWires& layer, std::int32_t zero_row) {
  const LutWires& wires = layer.wires;
  const auto reader = [&](std::size_t k, std::size_t end, std::int32_t own) {
    if (k >= end) return PairReader{0, own, zero_row};
    const std::int32_t gate = wires.consumers[k].gate;
    return PairReader{gate, layer.input_rows[index(wires.partners[k])],
                      layer.gradient_rows[index(gate)]};
  };
  const auto reads_second = [&](std::size_t k, std::size_t end) {
    return k >= end || wires.consumers[k].slot == 1;
  };
  std::vector<PairInput> entries;
  for (const std::int32_t input : layer.input_walk) {
    const std::size_t begin = wires.first_consumer[index(input)];
    const std::size_t end = wires.first_consumer[index(input) + 1];
    const auto own = layer.input_rows[index(input)];
    std::size_t k = begin;
    do {
      PairInput entry{.row = own,
                      .flags = (k > begin ? continues : 0) | (k + 2 >= end ? ends : 0) |
                               (reads_second(k, end) ? first_reads_second : 0) |
                               (reads_second(k + 1, end) ? second_reads_second : 0),
                      .first = reader(k, end, own),
                      .second = reader(k + 1, end, own)};
      entries.push_back(entry);
      k += 2;
    } while (k < end);
  }
  return entries;
}

DeviceWires placed(const RowWires& layer, std::int32_t zero_row) {
  const LutWires& wires = layer.wires;
  DeviceWires result;
  result.sources = DeviceArray<int>(Numbers(wires.sources.begin(), wires.sources.end()));
  if (wires.arity == 2) {
    result.pair_gates = DeviceArray<PairGate>(pair_gates_of(layer));
    result.pair_inputs = DeviceArray<PairInput>(pair_inputs_of(layer, zero_row));
    return result;
  }
  Numbers source_rows;
  for (std::size_t i = 0; i < wires.sources.size(); ++i) source_rows.push_back(layer.source_row(i));
  std::vector<GateReader> readers;
  for (const Consumer& consumer : wires.consumers)
    readers.push_back({consumer.gate, consumer.slot});
  result.first_reader =
      DeviceArray<int>(Numbers(wires.first_consumer.begin(), wires.first_consumer.end()));
  result.readers = DeviceArray<GateReader>(readers);
  result.source_rows = DeviceArray<int>(source_rows);
  result.output_rows = DeviceArray<int>(layer.output_rows);
  return result;
}

template <class T>
DeviceArray<T> on_device(const Tensor& tensor) {
  DeviceArray<T> result(index(tensor.size()));
  result.upload(tensor.values<T>().data(), result.size());
  return result;
}

std::vector<InputBit> input_bits_of(const BitSamples& samples) {
  const bool is_picture = samples.height > 0;
  std::vector<InputBit> bits;
  for (std::size_t b = 0; b < samples.sources.size(); ++b) {
    const std::int64_t feature = samples.sources[b];
    const std::int64_t x = is_picture ? feature % samples.width : 0;
    const std::int64_t y = is_picture ? feature / samples.width % samples.height : 0;
    bits.push_back(
        {static_cast<int>(feature), static_cast<int>(x), static_cast<int>(y), samples.levels[b]});
  }
  return bits;
}

}  // namespace

struct Network::State {
  State(std::span<const LutWires> wires, const NetworkPlan& wanted);

  NetworkPlan plan;
  Rows rows;
  std::vector<NetworkLayer> layers;
  std::vector<DeviceWires> wires;
  std::vector<Shape> logit_shapes;
  std::vector<Numbers> output_rows;
  std::vector<GateUpdate> passes;  ///< runs of layers that are updated by one launch
  std::int64_t widest = 0;         ///< rows of gradients; one of zeros follows
  std::size_t gates = 0;
  std::size_t entries = 0;
  std::size_t logit_count = 0;
  int parts = 0;  ///< of a class score
  int loss_count = 0;

  OwnStream stream;
  Recording recording;
  Optimiser optimiser;
  std::uint32_t stamp = 0;
  bool picks = false;    ///< whether the recorded step picks cases
  float hard_share = 0;  ///< that the tables of a step are to have
  float made_share = 0;  ///< that the coefficients have
  std::size_t cases = 0;

  DeviceArray<float> logits, masks, input_mask, coefficients, sums, gradients, loss;
  DeviceArray<float> data, targets;  ///< of cases that are rows
  DeviceArray<InputBit> bits;        ///< and of those that are samples
  DeviceArray<std::uint8_t> bytes;
  DeviceArray<float> numbers;
  std::int64_t feature_count = 0;
  bool has_pictures = false;  ///< which may be moved
  std::int64_t height = 1;
  std::int64_t width = 1;
  DeviceArray<int> labels;
  std::vector<std::int32_t> host_labels;
  DeviceArray<float> x, scores, slot_scratch;
  std::vector<DeviceArray<float>> y;
  DeviceArray<float> g[2];
  DeviceArray<double> losses;
  DeviceArray<std::uint32_t> not_finite;
  PinnedArray<StepState> host_state;
  PinnedArray<int> host_picked;
  PinnedArray<StepOutcome> outcome;
  DeviceArray<StepState> state;
  PinnedArray<ImageShift> host_moves;
  DeviceArray<int> picked;
  DeviceArray<ImageShift> moves;

  std::int64_t inputs() const { return layers.front().inputs; }
  std::int64_t outputs() const { return layers.back().gates; }
  std::vector<std::int64_t> gates_of_layers() const {
    std::vector<std::int64_t> result;
    for (const NetworkLayer& layer : layers) result.push_back(layer.gates);
    return result;
  }
  bool has_classes() const { return plan.has_classes(); }
  bool updates_itself() const { return plan.optimiser.clip_norm <= 0 && plan.optimiser.gradient_noise == 0; }

  void add_layer(const RowWires& layer_rows);
  void add_passes();
  void allocate_rows();
  LossCode loss_code() const;
  GateUpdate pass_code(GateUpdate pass, bool only_gradients) const;
  void make_polynomials(float share);
  void make_hard_as(float share);
  bool has_samples() const { return bits.size() > 0; }
  CaseInputs case_inputs() const;
  void set_targets(const Tensor& wanted);
  void gather(bool picking);
  /// Rows of the cases from the first on, in order.
  void gather_in_order(std::size_t first, const Rows& now, DeviceArray<float>& to);
  void forward();
  void backward();
  void send_step();
  void launch_step(bool only_gradients);
  void prepare(std::span<const std::int64_t> chosen, std::span<const ImageShift> ways);
  void run_whole_step();

  std::int64_t most_features() const;  ///< of the inputs and all layers
  std::size_t evaluation_samples() const;
  void evaluate_soft(NetworkScore& score);
  DeviceArray<std::uint32_t> input_bits();
  DeviceArray<std::uint32_t> hard_bits();
  /// Of the cases from the first on.
  std::int64_t wrong_classes(const std::vector<int>& predicted, std::size_t first) const;

  std::vector<Tensor> in_layers(const DeviceArray<float>& flat) const;
  void from_layers(std::span<const Tensor> tensors, DeviceArray<float>& flat) const;
};

Network::State::State(std::span<const LutWires> all_wires, const NetworkPlan& wanted)
    : plan(wanted),
      rows(rows_for(wanted.batch)),
      logit_count(std::accumulate(all_wires.begin(), all_wires.end(), std::size_t{0},
                                  [&](std::size_t sum, const LutWires& layer) {
                                    return sum + index(layer.gates * wanted.logits_of(layer));
                                  })),
      optimiser(logit_count, wanted.optimiser),
      host_state(1),
      host_picked(index(wanted.batch)),
      outcome(1),
      state(1),
      host_moves(index(wanted.batch)),
      picked(index(wanted.batch)),
      moves(index(wanted.batch)) {
  if (plan.batch < 1 || plan.batch > most_samples) {
    fail("cuda", "expected a batch of 1 to {} cases, received {}", most_samples, plan.batch);
  }
  check_layers("cuda", all_wires, plan);
  for (const LutWires& layer : all_wires) {
    check_width(layer, rows);
    widest = std::max({widest, layer.gates, plan.classes});
  }
  for (const RowWires& layer : rows_of_layers(all_wires, has_classes() ? plan.classes : 0)) {
    add_layer(layer);
  }
  logits = DeviceArray<float>(logit_count);
  gradients = DeviceArray<float>(logit_count);
  masks = DeviceArray<float>(gates);
  input_mask = DeviceArray<float>(index(inputs()));
  coefficients = DeviceArray<float>(entries);
  sums = DeviceArray<float>(entries * index(rows.chunks));
  loss = DeviceArray<float>(1);
  not_finite = DeviceArray<std::uint32_t>(1);
  not_finite.clear();
  state.clear();
  add_passes();
  allocate_rows();
}

void Network::State::add_layer(const RowWires& layer_rows) {
  const LutWires& layer = layer_rows.wires;
  // Polynomials of two-input gates are read as vectors of four.
  if (!layers.empty() && layers.back().arity != layer.arity) entries = (entries + 3) / 4 * 4;
  wires.push_back(placed(layer_rows, static_cast<std::int32_t>(widest)));
  layers.push_back({.inputs = static_cast<int>(layer.inputs),
                    .gates = static_cast<int>(layer.gates),
                    .arity = layer.arity,
                    .first_gate = gates,
                    .first_entry = entries,
                    .pair_gates = wires.back().pair_gates.data(),
                    .pair_inputs = wires.back().pair_inputs.data(),
                    .pair_input_count = static_cast<int>(wires.back().pair_inputs.size()),
                    .first_reader = wires.back().first_reader.data(),
                    .readers = wires.back().readers.data(),
                    .sources = wires.back().sources.data(),
                    .source_rows = wires.back().source_rows.data(),
                    .output_rows = wires.back().output_rows.data()});
  output_rows.push_back(layer_rows.output_rows);
  logit_shapes.push_back({layer.gates, plan.logits_of(layer)});
  gates += index(layer.gates);
  entries += index(layer.gates) * layer.entries();
}

// Layers of one arity that follow one another lie side by side in every array. Gradients are linear
// in those of the outputs, so what layers above multiply them by may be multiplied here.
void Network::State::add_passes() {
  std::size_t first_logit = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i > 0 && layers[i].arity == layers[i - 1].arity && plan.gradient_factor == 1) {
      passes.back().gates += index(layers[i].gates);
    } else {
      GateUpdate pass{};
      pass.gates = index(layers[i].gates);
      pass.first_gate = layers[i].first_gate;
      pass.first_entry = layers[i].first_entry;
      pass.first_logit = first_logit;
      pass.arity = layers[i].arity;
      const auto layers_above = static_cast<double>(layers.size() - 1 - i);
      pass.factor = static_cast<float>(std::pow(plan.gradient_factor, layers_above));
      passes.push_back(pass);
    }
    first_logit += index(logit_shapes[i][0] * logit_shapes[i][1]);
  }
}

void Network::State::allocate_rows() {
  x = DeviceArray<float>(row_floats(inputs(), rows));
  std::size_t scratch_rows = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool is_summed = i + 1 == layers.size() && has_classes();
    y.emplace_back(is_summed ? 0 : row_floats(layers[i].gates, rows));
    y.back().clear();  // what lies between rows is read back with them
    if (i == 0) continue;
    if (layers[i].arity != 2) {
      scratch_rows = std::max(scratch_rows, index(layers[i].gates) * index(layers[i].arity));
    }
  }
  for (DeviceArray<float>& gradient : g) {
    gradient = DeviceArray<float>(row_floats(widest + 1, rows));
    gradient.clear();
  }
  slot_scratch = DeviceArray<float>(scratch_rows * index(rows.stride));
  if (has_classes()) {
    const auto per_class = static_cast<int>(outputs() / plan.classes);
    parts = (per_class + gates_per_part - 1) / gates_per_part;
    scores = DeviceArray<float>(row_floats(plan.classes * parts, rows));
  }
  loss_count = loss_parts(has_classes(), static_cast<int>(outputs()), rows);
  losses = DeviceArray<double>(index(loss_count));
}

LossCode Network::State::loss_code() const {
  return {.has_classes = has_classes(),
          .form = plan.loss.kind,
          .gamma = static_cast<float>(plan.loss.focal_gamma),
          .classes = static_cast<int>(plan.classes),
          .scale = static_cast<float>(1 / plan.temperature),
          .targets = targets.data(),
          .labels = labels.data(),
          .outputs = static_cast<int>(outputs()),
          .cases = cases,
          .picked = picks ? picked.data() : nullptr,
          .first = 0,
          .mean_over = rows.samples,
          .parts = parts,
          .scores = scores.data(),
          .state = state.data(),
          .not_finite = not_finite.data(),
          .smoothing = static_cast<float>(plan.smoothing),
          .predicted = nullptr};
}

GateUpdate Network::State::pass_code(GateUpdate pass, bool only_gradients) const {
  pass.parametrisation = plan.parametrisation;
  pass.chunks = rows.chunks;
  pass.entries = entries;
  pass.sums = sums.data();
  pass.masks = masks.data();
  pass.coefficients = coefficients.data();
  pass.logits = logits.data();
  pass.first = optimiser.first().data();
  pass.second = optimiser.second().data();
  pass.gradients = only_gradients ? gradients.data() : nullptr;
  pass.state = state.data();
  pass.not_finite = not_finite.data();
  pass.losses = losses.data();
  pass.loss_count = loss_count;
  pass.result = outcome.data();
  pass.loss = loss.data();
  return pass;
}

void Network::State::make_polynomials(float share) {
  for (const GateUpdate& pass : passes) {
    GateUpdate code = pass_code(pass, false);
    code.hard_share = share;
    check(make_coefficients(code, stream.get()), "make the tables");
  }
  made_share = share;
}

void Network::State::make_hard_as(float share) {
  if (made_share != share) make_polynomials(share);
}

CaseInputs Network::State::case_inputs() const {
  return {.cases = cases,
          .inputs = static_cast<int>(inputs()),
          .mask = input_mask.data(),
          .rows = has_samples() ? nullptr : data.data(),
          .bits = bits.data(),
          .bytes = bytes.data(),
          .numbers = numbers.data(),
          .features = static_cast<int>(feature_count),
          .height = static_cast<int>(height),
          .width = static_cast<int>(width)};
}

void Network::State::gather(bool picking) {
  check(gather_cases(case_inputs(), picking ? picked.data() : nullptr,
                     picking ? moves.data() : nullptr, 0, rows, x.data(), stream.get()),
        "gather a batch");
}

void Network::State::gather_in_order(std::size_t first, const Rows& now, DeviceArray<float>& to) {
  check(gather_cases(case_inputs(), nullptr, nullptr, first, now, to.data(), stream.get()),
        "gather cases");
}

void Network::State::forward() {
  const float* from = x.data();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool is_summed = i + 1 == layers.size() && has_classes();
    check(
        is_summed
            ? layer_scores(layers[i], coefficients.data(), from, rows,
                           static_cast<int>(plan.classes), parts, scores.data(), stream.get())
            : layer_forward(layers[i], coefficients.data(), from, rows, y[i].data(), stream.get()),
        "compute a layer");
    from = y[i].data();
  }
}

void Network::State::backward() {
  for (std::size_t i = layers.size(); i-- > 0;) {
    const LayerBackward code{.layer = layers[i],
                             .coefficients = coefficients.data(),
                             .x = i == 0 ? x.data() : y[i - 1].data(),
                             .g = g[i % 2].data(),
                             .gx = i == 0 ? nullptr : g[(i + 1) % 2].data(),
                             .slot_scratch = slot_scratch.data(),
                             .sums = sums.data(),
                             .entries = entries,
                             .state = state.data(),
                             .not_finite = not_finite.data()};
    check(layer_backward(code, rows, stream.get()), "compute the gradients of a layer");
  }
}

void Network::State::send_step() {
  check(cudaMemcpyAsync(state.data(), host_state.data(), sizeof(StepState), cudaMemcpyHostToDevice,
                        stream.get()),
        "copy to the device");
  if (!picks) return;
  check(cudaMemcpyAsync(picked.data(), host_picked.data(), index(rows.samples) * sizeof(int),
                        cudaMemcpyHostToDevice, stream.get()),
        "copy to the device");
  if (!has_samples()) return;
  check(cudaMemcpyAsync(moves.data(), host_moves.data(), index(rows.samples) * sizeof(ImageShift),
                        cudaMemcpyHostToDevice, stream.get()),
        "copy to the device");
}

void Network::State::launch_step(bool only_gradients) {
  if (picks) gather(true);
  forward();
  check(loss_and_gradient(loss_code(), y.back().data(), rows, g[(layers.size() + 1) % 2].data(),
                          losses.data(), loss_count, stream.get()),
        "compute the loss");
  backward();
  for (const GateUpdate& pass : passes) {
    check(update_gates(pass_code(pass, only_gradients), stream.get()), "update the logits");
  }
}

void Network::State::prepare(std::span<const std::int64_t> chosen,
                             std::span<const ImageShift> ways) {
  check_step("cuda", {chosen, ways}, rows.samples, static_cast<std::int64_t>(cases), has_pictures);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    host_picked.data()[i] = static_cast<int>(chosen[i]);
    host_moves.data()[i] = ways.empty() ? ImageShift{} : ways[i];
  }
  if (picks != !chosen.empty()) {
    picks = !chosen.empty();
    recording.forget();
    if (!picks) gather(false);
  }
  make_hard_as(hard_share);
  host_state.data()->stamp = ++stamp;
  host_state.data()->hard_share = hard_share;
}

// Where the norm or noise needs all gradients first, the optimiser goes through them by itself.
void Network::State::run_whole_step() {
  if (!recording.is_made()) {
    recording.record(stream.get(), [&] { launch_step(!updates_itself()); });
  }
  send_step();
  recording.replay(stream.get());
}

// ---------------------------------------------------------------------------------------------
// Evaluation

std::int64_t Network::State::most_features() const {
  std::int64_t most = inputs();
  for (const NetworkLayer& layer : layers) most = std::max<std::int64_t>(most, layer.gates);
  return most;
}

std::size_t Network::State::evaluation_samples() const {
  const std::size_t fitting = evaluation_bytes / (2 * sizeof(float) * index(most_features()));
  constexpr std::size_t least = chunk_samples;
  return std::min(
      {cases, std::max(least, fitting / chunk_samples * chunk_samples), std::size_t{most_samples}});
}

void Network::State::evaluate_soft(NetworkScore& score) {
  const std::size_t samples = evaluation_samples();
  const Rows whole = rows_for(static_cast<std::int64_t>(samples));
  const std::int64_t features = most_features();
  DeviceArray<float> buffers[2] = {DeviceArray<float>(row_floats(features, whole)),
                                   DeviceArray<float>(row_floats(features, whole))};
  DeviceArray<float> part_scores(has_classes() ? row_floats(plan.classes * parts, whole)
                                               : std::size_t{0});
  for (std::size_t first = 0; first < cases; first += samples) {
    const Rows now = rows_for(static_cast<std::int64_t>(std::min(samples, cases - first)));
    gather_in_order(first, now, buffers[0]);
    const float* last = buffers[layers.size() % 2].data();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool is_summed = i + 1 == layers.size() && has_classes();
      check(is_summed ? layer_scores(layers[i], coefficients.data(), buffers[i % 2].data(), now,
                                     static_cast<int>(plan.classes), parts, part_scores.data(),
                                     stream.get())
                      : layer_forward(layers[i], coefficients.data(), buffers[i % 2].data(), now,
                                      buffers[(i + 1) % 2].data(), stream.get()),
            "compute a layer");
    }
    LossCode code = loss_code();
    code.picked = nullptr;
    code.first = first;
    code.mean_over = static_cast<int>(cases);
    code.scores = part_scores.data();
    code.not_finite = nullptr;
    code.smoothing = 0;  // scores of different smoothing compare
    DeviceArray<int> predicted(has_classes() ? index(now.samples) : std::size_t{0});
    code.predicted = has_classes() ? predicted.data() : nullptr;
    const int count = loss_parts(code.has_classes, code.outputs, now);
    DeviceArray<double> part_losses(index(count));
    check(loss_and_gradient(code, last, now, nullptr, part_losses.data(), count, stream.get()),
          "compute the loss");
    DeviceArray<WordMistakes> mistakes(index(now.samples + 31) / 32);
    if (!has_classes()) {
      check(compare_soft(last, now, targets.data(), cases, first, code.outputs, mistakes.data(),
                         stream.get()),
            "compare outputs");
    }
    stream.wait();
    const std::vector<double> values = part_losses.values();
    score.soft_loss += std::accumulate(values.begin(), values.end(), 0.0);
    if (has_classes()) {
      score.soft_wrong_cases += wrong_classes(predicted.values(), first);
      continue;
    }
    for (const WordMistakes& word : mistakes.values()) score.soft_wrong_cases += word.cases;
  }
}

std::int64_t Network::State::wrong_classes(const std::vector<int>& predicted,
                                           std::size_t first) const {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    wrong += predicted[i] != host_labels[first + i] ? 1 : 0;
  }
  return wrong;
}

DeviceArray<std::uint32_t> Network::State::input_bits() {
  const std::size_t words = (cases + 31) / 32;
  const std::size_t samples = evaluation_samples();  // whole words, but for the last ones
  DeviceArray<float> part(row_floats(inputs(), rows_for(static_cast<std::int64_t>(samples))));
  DeviceArray<std::uint32_t> result(words * index(inputs()));
  for (std::size_t first = 0; first < cases; first += samples) {
    const Rows now = rows_for(static_cast<std::int64_t>(std::min(samples, cases - first)));
    gather_in_order(first, now, part);
    check(pack_bits(part.data(), static_cast<int>(inputs()), index(now.samples), index(now.stride),
                    result.data() + first / 32, words, stream.get()),
          "pack the inputs");
  }
  stream.wait();  // before the part goes back to the pool
  return result;
}

DeviceArray<std::uint32_t> Network::State::hard_bits() {
  const std::size_t words = (cases + 31) / 32;
  DeviceArray<std::uint64_t> tables(gates);
  for (const GateUpdate& pass : passes) {
    check(harden(pass_code(pass, false), tables.data(), stream.get()), "harden the gates");
  }
  DeviceArray<std::uint32_t> now = input_bits();
  for (const NetworkLayer& layer : layers) {
    DeviceArray<std::uint32_t> next(words * index(layer.gates));
    check(hard_layer(layer, tables.data(), now.data(), words, next.data(), stream.get()),
          "compute a hard layer");
    stream.wait();  // before the inputs go back to the pool
    now = std::move(next);
  }
  return now;
}

// ---------------------------------------------------------------------------------------------

std::vector<Tensor> Network::State::in_layers(const DeviceArray<float>& flat) const {
  stream.wait();
  std::vector<Tensor> result;
  std::size_t first = 0;
  for (const Shape& shape : logit_shapes) {
    Tensor tensor(shape, DType::float32);
    copy_to_host(tensor.mutable_data(), flat.data() + first, tensor.bytes());
    first += index(tensor.size());
    result.push_back(std::move(tensor));
  }
  return result;
}

void Network::State::from_layers(std::span<const Tensor> tensors, DeviceArray<float>& flat) const {
  check_of_layers("cuda", tensors, logit_shapes);
  stream.wait();
  std::size_t first = 0;
  for (const Tensor& tensor : tensors) {
    copy_to_device(flat.data() + first, tensor.data(), tensor.bytes());
    first += index(tensor.size());
  }
}

void Network::State::set_targets(const Tensor& wanted) {
  if (has_classes()) {
    const auto classes = wanted.values<std::int32_t>();
    labels = DeviceArray<int>(classes.size());
    labels.upload(classes.data(), classes.size());
    host_labels.assign(classes.begin(), classes.end());
  } else {
    targets = on_device<float>(wanted);
  }
  picks = true;  // so that the first step in order gathers its batch
  recording.forget();
}

Network::Network(std::span<const LutWires> layers, const NetworkPlan& plan)
    : state_(std::make_unique<State>(layers, plan)) {}
Network::~Network() = default;

void Network::set_cases(const Tensor& inputs, const Tensor& targets) {
  State& s = *state_;
  check_cases("cuda", inputs, targets, s.inputs(), s.outputs(), s.plan);
  s.stream.wait();
  s.cases = index(inputs.shape()[1]);
  s.data = on_device<float>(inputs);
  s.bits = {};
  s.bytes = {};
  s.numbers = {};
  s.has_pictures = false;
  s.set_targets(targets);
}

void Network::set_samples(const BitSamples& samples, const Tensor& targets) {
  State& s = *state_;
  check_samples("cuda", samples, targets, s.inputs(), s.outputs(), s.plan);
  s.stream.wait();
  s.cases = index(samples.features.shape()[0]);
  s.feature_count = samples.features.shape()[1];
  s.has_pictures = samples.height > 0;
  s.height = s.has_pictures ? samples.height : 1;
  s.width = s.has_pictures ? samples.width : 1;
  s.bits = DeviceArray<InputBit>(input_bits_of(samples));
  s.bytes = samples.features.dtype() == DType::uint8 ? on_device<std::uint8_t>(samples.features)
                                                     : DeviceArray<std::uint8_t>();
  s.numbers = samples.features.dtype() == DType::float32 ? on_device<float>(samples.features)
                                                         : DeviceArray<float>();
  s.data = {};
  s.set_targets(targets);
}

void Network::set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks,
                             const Tensor& input_mask) {
  State& s = *state_;
  check_masks("cuda", masks, s.gates_of_layers(), input_mask, s.inputs());
  s.from_layers(logits, s.logits);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    copy_to_device(s.masks.data() + s.layers[i].first_gate, masks[i].data(), masks[i].bytes());
  }
  s.input_mask.upload(input_mask.values<float>().data(), s.input_mask.size());
  s.make_polynomials(s.hard_share);
  s.picks = true;  // the batch may be masked otherwise now
  s.recording.forget();
  s.stream.wait();
}

std::vector<Tensor> Network::logits() const { return state_->in_layers(state_->logits); }

void Network::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  state_->from_layers(first, state_->optimiser.first());
  state_->from_layers(second, state_->optimiser.second());
}
std::vector<Tensor> Network::first_moments() const {
  return state_->in_layers(state_->optimiser.first());
}
std::vector<Tensor> Network::second_moments() const {
  return state_->in_layers(state_->optimiser.second());
}

void Network::set_hard_share(double share) { state_->hard_share = static_cast<float>(share); }

NetworkStep Network::step(std::span<const std::int64_t> picked, std::int64_t step,
                          double learning_rate, std::span<const ImageShift> moves) {
  State& s = *state_;
  s.prepare(picked, moves);
  s.host_state.data()->factors = s.optimiser.factors(step, learning_rate);
  s.run_whole_step();
  bool finite = true;
  if (!s.updates_itself()) {
    s.optimiser.step(s.logits.data(), s.gradients.data(), s.loss.data(), step, learning_rate,
                     s.stream.get());
    s.make_polynomials(s.hard_share);
    s.stream.wait();
    int flag = 0;
    copy_to_host(&flag, s.optimiser.finite(), sizeof(flag));
    finite = flag != 0;
  }
  s.stream.wait();
  const StepOutcome& outcome = *s.outcome.data();
  return {.loss = outcome.loss, .finite = finite && outcome.finite != 0};
}

double Network::gradients(std::span<const std::int64_t> picked,
                          std::span<const ImageShift> moves) {
  State& s = *state_;
  s.prepare(picked, moves);
  s.send_step();
  s.launch_step(true);
  s.stream.wait();
  return s.outcome.data()->loss;
}

std::vector<Tensor> Network::logit_gradients() const {
  return state_->in_layers(state_->gradients);
}

std::vector<Tensor> Network::outputs() const {
  const State& s = *state_;
  s.stream.wait();
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < s.layers.size(); ++i) {
    if (s.y[i].size() == 0) continue;
    const std::vector<float> rows = s.y[i].values();
    Tensor tensor({s.layers[i].gates, s.rows.samples}, DType::float32);
    const auto to = tensor.mutable_values<float>();
    const std::size_t samples = index(s.rows.samples);
    for (std::size_t at = 0; at < to.size(); ++at) {
      const std::size_t row = index(s.output_rows[i][at / samples]);
      to[at] = rows[row * index(s.rows.stride) + at % samples];
    }
    result.push_back(std::move(tensor));
  }
  return result;
}

NetworkScore Network::evaluate() {
  State& s = *state_;
  NetworkScore score;
  s.make_hard_as(0);
  s.evaluate_soft(score);
  const DeviceArray<std::uint32_t> received = s.hard_bits();
  if (s.has_classes()) {
    DeviceArray<int> predicted(s.cases);
    check(classes_of_bits(received.data(), static_cast<int>(s.outputs()),
                          static_cast<int>(s.plan.classes), s.cases, predicted.data(),
                          s.stream.get()),
          "count ones");
    s.stream.wait();
    score.hard_wrong_cases = s.wrong_classes(predicted.values(), 0);
    score.hard_wrong_bits = score.hard_wrong_cases;
    return score;
  }
  DeviceArray<std::uint32_t> wanted(received.size());
  DeviceArray<WordMistakes> mistakes((s.cases + 31) / 32);
  check(pack_bits(s.targets.data(), static_cast<int>(s.outputs()), s.cases, s.cases, wanted.data(),
                  (s.cases + 31) / 32, s.stream.get()),
        "pack the targets");
  check(compare_bits(received.data(), wanted.data(), static_cast<int>(s.outputs()), s.cases,
                     mistakes.data(), s.stream.get()),
        "compare bits");
  s.stream.wait();
  for (const WordMistakes& word : mistakes.values()) {
    score.hard_wrong_bits += word.bits;
    score.hard_wrong_cases += word.cases;
  }
  return score;
}

Tensor Network::hard_outputs() {
  State& s = *state_;
  const std::vector<std::uint32_t> bits = s.hard_bits().values();
  const std::size_t words = (s.cases + 31) / 32;
  Tensor result({s.outputs(), static_cast<std::int64_t>(s.cases)}, DType::uint8);
  const auto to = result.mutable_values<std::uint8_t>();
  for (std::size_t at = 0; at < to.size(); ++at) {
    const std::size_t sample = at % s.cases;
    to[at] =
        static_cast<std::uint8_t>((bits[at / s.cases * words + sample / 32] >> (sample % 32)) & 1U);
  }
  return result;
}

double Network::milliseconds(int count) {
  State& s = *state_;
  if (!s.recording.is_made()) fail("cuda", "expected a step before it is timed, received none");
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "make an event");
  check(cudaEventCreate(&end), "make an event");
  check(cudaEventRecord(begin, s.stream.get()), "record an event");
  for (int i = 0; i < count; ++i) s.run_whole_step();
  check(cudaEventRecord(end, s.stream.get()), "record an event");
  s.stream.wait();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "read an event");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds;
}

std::unique_ptr<DeviceNetwork> make_network(int index, std::span<const LutWires> layers,
                                            const NetworkPlan& plan) {
  select_device(index);
  return std::make_unique<Network>(layers, plan);
}

}  // namespace boolgrad::cuda

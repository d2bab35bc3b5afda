#include "boolgrad/backend/cuda/automaton.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "boolgrad/backend/cuda/automaton_code.h"
#include "boolgrad/backend/cuda/check.h"

namespace boolgrad::cuda {
namespace {

int rounded_up(int value, int step) { return (value + step - 1) / step * step; }

}  // namespace

struct Automaton::State {
  Code code{};
  int blocks = 1;
  int threads = block_threads;
  std::size_t shared_bytes = 0;
  bool work_is_shared = false;
  bool tables_are_shared = false;
  std::vector<Shape> logit_shapes;
  DeviceArray<ushort2> sources;
  DeviceArray<std::uint16_t> first_reader;
  DeviceArray<Reader> readers;
  DeviceArray<float> logits, states, read, target, block_losses, loss, logit_gradients, scratch;
  DeviceArray<float4> coefficients, block_sums;
  DeviceArray<std::uint8_t> fire;
  DeviceArray<unsigned> barrier;

  void add_layers(const AutomatonShape& shape);
  void place_rows(const AutomatonShape& shape);
  void choose_tile();
  void place_memory();
  void launch();
};

void Automaton::State::add_layers(const AutomatonShape& shape) {
  std::vector<ushort2> all_sources;
  std::vector<std::uint16_t> first;
  std::vector<Reader> all_readers;
  code.perceive_layers = static_cast<int>(shape.perceive.size());
  for (const auto part : {shape.perceive, shape.update}) {
    for (const LutWires& wires : part) {
      if (code.layers == most_layers || wires.arity != 2 || wires.gates >= second_input ||
          wires.consumers.size() > 65535 || wires.inputs > 65535) {
        fail("cuda",
             "expected at most {} layers of two-input gates, each below {} gates, received "
             "others",
             most_layers, second_input);
      }
      Layer& layer = code.layer[code.layers++];
      layer = {static_cast<int>(wires.inputs),
               static_cast<int>(wires.gates),
               code.gates,
               static_cast<int>(first.size()),
               static_cast<int>(all_readers.size()),
               1,
               -1,
               0};
      if (std::has_single_bit(static_cast<unsigned>(layer.gates))) {
        layer.gate_bits = std::countr_zero(static_cast<unsigned>(layer.gates));
      }
      code.gates += layer.gates;
      for (int gate = 0; gate < layer.gates; ++gate) {
        all_sources.push_back(
            {static_cast<unsigned short>(wires.sources[static_cast<std::size_t>(gate) * 2]),
             static_cast<unsigned short>(wires.sources[static_cast<std::size_t>(gate) * 2 + 1])});
      }
      std::size_t longest = 0;
      for (std::size_t input = 0; input <= static_cast<std::size_t>(layer.inputs); ++input) {
        first.push_back(static_cast<std::uint16_t>(wires.first_consumer[input]));
        if (input > 0) {
          longest =
              std::max(longest, wires.first_consumer[input] - wires.first_consumer[input - 1]);
        }
      }
      for (std::size_t k = 0; k < wires.consumers.size(); ++k) {
        const Consumer& consumer = wires.consumers[k];
        all_readers.push_back(
            {static_cast<std::uint16_t>(consumer.gate | (consumer.slot == 1 ? second_input : 0)),
             static_cast<std::uint16_t>(wires.partners[k])});
      }
      while (layer.lanes < 8 && static_cast<std::size_t>(layer.lanes) * 8 < longest)
        layer.lanes *= 2;
    }
  }
  code.reader_count = static_cast<int>(all_readers.size());
  code.first_reader_count = static_cast<int>(first.size());
  sources = DeviceArray<ushort2>(all_sources);
  first_reader = DeviceArray<std::uint16_t>(first);
  readers = DeviceArray<Reader>(all_readers);
}

void Automaton::State::place_rows(const AutomatonShape& shape) {
  int row = code.channels * neighbourhood;
  for (int l = 0; l + 1 < code.perceive_layers; ++l) {
    code.layer[l].act_row = row;
    row += code.channels * code.layer[l].gates;
    code.perceive_width = std::max(code.perceive_width, code.channels * code.layer[l].gates);
  }
  code.perceive_width = std::max(code.perceive_width, code.channels * neighbourhood);
  code.input_rows = row;
  code.layer[code.perceive_layers - 1].act_row = row + code.channels;
  row += static_cast<int>(shape.update.front().inputs);
  for (int l = code.perceive_layers; l < code.layers; ++l) {
    code.layer[l].act_row = row;
    row += code.layer[l].gates;
    code.update_width = std::max({code.update_width, code.layer[l].inputs, code.layer[l].gates});
  }
  code.act_rows = row;
}

/// As few cells a tile as keep every multiprocessor busy.
void Automaton::State::choose_tile() {
  int device = 0;
  check(cudaGetDevice(&device), "find the device");
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "count multiprocessors");
  int most_shared = 0;
  check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "find the size of shared memory");
  code.tile = 4;
  code.tile_bits = 2;
  while (code.tile < 64 && (code.cells + code.tile - 1) / code.tile > processors) {
    code.tile *= 2;
    ++code.tile_bits;
  }
  code.vector_bits = code.tile_bits - 2;
  code.tiles = (code.cells + code.tile - 1) / code.tile;
  blocks = std::min(code.tiles, processors);
  place_memory();
  const auto most = static_cast<std::size_t>(most_shared) / 4;
  const auto work = static_cast<std::size_t>(code.work.floats);
  const auto tables = static_cast<std::size_t>(code.tables.floats);
  work_is_shared = work <= most;
  tables_are_shared = tables + (work_is_shared ? work : 0) <= most;
  if (!tables_are_shared && tables <= most && work > tables) {
    // Only one part fits: what every tile reads serves more.
    work_is_shared = false;
    tables_are_shared = true;
  }
  std::size_t used = (work_is_shared ? work : 0) + (tables_are_shared ? tables : 0);
  const auto sums = static_cast<std::size_t>(code.gates) * 4;
  code.sums_are_shared = used + sums <= most;
  if (code.sums_are_shared) used += sums;
  shared_bytes = used * 4;
  code.scratch_floats = code.work.floats + code.tables.floats + code.gates * 4;
  // Waiting for one another costs more the more threads there are; far memory needs them all.
  threads = work_is_shared ? block_threads / 2 : block_threads;
}

/// Where the parts of a block's memory lie, in floats, each on a boundary of 16 bytes.
void Automaton::State::place_memory() {
  int at = 0;
  const auto take = [&](int floats) {
    const int place = at;
    at += rounded_up(floats, 4);
    return place;
  };
  code.work.around = take(neighbourhood * code.tile);
  // The loss is added up in the place of the activations, an element a thread.
  code.work.acts = take(std::max(code.act_rows * code.tile, block_threads));
  code.work.g_state = take(code.channels * code.tile);
  for (int& rows : code.work.g_update) rows = take(code.update_width * code.tile);
  // Perception goes back when the activations of the update are no longer needed.
  const int update_first = code.input_rows + code.layer[code.perceive_layers].inputs;
  const int update_acts = (code.act_rows - update_first) * code.tile;
  const int perceive = rounded_up(code.perceive_width * code.tile, 4);
  const bool fits = 2 * perceive <= update_acts;
  for (int i = 0; i < 2; ++i) {
    code.work.g_perceive[i] =
        fits ? code.work.acts + rounded_up(update_first * code.tile, 4) + i * perceive
             : take(perceive);
  }
  code.work.floats = at;
  at = 0;
  code.tables.coefficients = take(code.gates * 4);
  code.tables.sources = take(code.gates);
  code.tables.readers = take(code.reader_count);
  code.tables.first_reader = take((code.first_reader_count + 1) / 2);
  code.tables.layers = take(code.layers * static_cast<int>(sizeof(Layer) / sizeof(float)));
  code.tables.floats = at;
}

void Automaton::State::launch() {
  barrier.clear();
  check(launch_automaton(code, blocks, shared_bytes, threads, work_is_shared, tables_are_shared),
        "launch a training step");
}

Automaton::Automaton(const AutomatonShape& shape, std::span<const Tensor> logits)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  Code& code = s.code;
  code.channels = static_cast<int>(shape.channels);
  code.height = static_cast<int>(shape.height);
  code.width = static_cast<int>(shape.width);
  code.cells = static_cast<int>(shape.batch) * code.height * code.width;
  code.steps = static_cast<int>(shape.steps);
  code.loss_channels = static_cast<int>(shape.loss_channels);
  code.periodic = shape.periodic;
  s.add_layers(shape);
  s.place_rows(shape);
  s.choose_tile();

  std::vector<float> all;
  for (const Tensor& layer : logits) {
    const auto values = layer.values<float>();
    all.insert(all.end(), values.begin(), values.end());
    s.logit_shapes.push_back(layer.shape());
  }
  const auto gates = static_cast<std::size_t>(code.gates);
  const std::size_t cells =
      static_cast<std::size_t>(code.channels) * static_cast<std::size_t>(code.cells);
  s.logits = DeviceArray<float>(all);
  s.logit_gradients = DeviceArray<float>(gates * 16);
  s.coefficients = DeviceArray<float4>(gates);
  s.block_sums = DeviceArray<float4>(gates * static_cast<std::size_t>(s.blocks));
  s.block_losses = DeviceArray<float>(static_cast<std::size_t>(s.blocks));
  s.loss = DeviceArray<float>(1);
  s.states = DeviceArray<float>((static_cast<std::size_t>(code.steps) + 1) * cells);
  s.read = DeviceArray<float>(2 * neighbourhood * cells);
  s.target = DeviceArray<float>(static_cast<std::size_t>(code.loss_channels) *
                                static_cast<std::size_t>(code.cells));
  s.scratch = DeviceArray<float>(static_cast<std::size_t>(s.blocks) *
                                 static_cast<std::size_t>(code.scratch_floats));
  s.fire = DeviceArray<std::uint8_t>(static_cast<std::size_t>(code.steps) *
                                     static_cast<std::size_t>(code.cells));
  s.barrier = DeviceArray<unsigned>(1);
  code.sources = s.sources.data();
  code.first_reader = s.first_reader.data();
  code.readers = s.readers.data();
  code.logits = s.logits.data();
  code.coefficients = s.coefficients.data();
  code.states = s.states.data();
  code.read = s.read.data();
  code.target = s.target.data();
  code.block_sums = s.block_sums.data();
  code.block_losses = s.block_losses.data();
  code.loss = s.loss.data();
  code.logit_gradients = s.logit_gradients.data();
  code.barrier = s.barrier.data();
  code.scratch = s.scratch.data();
}

Automaton::~Automaton() = default;

double Automaton::gradients(const Tensor& initial, const Tensor& target, const Tensor& fire) {
  State& s = *state_;
  const auto upload = [](auto& to, auto values) { to.upload(values.data(), values.size()); };
  upload(s.states, initial.values<float>());
  upload(s.target, target.values<float>());
  s.code.fire = nullptr;
  if (fire.defined()) {
    upload(s.fire, fire.values<std::uint8_t>());
    s.code.fire = s.fire.data();
  }
  s.launch();
  float loss = 0;
  s.loss.download(&loss, 1);
  return loss;
}

std::vector<Tensor> Automaton::logit_gradients() const {
  std::vector<float> all(state_->logit_gradients.size());
  state_->logit_gradients.download(all.data(), all.size());
  std::vector<Tensor> gradients;
  std::size_t at = 0;
  for (const Shape& shape : state_->logit_shapes) {
    Tensor gradient(shape, DType::float32);
    const auto size = static_cast<std::size_t>(gradient.size());
    std::memcpy(gradient.mutable_data(), all.data() + at, size * sizeof(float));
    gradients.push_back(gradient);
    at += size;
  }
  return gradients;
}

Tensor Automaton::states() const {
  const Code& code = state_->code;
  Tensor states({code.steps + 1, code.channels, code.cells}, DType::float32);
  state_->states.download(states.mutable_values<float>().data(), state_->states.size());
  return states;
}

double Automaton::milliseconds(int count) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "make an event");
  check(cudaEventCreate(&end), "make an event");
  check(cudaEventRecord(begin), "record an event");
  for (int i = 0; i < count; ++i) state_->launch();
  check(cudaEventRecord(end), "record an event");
  check(cudaEventSynchronize(end), "wait for the device");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "read the time");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds;
}

}  // namespace boolgrad::cuda

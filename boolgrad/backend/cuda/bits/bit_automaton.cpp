#include "boolgrad/backend/cuda/bits/bit_automaton.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/backend/cuda/bits/arguments.h"
#include "boolgrad/backend/cuda/bits/ptx.h"
#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/cuda/runtime/stream.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::cuda {
namespace {

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device), "query the current device");
  check(cudaDeviceGetAttribute(&value, which, device), "query a device attribute");
  return value;
}

BitLayout layout_of(const BitShape& shape) {
  const std::int64_t pitch = (shape.width + 63) / 64 * 2;
  const double bytes = 4.0 * static_cast<double>(shape.channels) *
                       static_cast<double>(shape.batch) * static_cast<double>(shape.height) *
                       static_cast<double>(pitch);
  constexpr double max_bytes = 0x1.0p31;
  if (!(bytes < max_bytes)) {
    fail("cuda", "expected grids smaller than {:.0f} bytes, received {} channels of {} grids {}x{}",
         max_bytes, shape.channels, shape.batch, shape.height, shape.width);
  }
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  return {u32(shape.channels),
          u32(shape.batch),
          u32(shape.height),
          u32(shape.width),
          u32((shape.width + 31) / 32),
          u32(pitch),
          u32(shape.batch * shape.height * pitch),
          shape.periodic};
}

/// A program that owns its tables.
class OwnedCode {
 public:
  explicit OwnedCode(const BitProgramView& code)
      : inputs_(code.inputs.begin(), code.inputs.end()),
        runs_(code.runs.begin(), code.runs.end()),
        steps_(code.steps.begin(), code.steps.end()),
        outputs_(code.outputs.begin(), code.outputs.end()),
        constants_(code.constants.begin(), code.constants.end()),
        slots_(code.slots),
        row_words_(code.row_words) {}

  BitProgramView view() const {
    return {inputs_, runs_, steps_, outputs_, constants_, slots_, row_words_};
  }

 private:
  std::vector<BitPort> inputs_;
  std::vector<BitRun> runs_;
  std::vector<BitStep> steps_;
  std::vector<BitPort> outputs_;
  std::vector<BitConstant> constants_;
  std::size_t slots_;
  std::size_t row_words_;
};

/// The work per word: reads, operations and writes.
double length_of(const BitProgramView& code) {
  return static_cast<double>(code.inputs.size() + code.steps.size() + code.outputs.size());
}

/// Words per thread of the compiled program. Several words share their reads, as long as the values
/// of all of them fit in registers.
int compiled_rows(const BitProgramView& code) {
  constexpr std::size_t max_slots = 100;
  return code.slots <= max_slots ? 4 : 1;
}

/// A step compiled by the driver.
class CompiledStep {
 public:
  /// Stays empty if the driver has no compiler.
  CompiledStep(const BitProgramView& code, const BitLayout& layout, bool fires) {
    rows_ = compiled_rows(code);
    const std::string text = step_ptx(code, layout, rows_, fires);
    const cudaError_t error =
        cudaLibraryLoadData(&library_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == cudaErrorJitCompilerNotFound) {
      cudaGetLastError();  // clears the sticky error
      return;
    }
    check(error, "compile a program");
    check(cudaLibraryGetKernel(&kernel_, library_, step_kernel), "look up the compiled program");
    const auto rows = static_cast<std::uint32_t>(rows_);
    const std::uint32_t positions =
        layout.batch * ((layout.height + rows - 1) / rows) * layout.words;
    blocks_ = (positions + threads - 1) / threads;
  }
  ~CompiledStep() {
    if (kernel_ != nullptr) cudaLibraryUnload(library_);
  }
  CompiledStep(const CompiledStep&) = delete;
  CompiledStep& operator=(const CompiledStep&) = delete;

  explicit operator bool() const { return kernel_ != nullptr; }

  void run(BitStates states, cudaStream_t stream) const {
    void* arguments[] = {&states.from, &states.to, &states.fire};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(blocks_), dim3(threads),
                           arguments, 0, stream),
          "take a step");
  }

 private:
  static constexpr unsigned threads = 128;
  int rows_ = 1;
  unsigned blocks_ = 0;
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

/// A program's tables on the device, run by the interpreter.
class InterpretedStep {
 public:
  InterpretedStep(const BitProgramView& code, const BitLayout& layout) : layout_(layout) {
    const std::uint32_t apart = choose_launch(std::max<std::size_t>(1, code.slots));
    std::vector<BitSource> sources;
    for (const BitPort& port : code.inputs) {
      const auto position = static_cast<std::int32_t>(port.index % 9);
      sources.push_back({port.index / 9, position / 3 - 1, position % 3 - 1, port.slot * apart});
    }
    std::vector<uint2> runs;
    for (const BitRun& run : code.runs) {
      const auto kind = static_cast<unsigned>(run.outer) * static_cast<unsigned>(bit_inners) +
                        static_cast<unsigned>(run.inner);
      runs.push_back({kind, run.count});
    }
    std::vector<uint4> steps;
    for (const BitStep& step : code.steps) {
      steps.push_back({step.out * apart, step.a * apart, step.b * apart, step.c * apart});
    }
    steps.push_back({});
    std::vector<BitSink> sinks;
    for (const BitPort& port : code.outputs) {
      sinks.push_back({port.index, port.slot * apart, ~0U, port.complemented ? ~0U : 0U});
    }
    for (const BitConstant& constant : code.constants) {
      sinks.push_back({constant.output, 0, 0, constant.value ? ~0U : 0U});
    }
    sources_ = DeviceArray<BitSource>(sources);
    runs_ = DeviceArray<uint2>(runs);
    steps_ = DeviceArray<uint4>(steps);
    sinks_ = DeviceArray<BitSink>(sinks);
    tables_ = {sources_.data(),
               runs_.data(),
               steps_.data(),
               sinks_.data(),
               static_cast<std::uint32_t>(sources.size()),
               static_cast<std::uint32_t>(runs.size()),
               static_cast<std::uint32_t>(sinks.size())};
  }

  void run(const BitStates& states, cudaStream_t stream) const {
    check(interpret_bits(layout_, tables_, states, launch_, stream), "take a step");
  }

 private:
  /// Returns the distance between a thread's slots, in bytes.
  std::uint32_t choose_launch(std::size_t slots) {
    constexpr std::size_t threads = 128;
    const auto max_shared =
        static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    const auto bytes = [&](std::size_t rows) {
      return slots * threads * rows * sizeof(std::uint32_t);
    };
    // Four words per thread take four times the memory but amortise reading the program. Worth it
    // if two blocks still fit on a multiprocessor.
    const std::uint32_t rows = bytes(4) * 2 <= max_shared ? 4 : 1;
    const std::size_t positions =
        std::size_t{layout_.batch} * ((layout_.height + rows - 1) / rows) * layout_.words;
    const bool shared = bytes(rows) <= max_shared;
    std::size_t blocks = (positions + threads - 1) / threads;
    if (!shared) {
      // Just enough threads to keep the device busy, since each has its own slots.
      constexpr std::size_t blocks_per_processor = 4;
      constexpr std::size_t max_scratch = std::size_t{1} << 30;
      const auto processors = static_cast<std::size_t>(attribute(cudaDevAttrMultiProcessorCount));
      blocks = std::min({blocks, processors * blocks_per_processor,
                         std::max<std::size_t>(1, max_scratch / bytes(rows))});
      scratch_ = DeviceArray<std::uint32_t>(slots * blocks * threads * rows);
    }
    launch_ = {static_cast<int>(rows), static_cast<int>(blocks), static_cast<int>(threads),
               shared ? bytes(rows) : 0, shared ? nullptr : scratch_.data()};
    return static_cast<std::uint32_t>((shared ? 1 : blocks) * threads * rows *
                                      sizeof(std::uint32_t));
  }

  BitLayout layout_;
  DeviceArray<BitSource> sources_;
  DeviceArray<uint2> runs_;
  DeviceArray<uint4> steps_;
  DeviceArray<BitSink> sinks_;
  DeviceArray<std::uint32_t> scratch_;
  BitTables tables_{};
  BitLaunch launch_{};
};

}  // namespace

struct BitAutomaton::State {
  State(int index, const BitProgramView& from, const BitShape& shape, BitExecution how)
      : device(selected(index)),
        code(from),
        layout(layout_of(shape)),
        interpreted(from, layout),
        execution(how),
        now(std::size_t{layout.channels} * layout.channel_words),
        next(now.size()) {
    // The padding words are never written.
    now.clear();
    next.clear();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { cudaSetDevice(device); }

  void select() const { select_device(device); }

  /// Compiles the program once that pays off.
  void prepare(bool fires) {
    std::unique_ptr<CompiledStep>& fast = compiled[fires ? 1 : 0];
    if (fast || !compiling_pays()) return;
    fast = std::make_unique<CompiledStep>(code.view(), layout, fires);
    chain.reset();
  }

  void step(const std::uint32_t* fires) {
    const std::unique_ptr<CompiledStep>& fast = compiled[fires == nullptr ? 0 : 1];
    const BitStates states{now.data(), next.data(), fires};
    if (fast && *fast) fast->run(states, stream.get());
    else interpreted.run(states, stream.get());
    std::swap(now, next);
  }

  /// An even number of steps, so that the buffers end where they began.
  static constexpr std::int64_t chained = 32;

  void step_chained() {
    if (!chain.is_captured() || chain_start != now.data()) {
      chain_start = now.data();
      chain.capture(stream.get(), [&] {
        for (std::int64_t i = 0; i < chained; ++i) step(nullptr);
      });
    }
    chain.replay(stream.get());
  }

  /// Whether interpreting has taken about as long as compiling would. A run then takes at most
  /// twice the optimal time.
  bool compiling_pays() const {
    if (execution != BitExecution::automatic) return execution == BitExecution::compiled;
    // In words times operations. An H200 interprets 8e11 per second, so compiling costs 15 ms plus
    // 1/8 ms per line.
    constexpr double start = 1.2e10;
    constexpr double per_line = 1e8;
    const double length = length_of(code.view());
    const double words = static_cast<double>(layout.batch) * layout.height * layout.words;
    return steps * words * length > start + per_line * length * compiled_rows(code.view());
  }

  /// Copies between host rows, with one extra row above and below each grid, and device rows,
  /// without.
  void copy(void* to, const void* from, bool to_device) const {
    const std::size_t row = layout.pitch * sizeof(std::uint32_t);
    const std::size_t grid = layout.height * row;
    const std::size_t host_grid = grid + 2 * row;
    const std::size_t grids = std::size_t{layout.channels} * layout.batch;
    if (to_device) {
      check(cudaMemcpy2D(to, grid, static_cast<const char*>(from) + row, host_grid, grid, grids,
                         cudaMemcpyHostToDevice),
            "copy to the device");
    } else {
      check(cudaMemcpy2D(static_cast<char*>(to) + row, host_grid, from, grid, grid, grids,
                         cudaMemcpyDeviceToHost),
            "copy from the device");
    }
  }

  int device;
  OwnedCode code;
  BitLayout layout;
  InterpretedStep interpreted;
  BitExecution execution;
  /// One for steps in which all cells fire, one for random firing; null until needed.
  std::array<std::unique_ptr<CompiledStep>, 2> compiled;
  double steps = 0;  ///< taken so far
  DeviceArray<std::uint32_t> now;
  DeviceArray<std::uint32_t> next;
  DeviceArray<std::uint32_t> fire;  ///< mask of one step; empty until cells fire at random
  OwnedStream stream;
  StepGraph chain;  ///< of `chained` steps
  const std::uint32_t* chain_start = nullptr;
};

BitAutomaton::BitAutomaton(const BitProgramView& code, const BitShape& shape,
                           BitExecution execution, int device)
    : state_(std::make_unique<State>(device, code, shape, execution)) {}
BitAutomaton::~BitAutomaton() = default;

void BitAutomaton::upload(std::span<const std::uint64_t> words) {
  state_->select();
  state_->copy(state_->now.data(), words.data(), true);
}

void BitAutomaton::download(std::span<std::uint64_t> words) const {
  state_->select();
  state_->copy(words.data(), state_->now.data(), false);
}

void BitAutomaton::step_all(std::int64_t count) {
  state_->select();
  while (count > 0) {
    state_->prepare(false);
    const bool many = count >= State::chained;
    if (many) state_->step_chained();
    else state_->step(nullptr);
    const std::int64_t taken = many ? State::chained : 1;
    state_->steps += static_cast<double>(taken);
    count -= taken;
  }
}

void BitAutomaton::step_some(const BitFire& fire) {
  state_->select();
  if (state_->fire.size() == 0) {
    state_->fire = DeviceArray<std::uint32_t>(state_->layout.channel_words);
  }
  // Integer comparison: bits < rate * 2^32 is the same as bits < ceil(rate * 2^32).
  const auto below = static_cast<std::uint64_t>(std::ceil(fire.rate * 0x1.0p32));
  check(sample_fire(state_->layout, {below, fire.seed, fire.stream, fire.random_step},
                    state_->fire.data(), state_->stream.get()),
        "sample the firing cells");
  state_->prepare(true);
  state_->step(state_->fire.data());
  state_->steps += 1;
}

void BitAutomaton::clear(std::int64_t top, std::int64_t left, std::int64_t height,
                         std::int64_t width) {
  state_->select();
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  check(clear_bits(state_->layout, {u32(top), u32(left), u32(height), u32(width)},
                   state_->now.data(), state_->stream.get()),
        "clear a rectangle");
}

void BitAutomaton::wait() const {
  state_->select();
  state_->stream.wait();
}

double BitAutomaton::milliseconds(int count) {
  state_->select();
  return milliseconds_of(state_->stream, [&] { step_all(count); });
}

bool BitAutomaton::compiled() const {
  return std::ranges::any_of(state_->compiled,
                             [](const auto& step) { return step != nullptr && *step; });
}

std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int index, const BitProgramView& code,
                                                       const BitShape& shape) {
  return std::make_unique<BitAutomaton>(code, shape, BitExecution::automatic, index);
}

}  // namespace boolgrad::cuda

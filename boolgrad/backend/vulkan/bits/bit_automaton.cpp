#include "boolgrad/backend/vulkan/bits/bit_automaton.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/commands.h"
#include "boolgrad/backend/vulkan/runtime/memory.h"
#include "boolgrad/backend/vulkan/runtime/rate_threshold.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::vulkan {
namespace {

constexpr std::uint32_t threads = 64;

/// Must match `shaders/bits/bits.glsl`.
struct BitsPush {
  std::uint32_t channels = 0, batch = 0, height = 0, width = 0;
  std::uint32_t words = 0;
  std::uint32_t pitch = 0;
  std::uint32_t channel_words = 0;
  std::uint32_t periodic = 0;
  std::uint32_t first = 0, end = 0;
  std::uint32_t sources = 0, runs = 0, sinks = 0;
  std::uint32_t fires = 0;
  std::uint32_t top = 0, left = 0, rows = 0, columns = 0;
  std::uint32_t seed_low = 0, seed_high = 0, stream = 0, draw = 0;
  std::uint32_t always = 0, below = 0;
};
static_assert(sizeof(BitsPush) <= push_bytes);

std::uint32_t u32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

BitsPush sizes_of(const BitShape& shape, const BitProgramView& code) {
  BitsPush push;
  push.channels = u32(shape.channels);
  push.batch = u32(shape.batch);
  push.height = u32(shape.height);
  push.width = u32(shape.width);
  push.words = u32((shape.width + 31) / 32);
  push.pitch = u32((shape.width + 63) / 64 * 2);  // pitch of a host row
  push.channel_words = u32(shape.batch * shape.height) * push.pitch;
  push.periodic = shape.periodic ? 1 : 0;
  push.sources = static_cast<std::uint32_t>(code.inputs.size());
  push.runs = static_cast<std::uint32_t>(code.runs.size());
  push.sinks = static_cast<std::uint32_t>(code.outputs.size() + code.constants.size());
  return push;
}

/// Throws if the device, or 32 bits, cannot address the grids.
const BitShape& checked(const Context& context, const BitShape& shape) {
  const std::int64_t row_bytes = (shape.width + 63) / 64 * 8;
  const double bytes = static_cast<double>(shape.channels) * static_cast<double>(shape.batch) *
                       static_cast<double>(shape.height) * static_cast<double>(row_bytes);
  const double max_bytes = std::min(
      0x1.0p31, static_cast<double>(context.physical().properties.limits.maxStorageBufferRange));
  if (!(bytes < max_bytes)) {
    fail("vulkan",
         "expected grids smaller than {:.0f} bytes, received {} channels of {} grids {}x{}",
         max_bytes, shape.channels, shape.batch, shape.height, shape.width);
  }
  return shape;
}

// ------------------------------------------------------------------ program tables

using Four = std::array<std::uint32_t, 4>;
using Two = std::array<std::uint32_t, 2>;

std::vector<Four> sources_of(const BitProgramView& code) {
  std::vector<Four> sources;
  for (const BitPort& port : code.inputs) {
    const auto position = static_cast<std::int32_t>(port.index % 9);
    sources.push_back({port.index / 9, static_cast<std::uint32_t>(position / 3 - 1),
                       static_cast<std::uint32_t>(position % 3 - 1), port.slot});
  }
  return sources;
}

std::vector<Two> runs_of(const BitProgramView& code) {
  std::vector<Two> runs;
  for (const BitRun& run : code.runs) {
    runs.push_back({static_cast<std::uint32_t>(run.outer) * static_cast<std::uint32_t>(bit_inners) +
                        static_cast<std::uint32_t>(run.inner),
                    run.count});
  }
  return runs;
}

std::vector<Four> steps_of(const BitProgramView& code) {
  std::vector<Four> steps;
  for (const BitStep& step : code.steps) steps.push_back({step.out, step.a, step.b, step.c});
  return steps;
}

std::vector<Four> sinks_of(const BitProgramView& code) {
  std::vector<Four> sinks;
  for (const BitPort& port : code.outputs) {
    sinks.push_back({port.index, port.slot, ~0U, port.complemented ? ~0U : 0U});
  }
  for (const BitConstant& constant : code.constants) {
    sinks.push_back({constant.output, 0, 0, constant.value ? ~0U : 0U});
  }
  return sinks;
}

/// A table on the device. An empty table gets one entry, because buffers cannot be empty.
template <class T>
Array<T> table(Context& context, std::vector<T> entries) {
  if (entries.empty()) entries.emplace_back();
  return {context, entries};
}

class BitAutomaton final : public DeviceBitAutomaton {
 public:
  BitAutomaton(int number, const BitProgramView& code, const BitShape& shape)
      : context_(Context::get(number)),
        sizes_(sizes_of(checked(context_, shape), code)),
        slots_(std::max<std::size_t>(1, code.slots)),
        length_(static_cast<double>(code.inputs.size() + code.steps.size() + sizes_.sinks)),
        sources_(table(context_, sources_of(code))),
        runs_(table(context_, runs_of(code))),
        steps_(table(context_, steps_of(code))),
        sinks_(table(context_, sinks_of(code))),
        fire_(context_, sizes_.channel_words) {
    for (Array<std::uint32_t>& state : states_) {
      state = {context_, std::size_t{sizes_.channels} * sizes_.channel_words};
      state.clear();  // the padding words are never written
    }
    const std::size_t shared_bytes = slots_ * threads * sizeof(std::uint32_t);
    const VkPhysicalDeviceLimits& limits = context_.physical().properties.limits;
    in_buffer_ = shared_bytes > limits.maxComputeSharedMemorySize;
    groups_ = groups_for(words_of_all());
    if (in_buffer_) {
      const std::size_t max_bytes = std::min<std::size_t>(limits.maxStorageBufferRange, 1U << 30);
      groups_ = std::max<std::uint32_t>(
          1, std::min(groups_, static_cast<std::uint32_t>(max_bytes / shared_bytes)));
      scratch_ = {context_, slots_ * threads * groups_};
    }
    for (const int from : {0, 1}) sets_[index(from)].emplace(context_, buffers(from));
  }

  void upload(std::span<const std::uint64_t> words) override {
    std::vector<std::uint32_t> packed(states_[0].size());
    copy_rows(packed, [&](std::size_t host, std::uint32_t* row) {
      std::memcpy(row, reinterpret_cast<const char*>(words.data()) + host, grid_bytes());
    });
    states_[index(now_)].upload(packed);
  }

  void download(std::span<std::uint64_t> words) const override {
    std::vector<std::uint32_t> packed = states_[index(now_)].values();
    copy_rows(packed, [&](std::size_t host, const std::uint32_t* row) {
      std::memcpy(reinterpret_cast<char*>(words.data()) + host, row, grid_bytes());
    });
  }

  void step_all(std::int64_t count) override {
    while (count >= chained) {
      std::optional<CommandRecorder>& chain = chains_[index(now_)];
      if (!chain) {
        chain.emplace(context_);
        // An even number of steps, so that the buffers end where they began.
        for (std::int64_t i = 0; i < chained; ++i) record_step(*chain, now_ ^ (i % 2), sizes_);
      }
      chain->run();
      count -= chained;
    }
    for (; count > 0; --count) {
      CommandRecorder commands(context_);
      record_step(commands, now_, sizes_);
      commands.run();
      now_ ^= 1;
    }
  }

  void step_some(const BitFire& fire) override {
    BitsPush push = sizes_;
    push.fires = 1;
    push.seed_low = static_cast<std::uint32_t>(fire.seed);
    push.seed_high = static_cast<std::uint32_t>(fire.seed >> 32);
    push.stream = fire.stream;
    push.draw = fire.random_step;
    const RateThreshold fires = rate_threshold(fire.rate);
    push.always = fires.always;
    push.below = fires.below;
    CommandRecorder commands(context_);
    record_list(commands, "bits/fire", push, words_of_all());
    commands.barrier();
    record_step(commands, now_, push);
    commands.run();
    now_ ^= 1;
  }

  void clear(std::int64_t top, std::int64_t left, std::int64_t height,
             std::int64_t width) override {
    BitsPush push = sizes_;
    push.top = u32(top);
    push.left = u32(left);
    push.rows = u32(height);
    push.columns = u32(width);
    const std::uint32_t words = (push.left + push.columns + 31) / 32 - push.left / 32;
    CommandRecorder commands(context_);
    record_list(commands, "bits/clear", push, sizes_.channels * sizes_.batch * push.rows * words);
    commands.run();
  }

  void wait() const override {}  // every call is synchronous

 private:
  static constexpr std::int64_t chained = 32;
  /// Word operations per submission: a fraction of a second on a slow device.
  static constexpr double max_work = 5e8;

  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::uint32_t groups_for(std::uint32_t items) {
    // Threads loop if there are more items.
    return std::clamp<std::uint32_t>((items + threads - 1) / threads, 1, max_groups);
  }
  std::uint32_t words_of_all() const { return sizes_.batch * sizes_.height * sizes_.words; }
  std::size_t grid_bytes() const {
    return std::size_t{sizes_.height} * sizes_.pitch * sizeof(std::uint32_t);
  }

  std::vector<const Buffer*> buffers(int from) const {
    return {&states_[index(from)].buffer(),
            &states_[index(1 - from)].buffer(),
            &sources_.buffer(),
            &runs_.buffer(),
            &steps_.buffer(),
            &sinks_.buffer(),
            &fire_.buffer(),
            in_buffer_ ? &scratch_.buffer() : nullptr};
  }

  /// Calls copy(host offset in bytes, device words) for every grid of every channel. On the host,
  /// grids have one extra row above and below.
  template <class Words, class Copy>
  void copy_rows(Words& packed, const Copy& copy) const {
    const std::size_t row = std::size_t{sizes_.pitch} * sizeof(std::uint32_t);
    for (std::size_t grid = 0; grid < std::size_t{sizes_.channels} * sizes_.batch; ++grid) {
      copy(grid * (grid_bytes() + 2 * row) + row,
           packed.data() + grid * sizes_.height * sizes_.pitch);
    }
  }

  /// A step from state `from` to the other one, in short dispatches.
  void record_step(CommandRecorder& to, std::int64_t from, BitsPush push) const {
    VkPipeline pipeline =
        context_.pipeline(in_buffer_ ? "bits/step.scratch" : "bits/step",
                          {threads, in_buffer_ ? 1U : static_cast<std::uint32_t>(slots_)});
    const std::uint32_t all = words_of_all();
    const auto part =
        static_cast<std::uint32_t>(std::clamp(max_work / length_, 1.0, static_cast<double>(all)));
    for (push.first = 0; push.first < all; push.first = push.end) {
      push.end = all - push.first < part ? all : push.first + part;
      const std::uint32_t items = push.end - push.first;
      // Dispatches that share slots in a buffer must not overlap.
      if (push.first > 0 && in_buffer_) to.barrier();
      to.dispatch(pipeline, *sets_[index(from)], std::as_bytes(std::span(&push, 1)),
                  std::min(groups_, groups_for(items)), items * length_ / max_work);
    }
    to.barrier();
  }

  /// One thread per item.
  void record_list(CommandRecorder& to, const char* shader, BitsPush push,
                   std::uint32_t items) const {
    VkPipeline pipeline = context_.pipeline(shader, {threads});
    constexpr std::uint32_t max_items = max_groups * threads;
    for (push.first = 0; push.first < items; push.first = push.end) {
      push.end = items - push.first < max_items ? items : push.first + max_items;
      to.dispatch(pipeline, *sets_[index(now_)], std::as_bytes(std::span(&push, 1)),
                  groups_for(push.end - push.first));
    }
  }

  Context& context_;
  BitsPush sizes_;
  std::size_t slots_;
  double length_;  ///< work per word: reads, operations and writes
  Array<Four> sources_;
  Array<Two> runs_;
  Array<Four> steps_;
  Array<Four> sinks_;
  Array<std::uint32_t> fire_;
  std::array<Array<std::uint32_t>, 2> states_;
  std::int64_t now_ = 0;  ///< index of the current state
  bool in_buffer_ = false;
  std::uint32_t groups_ = 1;
  Array<std::uint32_t> scratch_;
  std::array<std::optional<BufferSet>, 2> sets_;
  std::array<std::optional<CommandRecorder>, 2> chains_;
};

}  // namespace

std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int number, const BitProgramView& code,
                                                       const BitShape& shape) {
  return std::make_unique<BitAutomaton>(number, code, shape);
}

}  // namespace boolgrad::vulkan

#include "boolgrad/automata/rollout.h"

#include <cmath>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/automaton/rollout.h"
#include "boolgrad/backend/cpu/network/lut.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/random.h"

namespace boolgrad::automata {
namespace {

/// The wires of a rule as views for kernels, and their owners.
struct Wires {
  explicit Wires(const Rule& rule)
      : channels(rule.channels()),
        perceive_owned(rule.perceive().wirings()),
        update_owned(rule.update().wirings()) {
    for (const logic::WiringPtr& wiring : perceive_owned) perceive.push_back(wiring->view());
    for (const logic::WiringPtr& wiring : update_owned) update.push_back(wiring->view());
  }

  cpu::RuleView view(std::span<const Tensor> coefficients) const {
    return {channels, perceive, update, coefficients};
  }
  std::size_t layers() const { return perceive.size() + update.size(); }
  const logic::WiringPtr& wiring(std::size_t layer) const {
    const std::size_t first = perceive_owned.size();
    return layer < first ? perceive_owned[layer] : update_owned[layer - first];
  }

  std::int64_t channels;
  std::vector<logic::WiringPtr> perceive_owned;
  std::vector<logic::WiringPtr> update_owned;
  std::vector<LutWires> perceive;
  std::vector<LutWires> update;
};

std::int64_t keep_every(const Memory& memory) {
  switch (memory.policy) {
    case MemoryPolicy::everything: return 0;
    case MemoryPolicy::states: return 1;
    case MemoryPolicy::some_states: return memory.every;
  }
  return 1;
}

cpu::Grid grid_of(const Rule& rule, const RolloutSize& size) {
  return {size.batch, size.height, size.width, rule.border() == Border::periodic};
}

void check_tables(const Wires& wires, const std::vector<Tensor>& tables, DType dtype) {
  if (tables.size() != wires.layers()) {
    fail("rollout", "expected tables of {} layers, received {}", wires.layers(), tables.size());
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const logic::Wiring& wiring = *wires.wiring(i);
    const Shape expected{wiring.gates(), std::int64_t{1} << wiring.arity()};
    if (tables[i].shape() != expected || tables[i].dtype() != dtype) {
      fail("rollout", "expected tables of {} {} for layer {}, received {} {}", to_string(dtype),
           to_string(expected), i, to_string(tables[i].dtype()), to_string(tables[i].shape()));
    }
  }
}

void check_mask(const char* name, const Tensor& mask, const RolloutSize& size) {
  const Shape expected{size.steps, size.batch, size.height, size.width};
  if (mask.defined() && (mask.dtype() != DType::uint8 || mask.shape() != expected)) {
    fail("rollout", "expected {} masks of uint8 {}, received {} {}", name, to_string(expected),
         to_string(mask.dtype()), to_string(mask.shape()));
  }
}

RolloutSize checked_size(const Rule& rule, const Tensor& initial, const Tensor& fire,
                         const RolloutOptions& options) {
  if (initial.rank() != 4 || initial.shape()[0] != rule.channels()) {
    fail("rollout", "expected an initial state of shape [{}, batch, height, width], received {}",
         rule.channels(), to_string(initial.shape()));
  }
  if (initial.dtype() != rule.dtype()) {
    fail("rollout", "expected an initial state of {}, received {}", to_string(rule.dtype()),
         to_string(initial.dtype()));
  }
  const RolloutSize size{initial.shape()[1], initial.shape()[2], initial.shape()[3], options.steps};
  check_grid(rule.border(), size.height, size.width);
  if (size.batch < 1) fail("rollout", "expected at least one grid, received none");
  if (options.steps < 1) fail("rollout", "expected at least one step, received {}", options.steps);
  if (options.returned < 1 || options.returned > options.steps) {
    fail("rollout", "expected to return 1 to {} states, received {}", options.steps,
         options.returned);
  }
  if (options.memory.policy == MemoryPolicy::some_states && options.memory.every < 1) {
    fail("rollout", "expected to keep every n-th state with n from 1, received {}",
         options.memory.every);
  }
  check_mask("fire", fire, size);
  check_mask("rounding", options.round, size);
  return size;
}

std::vector<Tensor> rollout_vjp(const Wires& wires, const cpu::RolloutShape& shape,
                                const cpu::RolloutMasks& masks, const VjpContext& c) {
  const std::size_t layers = wires.layers();
  const cpu::RolloutTrace trace{c.residual(layers), c.residual(layers + 1)};
  std::vector<Tensor> gradients(layers + 1);
  const cpu::Grid& grid = shape.grid;
  if (c.needs[0]) {
    gradients[0] =
        Tensor({wires.channels, grid.batch, grid.height, grid.width}, c.gradient().dtype());
  }
  std::vector<Tensor> coefficients;
  cpu::rollout_backward(wires.view(c.residuals.first(layers)), shape, masks, trace, c.gradient(),
                        coefficients, c.needs[0] ? &gradients[0] : nullptr);
  for (std::size_t i = 0; i < layers; ++i) {
    gradients[i + 1] = Tensor(coefficients[i].shape(), coefficients[i].dtype());
    cpu::coefficient_to_table_gradients(coefficients[i], gradients[i + 1]);
  }
  return gradients;
}

bool any_needs_grad(const Tensor& initial, const std::vector<Tensor>& tables) {
  for (const Tensor& table : tables) {
    if (needs_grad(table)) return true;
  }
  return needs_grad(initial);
}

std::string ordinal(std::int64_t n) {
  const bool teen = n / 10 % 10 == 1;
  const std::int64_t last = teen ? 0 : n % 10;
  const char* end = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return fmt::format("{}{}", n, end);
}

}  // namespace

std::string describe(const Memory& memory) {
  switch (memory.policy) {
    case MemoryPolicy::everything: return "every activation";
    case MemoryPolicy::states: return "the state of every step";
    case MemoryPolicy::some_states: return fmt::format("every {} state", ordinal(memory.every));
  }
  return "";
}

std::size_t memory_needed(const Rule& rule, const RolloutSize& size, const Memory& memory) {
  const Wires wires(rule);
  const cpu::RolloutShape shape{grid_of(rule, size), size.steps, keep_every(memory)};
  return cpu::trace_bytes(wires.view({}), shape, rule.dtype());
}

std::vector<Memory> memory_choices(const Rule& rule, const RolloutSize& size) {
  Memory least{MemoryPolicy::some_states, 1};
  for (std::int64_t every = 2; every <= size.steps; ++every) {
    const Memory next{MemoryPolicy::some_states, every};
    if (memory_needed(rule, size, next) < memory_needed(rule, size, least)) least = next;
  }
  std::vector<Memory> choices{{MemoryPolicy::states}, {MemoryPolicy::everything}};
  if (least.every > 1) choices.push_back(least);
  return choices;
}

Memory fitting_memory(const Rule& rule, const RolloutSize& size, std::size_t bytes) {
  std::size_t least = 0;
  for (const Memory& choice : memory_choices(rule, size)) {
    const std::size_t needed = memory_needed(rule, size, choice);
    if (needed <= bytes) return choice;
    least = least == 0 ? needed : std::min(least, needed);
  }
  fail("memory", "a rollout of {} steps needs at least {} bytes, but the limit is {}", size.steps,
       least, bytes);
}

Tensor rollout(const Rule& rule, const Tensor& initial, const Tensor& fire,
               const RolloutOptions& options) {
  return rollout(rule, rule.tables(), initial, fire, options);
}

Tensor rollout(const Rule& rule, const std::vector<Tensor>& tables, const Tensor& initial,
               const Tensor& fire, const RolloutOptions& options) {
  const RolloutSize size = checked_size(rule, initial, fire, options);
  Wires wires(rule);
  check_tables(wires, tables, initial.dtype());
  std::vector<Tensor> residuals;
  for (const Tensor& table : tables) {
    residuals.emplace_back(table.shape(), table.dtype());
    cpu::tables_to_coefficients(table, residuals.back());
  }
  const cpu::RolloutShape shape{grid_of(rule, size), size.steps, keep_every(options.memory),
                                options.returned};
  Tensor out({options.returned, rule.channels(), size.batch, size.height, size.width},
             initial.dtype());
  cpu::RolloutTrace trace;
  const cpu::RolloutMasks masks{fire, options.round};
  cpu::rollout_forward(wires.view(residuals), shape, initial, masks, out,
                       any_needs_grad(initial, tables) ? &trace : nullptr);
  residuals.push_back(trace.states);
  residuals.push_back(trace.activations);
  std::vector<Tensor> inputs{initial};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  return record("rollout", inputs, {out}, std::move(residuals),
                [wires = std::move(wires), shape, masks](const VjpContext& c) {
                  return rollout_vjp(wires, shape, masks, c);
                })[0];
}

Tensor fire_masks(const RolloutSize& size, double rate, std::uint64_t seed, std::uint32_t stream,
                  std::uint32_t step) {
  if (!(rate >= 0 && rate <= 1)) {
    fail("fire_masks", "expected a rate from 0 to 1, received {}", rate);
  }
  Tensor masks({size.steps, size.batch, size.height, size.width}, DType::uint8);
  const std::span<std::uint8_t> fires = masks.mutable_values<std::uint8_t>();
  // One address gives 128 random bits, and a cell uses 32.
  constexpr std::size_t cells_per_address = 4;
  constexpr std::size_t grain = 4096;
  const double scaled = rate * 0x1.0p32;
  parallel_for(task_count(fires.size(), grain), [&](std::size_t task) {
    const std::size_t end = std::min(fires.size(), (task + 1) * grain);
    PhiloxCounter bits{};
    for (std::size_t i = task * grain; i < end; ++i) {
      if (i % cells_per_address == 0) {
        bits = random_bits(
            {.seed = seed, .stream = stream, .step = step, .index = i / cells_per_address});
      }
      fires[i] = static_cast<double>(bits[i % cells_per_address]) < scaled ? 1 : 0;
    }
  });
  return masks;
}

void check_grid(Border border, std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1) {
    fail("grid", "expected at least one cell, received {}x{}", height, width);
  }
  if (border == Border::periodic && (height < 3 || width < 3)) {
    fail("grid", "expected at least 3x3 cells with periodic borders, received {}x{}", height,
         width);
  }
}

}  // namespace boolgrad::automata

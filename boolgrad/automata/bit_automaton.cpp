#include "boolgrad/automata/bit_automaton.h"

#include <algorithm>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::automata {
namespace {

constexpr std::int64_t patch = 9;

/// Shifts a row by one cell: `left` receives the left neighbour of every cell, `right` the right
/// one.
void shift_row(const std::uint64_t* row, std::size_t words, std::int64_t width, bool periodic,
               std::uint64_t* left, std::uint64_t* right) {
  const std::size_t last = words - 1;
  const std::int64_t top = (width - 1) % 64;
  const std::uint64_t first_cell = row[0] & 1;
  const std::uint64_t last_cell = (row[last] >> top) & 1;
  for (std::size_t w = 0; w < words; ++w) {
    left[w] = (row[w] << 1) | (w > 0 ? row[w - 1] >> 63 : 0);
    right[w] = (row[w] >> 1) | (w < last ? row[w + 1] << 63 : 0);
  }
  if (periodic) {
    left[0] |= last_cell;
    right[last] |= first_cell << top;
  }
}

}  // namespace

BitAutomaton::BitAutomaton(const Rule& rule) : BitAutomaton(rule, hardened_circuit(rule)) {}

BitAutomaton::BitAutomaton(const Rule& rule, const circuit::BitCircuit& circuit)
    : channels_(rule.channels()), border_(rule.border()), program_(circuit) {
  if (program_.inputs() != patch * channels_ || program_.outputs() != channels_) {
    fail("automaton", "expected a circuit of {} inputs and {} outputs, received {} and {}",
         patch * channels_, channels_, program_.inputs(), program_.outputs());
  }
}

/// Fills the halo rows, and the left and right neighbours of every cell.
void BitAutomaton::gather_neighbours(BitGrid& state) {
  const std::size_t row = state.row_words();
  const auto height = static_cast<std::size_t>(state.height());
  const bool periodic = border_ == Border::periodic;
  const auto grids = static_cast<std::size_t>(channels_ * state.batch());
  parallel_for(grids, [&](std::size_t index) {
    const std::size_t item = index % static_cast<std::size_t>(state.batch());
    const std::size_t c = index / static_cast<std::size_t>(state.batch());
    const std::size_t first = item * (height + 2) * row;
    std::uint64_t* own = state.channel(static_cast<std::int64_t>(c)).data() + first;
    for (std::size_t w = 0; w < row; ++w) {
      own[w] = periodic ? own[height * row + w] : 0;
      own[(height + 1) * row + w] = periodic ? own[row + w] : 0;
    }
    const std::size_t at = c * state.channel_words() + first;
    for (std::size_t y = 0; y < height + 2; ++y) {
      shift_row(own + y * row, row, state.width(), periodic, left_.data() + at + y * row,
                right_.data() + at + y * row);
    }
  });
}

void BitAutomaton::step(BitGrid& state, const BitGrid* fire) {
  if (state.channels() != channels_) {
    fail("automaton", "expected a state of {} channels, received {}", channels_, state.channels());
  }
  check_grid(border_, state.height(), state.width());
  const std::size_t row = state.row_words();
  const std::size_t words = state.channel_words();
  const std::size_t all = static_cast<std::size_t>(channels_) * words;
  left_.resize(all);
  right_.resize(all);
  next_.resize(all);
  gather_neighbours(state);

  // All rows but the first and the last halo row. Results for halo rows between grids are not used.
  const std::size_t begin = row;
  const std::size_t end = words - row;
  constexpr std::size_t grain = 1024;
  parallel_for(task_count(end - begin, grain), [&](std::size_t task) {
    const std::size_t first = begin + task * grain;
    const std::size_t count = std::min(grain, end - first);
    std::vector<const std::uint64_t*> inputs;
    std::vector<std::uint64_t*> outputs;
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) {
      const std::uint64_t* own = state.channel(static_cast<std::int64_t>(c)).data() + first;
      const std::uint64_t* columns[] = {left_.data() + c * words + first, own,
                                        right_.data() + c * words + first};
      for (const std::ptrdiff_t dy : {-1, 0, 1}) {
        for (const std::uint64_t* column : columns) {
          inputs.push_back(column + dy * static_cast<std::ptrdiff_t>(row));
        }
      }
      outputs.push_back(next_.data() + c * words + first);
    }
    program_.run(inputs, outputs, count);
  });
  update_cells(state, fire);
}

void BitAutomaton::step(BitGrid& state, const Tensor& fire, std::int64_t index) {
  if (!fire.defined()) return step(state);
  const BitGrid fires = BitGrid::from(slice(fire, 0, index, index + 1));
  step(state, &fires);
}

/// Copies the next state to the cells that fire.
void BitAutomaton::update_cells(BitGrid& state, const BitGrid* fire) const {
  const std::size_t row = state.row_words();
  const auto height = static_cast<std::size_t>(state.height());
  const auto batch = static_cast<std::size_t>(state.batch());
  parallel_for(static_cast<std::size_t>(channels_) * batch, [&](std::size_t index) {
    const std::size_t c = index / batch;
    const std::size_t first = (index % batch * (height + 2) + 1) * row;
    const std::uint64_t* next = next_.data() + c * state.channel_words() + first;
    std::uint64_t* own = state.channel(static_cast<std::int64_t>(c)).data() + first;
    if (fire == nullptr) {
      std::copy_n(next, height * row, own);
    } else {
      const std::uint64_t* fires = fire->channel(0).data() + first;
      for (std::size_t i = 0; i < height * row; ++i) own[i] ^= (own[i] ^ next[i]) & fires[i];
    }
    const std::uint64_t cells = state.last_word_mask();
    for (std::size_t y = 1; y <= height; ++y) own[y * row - 1] &= cells;
  });
}

}  // namespace boolgrad::automata

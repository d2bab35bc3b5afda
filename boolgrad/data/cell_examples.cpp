// Rules that were seen in examples.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/data/cell_rule.h"
#include "boolgrad/data/npy.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/picture/reduce.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "rule";

/// Pairs of successive states: [pairs, height, width] each.
struct Examples {
  Tensor before;
  Tensor after;
  bool is_sequence = true;  ///< state i of `after` is state i + 1 of `before`
};

void check_side(const std::filesystem::path& path, std::int64_t height, std::int64_t width) {
  if (height >= 3 && width >= 3) return;
  fail(where, "{}: expected grids of at least 3x3 cells, received {}x{}", path.string(), height,
       width);
}

/// The states of an array of integers as uint8.
Tensor states_in(const std::filesystem::path& path, const Tensor& array) {
  if (array.dtype() != DType::uint8 && array.dtype() != DType::int64) {
    fail(where, "{}: expected states as integers, received {}", path.string(),
         to_string(array.dtype()));
  }
  Tensor states(array.shape(), DType::uint8);
  const std::span<std::uint8_t> to = states.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double state = array.at(static_cast<std::int64_t>(i));
    if (!(state >= 0 && state < max_cell_states)) {
      fail(where, "{}: expected states from 0 to {}, received {}", path.string(),
           max_cell_states - 1, state);
    }
    to[i] = static_cast<std::uint8_t>(state);
  }
  return states;
}

Examples examples_of(const std::filesystem::path& path, const Tensor& states) {
  const std::int64_t steps = states.shape()[0];
  if (steps < 2) {
    fail(where, "{}: expected at least 2 successive states, received {}", path.string(), steps);
  }
  check_side(path, states.shape()[1], states.shape()[2]);
  return {slice(states, 0, 0, steps - 1), slice(states, 0, 1, steps), true};
}

Examples npy_examples(const std::filesystem::path& path) {
  const Tensor array = read_npy(path);
  const Shape& shape = array.shape();
  const bool has_pairs = shape.size() == 4 && shape[1] == 2;
  if ((shape.size() != 3 && !has_pairs) || array.size() == 0) {
    fail(where, "{}: expected [steps, height, width] or [pairs, 2, height, width], received {}",
         path.string(), to_string(shape));
  }
  const Tensor states = states_in(path, array);
  if (!has_pairs) return examples_of(path, states);
  check_side(path, shape[2], shape[3]);
  const Shape half = {shape[0], shape[2], shape[3]};
  return {slice(states, 1, 0, 1).viewed_as(half), slice(states, 1, 1, 2).viewed_as(half), false};
}

// ---------------------------------------------------------------------------------------------
// GIF files

int brightness(picture::Colour colour) {
  return 299 * colour.red + 587 * colour.green + 114 * colour.blue;
}

/// The states by colour: the darkest is 0, then from the brightest.
std::vector<picture::Colour> colours_of(const std::filesystem::path& path,
                                        const std::vector<picture::Image>& frames) {
  std::vector<picture::Colour> colours;
  for (const picture::Image& frame : frames) {
    for (const picture::Colour colour : frame.pixels) {
      if (std::ranges::find(colours, colour) != colours.end()) continue;
      colours.push_back(colour);
      if (std::cmp_greater(colours.size(), max_cell_states)) {
        fail(where, "{}: expected at most {} colours, one per state, received more", path.string(),
             max_cell_states);
      }
    }
  }
  std::ranges::stable_sort(colours, std::ranges::greater(), brightness);
  std::rotate(colours.begin(), colours.end() - 1, colours.end());
  return colours;
}

Examples gif_examples(const std::filesystem::path& path) {
  const std::vector<picture::Image> frames = picture::read_gif(path);
  const std::vector<picture::Colour> colours = colours_of(path, frames);
  const std::int64_t side = picture::square_side(frames);
  const std::int64_t height = frames.front().height / side;
  const std::int64_t width = frames.front().width / side;
  Tensor states({std::ssize(frames), height, width}, DType::uint8);
  const std::span<std::uint8_t> to = states.mutable_values<std::uint8_t>();
  std::size_t cell = 0;
  for (const picture::Image& frame : frames) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const auto state = std::ranges::find(colours, frame.at(x * side, y * side));
        to[cell++] = static_cast<std::uint8_t>(state - colours.begin());
      }
    }
  }
  return examples_of(path, states);
}

// ---------------------------------------------------------------------------------------------

/// Where a neighbourhood was seen first.
struct Seen {
  std::uint8_t state;
  std::int64_t pair, y, x;
};

int states_seen(const Examples& examples) {
  std::uint8_t highest = 1;
  for (const Tensor* part : {&examples.before, &examples.after}) {
    highest = std::max(highest, *std::ranges::max_element(part->values<std::uint8_t>()));
  }
  return highest + 1;
}

/// `step 3, row 4, column 7`, counted from 0.
std::string place_of(const Examples& examples, std::int64_t pair, std::int64_t y, std::int64_t x) {
  return fmt::format("{} {}, row {}, column {}", examples.is_sequence ? "step" : "pair", pair, y,
                     x);
}

}  // namespace

CellRule read_examples(const std::filesystem::path& path) {
  const bool is_gif = path.extension() == ".gif";
  const Examples examples = is_gif ? gif_examples(path) : npy_examples(path);
  const int states = states_seen(examples);
  const Shape& shape = examples.before.shape();
  const std::span<const std::uint8_t> before = examples.before.values<std::uint8_t>();
  const std::span<const std::uint8_t> after = examples.after.values<std::uint8_t>();
  const auto at = [&](std::int64_t pair, std::int64_t y, std::int64_t x) {
    return static_cast<std::size_t>((pair * shape[1] + y) * shape[2] + x);
  };
  std::int64_t count = 1;
  for (int cell = 0; cell < 9; ++cell) count *= states;
  std::vector<std::optional<std::uint8_t>> table(static_cast<std::size_t>(count));
  std::map<std::int64_t, Seen> first;
  for (std::int64_t pair = 0; pair < shape[0]; ++pair) {
    for (std::int64_t y = 1; y + 1 < shape[1]; ++y) {
      for (std::int64_t x = 1; x + 1 < shape[2]; ++x) {
        std::int64_t number = 0;
        for (std::int64_t n = 9; n-- > 0;) {
          number = number * states + before[at(pair, y + n / 3 - 1, x + n % 3 - 1)];
        }
        const std::uint8_t state = after[at(pair, y, x)];
        const auto [known, is_new] = first.try_emplace(number, Seen{state, pair, y, x});
        const Seen& earlier = known->second;
        if (earlier.state != state) {
          fail(
              where,
              "{}: the cell at {} becomes {}, but with the same neighbourhood the one at {} became "
              "{}: the rule reads more than 3x3 cells, has more states, or steps are missing",
              path.string(), place_of(examples, pair, y, x), state,
              place_of(examples, earlier.pair, earlier.y, earlier.x), earlier.state);
        }
        table[static_cast<std::size_t>(number)] = state;
      }
    }
  }
  return {path.stem().string(), states, std::move(table)};
}

}  // namespace boolgrad::data

#include "boolgrad/logic/convolution.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::logic {
namespace {

// Streams of random numbers within a layer, apart from those of other wirings.
constexpr std::uint32_t channel_stream = 0x80000;
constexpr std::uint32_t place_stream = 0x90000;
constexpr std::uint32_t candidate_stream = 0xA0000;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t power(std::int64_t base, int exponent) {
  std::int64_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// A random permutation of 0 .. count-1.
std::vector<std::int64_t> shuffled(std::int64_t count, const RandomAddress& address) {
  std::vector<std::int64_t> numbers(index(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  RandomAddress at = address;
  for (std::size_t last = numbers.size(); last > 1; --last, ++at.index) {
    std::swap(numbers[last - 1], numbers[random_below(at, last)]);
  }
  return numbers;
}

/// Number of positions along one side of an image.
std::int64_t positions_along(std::int64_t side, const ConvolutionOptions& options) {
  return (side + 2 * options.padding - options.window) / options.stride + 1;
}

using Leaf = ConvolutionLeaf;

/// Number of channels that a kernel reads.
std::int64_t read_channels(const ImageSize& input, const ConvolutionOptions& options) {
  return std::min(options.channels_per_kernel, input.channels / options.groups);
}

/// Number of places that a leaf can read.
std::int64_t place_count(const ImageSize& input, const ConvolutionOptions& options) {
  return read_channels(input, options) * options.window * options.window;
}

/// The channels that each kernel reads: [kernels][read_channels].
std::vector<std::vector<std::int64_t>> kernel_channels(const ImageSize& input,
                                                       const ConvolutionOptions& options,
                                                       std::uint64_t seed, std::uint32_t layer) {
  const std::int64_t group_channels = input.channels / options.groups;
  const std::int64_t group_kernels = options.kernels / options.groups;
  const std::int64_t reads = read_channels(input, options);
  std::vector<std::vector<std::int64_t>> channels;
  for (std::int64_t group = 0; group < options.groups; ++group) {
    // Rounds over the channels of the group, so that all are read about equally often.
    std::vector<std::int64_t> round;
    std::uint32_t rounds = 0;
    for (std::int64_t kernel = 0; kernel < group_kernels; ++kernel) {
      if (std::ssize(round) < reads) {
        const auto address = RandomAddress{.seed = seed,
                                           .stream = channel_stream + layer,
                                           .step = rounds++,
                                           .index = static_cast<std::uint64_t>(group) << 32};
        round = shuffled(group_channels, address);
      }
      std::vector<std::int64_t> own(round.begin(), round.begin() + reads);
      for (std::int64_t& channel : own) channel += group * group_channels;
      channels.push_back(std::move(own));
      round.erase(round.begin(), round.begin() + reads);
    }
  }
  return channels;
}

Leaf leaf_at(std::int64_t place, const std::vector<std::int64_t>& channels, std::int64_t window) {
  const std::int64_t area = window * window;
  return {.channel = channels[index(place / area)],
          .row = place % area / window,
          .column = place % window};
}

/// The leaves of all kernels, kernel by kernel.
std::vector<Leaf> random_leaves(const ImageSize& input, const ConvolutionOptions& options,
                                std::uint64_t seed, std::uint32_t layer) {
  const std::int64_t count = place_count(input, options);
  const auto channels = kernel_channels(input, options, seed, layer);
  std::vector<Leaf> leaves;
  for (std::size_t kernel = 0; kernel < channels.size(); ++kernel) {
    std::vector<std::int64_t> places;
    for (std::int64_t leaf = 0; leaf < options.leaves(); ++leaf) {
      if (leaf % count == 0) {
        places = shuffled(count, {.seed = seed,
                                  .stream = place_stream + layer,
                                  .step = static_cast<std::uint32_t>(leaf / count),
                                  .index = std::uint64_t{kernel} << 32});
      }
      leaves.push_back(leaf_at(places[index(leaf % count)], channels[kernel], options.window));
    }
  }
  return leaves;
}

/// The input that a leaf reads at a position, or the number of inputs if it lies outside.
std::int32_t source_of(const Leaf& leaf, std::int64_t y, std::int64_t x, const ImageSize& input,
                       const ConvolutionOptions& options) {
  const std::int64_t row = y * options.stride + leaf.row - options.padding;
  const std::int64_t column = x * options.stride + leaf.column - options.padding;
  const bool is_inside = row >= 0 && row < input.height && column >= 0 && column < input.width;
  return static_cast<std::int32_t>(
      is_inside ? (leaf.channel * input.height + row) * input.width + column : input.bits());
}

/// The level of gates that reads the image.
WiringPtr leaf_wiring(const ImageSize& input, const ConvolutionOptions& options,
                      std::span<const Leaf> leaves) {
  const std::int64_t height = positions_along(input.height, options);
  const std::int64_t width = positions_along(input.width, options);
  const std::int64_t positions = height * width;
  const std::int64_t tables = std::ssize(leaves) / options.arity;
  Tensor wires({options.arity, tables * positions}, DType::int32);
  Tensor outside = Tensor::zeros({tables * positions}, DType::uint8);
  const auto wire = wires.mutable_values<std::int32_t>();
  const auto bits = outside.mutable_values<std::uint8_t>();
  for (std::int64_t table = 0; table < tables; ++table) {
    for (int slot = 0; slot < options.arity; ++slot) {
      const Leaf& leaf = leaves[index(table * options.arity + slot)];
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
          const std::int64_t gate = table * positions + y * width + x;
          const std::int32_t source = source_of(leaf, y, x, input, options);
          const bool is_outside = source == input.bits();
          if (is_outside) bits[index(gate)] |= static_cast<std::uint8_t>(1 << slot);
          // A gate ignores a wire to the outside, so it may lead anywhere.
          wire[index(slot * tables * positions + gate)] = is_outside ? 0 : source;
        }
      }
    }
  }
  TableSharing sharing{.positions = positions};
  if (options.padding > 0) sharing.outside = std::move(outside);
  return std::make_shared<const Wiring>(input.bits(), wires, 1, std::move(sharing));
}

/// A level of the tree above the leaves: gate i of a kernel reads gates i * arity and the following
/// ones of the level below, at its own position.
WiringPtr inner_wiring(std::int64_t tables, int arity, std::int64_t positions) {
  Tensor wires({arity, tables * positions}, DType::int32);
  auto wire = wires.mutable_values<std::int32_t>().begin();
  for (int slot = 0; slot < arity; ++slot) {
    for (std::int64_t table = 0; table < tables; ++table) {
      for (std::int64_t p = 0; p < positions; ++p) {
        *wire++ = static_cast<std::int32_t>((table * arity + slot) * positions + p);
      }
    }
  }
  return std::make_shared<const Wiring>(tables * arity * positions, wires, 1,
                                        TableSharing{.positions = positions});
}

/// Number of rectangles along one side of an image.
std::int64_t rectangles_along(std::int64_t side, std::int64_t length, std::int64_t stride,
                              std::int64_t padding) {
  return (side + 2 * padding - length) / stride + 1;
}

/// Maxima over rectangles of each channel, as one layer.
WiringPtr pooling_wiring(const ImageSize& input, const PoolingOptions& options) {
  const ImageSize size = output_size(input, options);
  Tensor wires({options.rows * options.columns, size.bits()}, DType::int32);
  auto wire = wires.mutable_values<std::int32_t>().begin();
  for (std::int64_t slot = 0; slot < options.rows * options.columns; ++slot) {
    for (std::int64_t gate = 0; gate < size.bits(); ++gate) {
      const std::int64_t channel = gate / (size.height * size.width);
      // In place of the padding, a place at the edge is read, which the rectangle has anyway.
      const std::int64_t y =
          std::clamp<std::int64_t>(gate / size.width % size.height * options.row_stride +
                                       slot / options.columns - options.row_padding,
                                   0, input.height - 1);
      const std::int64_t x =
          std::clamp<std::int64_t>(gate % size.width * options.column_stride +
                                       slot % options.columns - options.column_padding,
                                   0, input.width - 1);
      *wire++ = static_cast<std::int32_t>((channel * input.height + y) * input.width + x);
    }
  }
  return Wiring::pooling(input.bits(), wires, options.first_wins);
}

/// Pooling over squares that do not overlap.
PoolingOptions squares(std::int64_t side) {
  return {.rows = side, .columns = side, .row_stride = side, .column_stride = side};
}

/// The image before pooling.
ImageSize unpooled_size(const ImageSize& input, const ConvolutionOptions& options) {
  return {.channels = options.kernels,
          .height = positions_along(input.height, options),
          .width = positions_along(input.width, options)};
}

/// Whether squares are pooled at once. Larger ones are pooled within rows first, then across them.
bool pools_at_once(const ConvolutionOptions& options) {
  return options.pool * options.pool <= max_gate_inputs;
}

}  // namespace

std::int64_t ConvolutionOptions::leaves() const { return power(arity, depth); }

std::int64_t ConvolutionOptions::gates() const {
  std::int64_t count = 0;
  for (int level = 0; level < depth; ++level) count += power(arity, level);
  return count;
}

std::int64_t ConvolutionOptions::layers() const {
  return depth + (pool == 1 ? 0 : pools_at_once(*this) ? 1 : 2);
}

ImageSize output_size(const ImageSize& input, const ConvolutionOptions& options) {
  const std::int64_t side = std::min(input.height, input.width) + 2 * options.padding;
  if (options.window > side) {
    fail("convolution",
         "expected a window of at most {}, the side of the padded image, received {}", side,
         options.window);
  }
  if (options.padding >= options.window) {
    fail("convolution", "expected padding below the window of {}, received {}", options.window,
         options.padding);
  }
  if (input.channels % options.groups != 0 || options.kernels % options.groups != 0) {
    fail("convolution",
         "expected a number of groups that divides {} channels and {} kernels, "
         "received {}",
         input.channels, options.kernels, options.groups);
  }
  if (options.leaves() > max_leaves) {
    fail("convolution", "expected kernels of at most {} leaves, received {}", max_leaves,
         options.leaves());
  }
  const ImageSize whole = unpooled_size(input, options);
  if (options.pool > std::min(whole.height, whole.width)) {
    fail("convolution", "expected pooling over at most {} positions per side, received {}",
         std::min(whole.height, whole.width), options.pool);
  }
  return {.channels = whole.channels,
          .height = whole.height / options.pool,
          .width = whole.width / options.pool};
}

std::vector<ConvolutionLeaf> convolution_leaves(const ImageSize& input,
                                                const ConvolutionOptions& options,
                                                std::uint64_t seed, std::uint32_t layer) {
  output_size(input, options);  // checks the options
  return random_leaves(input, options, seed, layer);
}

std::vector<WiringPtr> convolution_wirings(const ImageSize& input,
                                           const ConvolutionOptions& options, std::uint64_t seed,
                                           std::uint32_t layer) {
  return convolution_wirings(input, options, convolution_leaves(input, options, seed, layer));
}

std::vector<WiringPtr> convolution_wirings(const ImageSize& input,
                                           const ConvolutionOptions& options,
                                           std::span<const ConvolutionLeaf> leaves) {
  output_size(input, options);  // checks the options
  if (std::ssize(leaves) != options.kernels * options.leaves()) {
    fail("convolution", "expected {} leaves, received {}", options.kernels * options.leaves(),
         leaves.size());
  }
  for (const ConvolutionLeaf& leaf : leaves) {
    const bool is_inside = leaf.channel >= 0 && leaf.channel < input.channels && leaf.row >= 0 &&
                           leaf.row < options.window && leaf.column >= 0 &&
                           leaf.column < options.window;
    if (!is_inside) {
      fail("convolution",
           "expected leaves in {} channels and a window of {}, received channel {}, row {}, "
           "column {}",
           input.channels, options.window, leaf.channel, leaf.row, leaf.column);
    }
  }
  const ImageSize whole = unpooled_size(input, options);
  std::vector<WiringPtr> wirings{leaf_wiring(input, options, leaves)};
  for (int level = options.depth - 2; level >= 0; --level) {
    wirings.push_back(inner_wiring(options.kernels * power(options.arity, level), options.arity,
                                   whole.height * whole.width));
  }
  if (options.pool == 1) return wirings;
  for (WiringPtr& wiring : pooling_wirings(whole, squares(options.pool))) {
    wirings.push_back(std::move(wiring));
  }
  return wirings;
}

ImageSize output_size(const ImageSize& input, const PoolingOptions& options) {
  const auto check = [](const char* side, std::int64_t length, std::int64_t stride,
                        std::int64_t padding, std::int64_t image) {
    if (length < 1 || length > max_pool || stride < 1) {
      fail("pooling",
           "expected 1 to {} {} at a stride of at least 1, received {} at a stride of {}", max_pool,
           side, length, stride);
    }
    if (padding < 0 || 2 * padding > length) {
      fail("pooling", "expected padding of at most half of {} {}, received {}", length, side,
           padding);
    }
    if (length > image + 2 * padding) {
      fail("pooling", "expected at most {} {}, those of the padded image, received {}",
           image + 2 * padding, side, length);
    }
  };
  check("rows", options.rows, options.row_stride, options.row_padding, input.height);
  check("columns", options.columns, options.column_stride, options.column_padding, input.width);
  return {.channels = input.channels,
          .height =
              rectangles_along(input.height, options.rows, options.row_stride, options.row_padding),
          .width = rectangles_along(input.width, options.columns, options.column_stride,
                                    options.column_padding)};
}

std::vector<WiringPtr> pooling_wirings(const ImageSize& input, const PoolingOptions& options) {
  output_size(input, options);  // checks the options
  if (options.rows * options.columns <= max_gate_inputs) return {pooling_wiring(input, options)};
  PoolingOptions within_rows = options;
  within_rows.rows = within_rows.row_stride = 1;
  within_rows.row_padding = 0;
  PoolingOptions across_rows = options;
  across_rows.columns = across_rows.column_stride = 1;
  across_rows.column_padding = 0;
  return {pooling_wiring(input, within_rows),
          pooling_wiring(output_size(input, within_rows), across_rows)};
}

CandidatesPtr convolution_candidates(const ImageSize& input, const ConvolutionOptions& options,
                                     std::int64_t count, std::uint64_t seed, std::uint32_t layer) {
  output_size(input, options);  // checks the options
  const std::int64_t places = place_count(input, options);
  if (count < 2 || count > places) {
    fail("convolution",
         "expected from 2 to {} candidates per leaf, the places that a kernel reads, received {}",
         places, count);
  }
  const auto channels = kernel_channels(input, options, seed, layer);
  const std::int64_t height = positions_along(input.height, options);
  const std::int64_t width = positions_along(input.width, options);
  const std::int64_t positions = height * width;
  const std::int64_t tables = options.kernels * options.leaves() / options.arity;
  Tensor sources({tables * positions, options.arity, count}, DType::int32);
  const auto to = sources.mutable_values<std::int32_t>();
  for (std::int64_t leaf = 0; leaf < options.kernels * options.leaves(); ++leaf) {
    const std::vector<std::int64_t> order =
        shuffled(places, {.seed = seed,
                          .stream = candidate_stream + layer,
                          .index = static_cast<std::uint64_t>(leaf) << 32});
    const std::int64_t table = leaf / options.arity;
    const std::int64_t slot = leaf % options.arity;
    for (std::int64_t k = 0; k < count; ++k) {
      const Leaf place =
          leaf_at(order[index(k)], channels[index(leaf / options.leaves())], options.window);
      for (std::int64_t p = 0; p < positions; ++p) {
        const std::int64_t gate = table * positions + p;
        to[index((gate * options.arity + slot) * count + k)] =
            source_of(place, p / width, p % width, input, options);
      }
    }
  }
  return std::make_shared<const WireCandidates>(
      input.bits(), sources,
      CandidateSharing{.positions = positions, .has_outside = options.padding > 0});
}

}  // namespace boolgrad::logic

// Packed states of automata: a word holds 64 cells of one row and channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::automata {

/// A rectangle of cells: rows [top, top + height), columns [left, left + width).
struct Rectangle {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// A batch of grids with several channels per cell. Each grid has a halo row above and below. Bits
/// beyond the last column are 0.
class BitGrid {
 public:
  /// A batch of grids with all cells 0.
  BitGrid(std::int64_t channels, std::int64_t batch, std::int64_t height, std::int64_t width);

  /// Packs a tensor [channels, batch, height, width] of any dtype: 1 where a value is above one
  /// half.
  static BitGrid from(const Tensor& state);
  /// Unpacks to a tensor of zeros and ones.
  Tensor to_tensor(DType dtype) const;

  /// Channels per cell.
  std::int64_t channels() const { return channels_; }
  /// Number of grids.
  std::int64_t batch() const { return batch_; }
  /// Rows of a grid.
  std::int64_t height() const { return height_; }
  /// Columns of a grid.
  std::int64_t width() const { return width_; }

  /// One bit of a cell.
  bool at(std::int64_t channel, std::int64_t item, std::int64_t y, std::int64_t x) const {
    return ((words_[word(channel, item, y, x)] >> (x % 64)) & 1) != 0;
  }
  /// Sets one bit of a cell.
  void set(std::int64_t channel, std::int64_t item, std::int64_t y, std::int64_t x, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (x % 64);
    std::uint64_t& to = words_[word(channel, item, y, x)];
    to = value ? to | bit : to & ~bit;
  }

  /// Sets all channels of a rectangle to 0, in every grid.
  void clear(const Rectangle& rectangle);

  /// Words per row.
  std::size_t row_words() const { return row_words_; }
  /// Words per channel.
  std::size_t channel_words() const { return channel_words_; }
  /// The words of a channel: [batch][height + 2][row_words].
  std::span<std::uint64_t> channel(std::int64_t index) {
    return std::span(words_).subspan(static_cast<std::size_t>(index) * channel_words_,
                                     channel_words_);
  }
  /// The words of a channel.
  std::span<const std::uint64_t> channel(std::int64_t index) const {
    return std::span(words_).subspan(static_cast<std::size_t>(index) * channel_words_,
                                     channel_words_);
  }

  /// The words of all channels.
  std::span<std::uint64_t> words() { return words_; }
  /// The words of all channels.
  std::span<const std::uint64_t> words() const { return words_; }

  /// The bits of the last word of a row that are cells.
  std::uint64_t last_word_mask() const {
    return width_ % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (width_ % 64)) - 1;
  }

 private:
  std::size_t word(std::int64_t channel, std::int64_t item, std::int64_t y, std::int64_t x) const {
    const auto row = static_cast<std::size_t>(item * (height_ + 2) + y + 1);
    return static_cast<std::size_t>(channel) * channel_words_ + row * row_words_ +
           static_cast<std::size_t>(x / 64);
  }

  std::int64_t channels_;
  std::int64_t batch_;
  std::int64_t height_;
  std::int64_t width_;
  std::size_t row_words_;
  std::size_t channel_words_;
  std::vector<std::uint64_t> words_;
};

}  // namespace boolgrad::automata

// Convolutions of gate trees: kernels of gates that are applied at every position of an image.
//
// A kernel is a complete tree of gates. Its leaves read places of a window, and all positions share
// its tables. The outputs of a kernel, one per position, are a channel of the next image. Pooling
// takes the maximum (OR) over squares of positions.
//
// In a network, a convolution is one layer of gates per level of the tree, with one table for all
// positions (`TableSharing`), followed by a pooling layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/logic/wire_candidates.h"
#include "boolgrad/logic/wiring.h"

namespace boolgrad::logic {

/// The size of an image of bits. Its bits are in the order (channel, row, column).
struct ImageSize {
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;

  /// Number of bits.
  std::int64_t bits() const { return channels * height * width; }
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// The shape of a convolution.
struct ConvolutionOptions {
  std::int64_t kernels = 16;
  std::int64_t window = 3;  ///< side of the square that a kernel reads
  std::int64_t stride = 1;
  std::int64_t padding = 0;  ///< rows and columns of zeros around the image
  int depth = 3;             ///< levels of the tree; 1 is a single gate
  int arity = 2;             ///< inputs per gate
  /// Channels that a kernel reads, of its group; fewer if the group has fewer.
  std::int64_t channels_per_kernel = 2;
  std::int64_t groups = 1;  ///< groups of channels that do not mix
  std::int64_t pool = 2;    ///< side of the squares that are pooled; 1: no pooling

  /// Number of leaves of a kernel.
  std::int64_t leaves() const;
  /// Number of gates of a kernel.
  std::int64_t gates() const;
  /// Number of layers of a network: levels of the tree, and pooling.
  std::int64_t layers() const;
};

/// The largest side of a pooled square.
inline constexpr std::int64_t max_pool = 6;
/// The largest number of leaves of a kernel.
inline constexpr std::int64_t max_leaves = 4096;

/// The size of the images that a convolution computes. Throws if it does not fit the image: a
/// window larger than the padded image, or a number of channels or kernels that the groups do not
/// divide.
ImageSize output_size(const ImageSize& input, const ConvolutionOptions& options);

/// The wirings of a convolution: levels of the tree from the leaves to the root, then pooling. The
/// places that leaves read are random and differ as long as the window has enough of them. `layer`
/// distinguishes the convolutions of a network that share a seed.
std::vector<WiringPtr> convolution_wirings(const ImageSize& input,
                                           const ConvolutionOptions& options, std::uint64_t seed,
                                           std::uint32_t layer);

/// The place that a leaf of a kernel reads, relative to the position of the kernel. A row and a
/// column of 0 is the first place of the window, which may lie in the padding.
struct ConvolutionLeaf {
  std::int64_t channel = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// The leaves that `convolution_wirings` chooses, kernel by kernel.
std::vector<ConvolutionLeaf> convolution_leaves(const ImageSize& input,
                                                const ConvolutionOptions& options,
                                                std::uint64_t seed, std::uint32_t layer);

/// The wirings of a convolution with given leaves, kernel by kernel. `channels_per_kernel` and
/// `groups` are not used. Throws if there are not `kernels` times `leaves()` of them, or if one
/// lies outside of the window or the channels.
std::vector<WiringPtr> convolution_wirings(const ImageSize& input,
                                           const ConvolutionOptions& options,
                                           std::span<const ConvolutionLeaf> leaves);

/// Pooling over rectangles, which may overlap. Places of the padding are never the maximum.
struct PoolingOptions {
  std::int64_t rows = 2;
  std::int64_t columns = 2;
  std::int64_t row_stride = 2;
  std::int64_t column_stride = 2;
  std::int64_t row_padding = 0;     ///< rows around the image, at most half of `rows`
  std::int64_t column_padding = 0;  ///< columns around the image, at most half of `columns`
  bool first_wins = false;          ///< as in `Wiring::pooling`
};

/// The size of the images after pooling. Rows and columns that fill no rectangle are dropped.
/// Throws if a rectangle does not fit the padded image, or if a side exceeds `max_pool`.
ImageSize output_size(const ImageSize& input, const PoolingOptions& options);

/// The wirings of pooling: one, or two if a rectangle has more places than a gate has inputs.
std::vector<WiringPtr> pooling_wirings(const ImageSize& input, const PoolingOptions& options);

/// Candidates for the places that the leaves of a convolution read, instead of its first wiring:
/// `count` random places of the window per leaf, the same at all positions. Throws if the window
/// has fewer places in the channels that a kernel reads.
CandidatesPtr convolution_candidates(const ImageSize& input, const ConvolutionOptions& options,
                                     std::int64_t count, std::uint64_t seed, std::uint32_t layer);

}  // namespace boolgrad::logic

#include "boolgrad/backend/cpu/tensor/permute.h"

#include <algorithm>
#include <cstring>

#include "boolgrad/backend/cpu/tensor/transpose_tile.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

struct Dimension {
  std::int64_t size;
  std::int64_t stride;  ///< in x
};

// The dimensions of the result, outermost first, with the strides of x. Dimensions that stay
// adjacent are merged.
std::vector<Dimension> result_dimensions(const Tensor& x, const Axes& axes) {
  const std::vector<std::int64_t> strides = row_major_strides(x.shape());
  std::vector<Dimension> dimensions;
  for (const std::int64_t axis : axes) {
    const auto i = static_cast<std::size_t>(axis);
    const Dimension next{x.shape()[i], strides[i]};
    if (next.size == 1) continue;
    if (!dimensions.empty() && dimensions.back().stride == next.stride * next.size) {
      dimensions.back() = {dimensions.back().size * next.size, next.stride};
    } else {
      dimensions.push_back(next);
    }
  }
  if (dimensions.empty()) dimensions.push_back({1, 1});
  return dimensions;
}

std::int64_t offset_of(std::span<const Dimension> dimensions, std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    offset += index % dimensions[i].size * dimensions[i].stride;
    index /= dimensions[i].size;
  }
  return offset;
}

std::int64_t count_of(std::span<const Dimension> dimensions) {
  std::int64_t count = 1;
  for (const Dimension& dimension : dimensions) count *= dimension.size;
  return count;
}

// The innermost axis stays innermost: rows are copied whole.
template <class Word>
void copy_rows(const Word* from, Word* to, std::span<const Dimension> dimensions) {
  const std::int64_t length = dimensions.back().size;
  const auto outer = dimensions.first(dimensions.size() - 1);
  const std::int64_t rows = count_of(outer);
  const std::int64_t per_task = std::max<std::int64_t>(1, 32768 / length);
  parallel_for(task_count(static_cast<std::size_t>(rows), static_cast<std::size_t>(per_task)),
               [&](std::size_t task) {
                 const std::int64_t first = static_cast<std::int64_t>(task) * per_task;
                 for (std::int64_t row = first; row < std::min(rows, first + per_task); ++row) {
                   std::memcpy(to + row * length, from + offset_of(outer, row),
                               static_cast<std::size_t>(length) * sizeof(Word));
                 }
               });
}

// One dimension of the result (`line`) is contiguous in x, and another, the innermost, is
// contiguous in the result. Square tiles over the two keep both sides within the cache.
template <class Word>
void copy_tiles(const Word* from, Word* to, std::span<const Dimension> dimensions,
                std::size_t line) {
  constexpr std::int64_t tile = 32;
  const Dimension lines = dimensions[line];
  const Dimension inner = dimensions.back();
  std::int64_t line_stride = 1;  // in the result
  for (std::size_t i = line + 1; i < dimensions.size(); ++i) line_stride *= dimensions[i].size;
  std::vector<Dimension> outer;
  std::vector<Dimension> outer_in_result;
  std::int64_t stride = 1;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    if (i != line && i + 1 != dimensions.size()) {
      outer.insert(outer.begin(), dimensions[i]);
      outer_in_result.insert(outer_in_result.begin(), {dimensions[i].size, stride});
    }
    stride *= dimensions[i].size;
  }
  const std::int64_t strips = (inner.size + tile - 1) / tile;
  const std::int64_t units = count_of(outer) * strips;
  const std::int64_t per_task = std::max<std::int64_t>(1, 32768 / (lines.size * tile));
  parallel_for(task_count(static_cast<std::size_t>(units), static_cast<std::size_t>(per_task)),
               [&](std::size_t task) {
                 const std::int64_t first = static_cast<std::int64_t>(task) * per_task;
                 for (std::int64_t unit = first; unit < std::min(units, first + per_task); ++unit) {
                   const std::int64_t column = unit % strips * tile;
                   const std::int64_t width = std::min(tile, inner.size - column);
                   const Word* source =
                       from + offset_of(outer, unit / strips) + column * inner.stride;
                   Word* target = to + offset_of(outer_in_result, unit / strips) + column;
                   for (std::int64_t top = 0; top < lines.size; top += tile) {
                     transpose_tile(source + top, inner.stride, target + top * line_stride,
                                    line_stride, std::min(tile, lines.size - top), width);
                   }
                 }
               });
}

template <class Word>
void permute_words(const Tensor& x, const Axes& axes, Tensor& out) {
  const Word* from = static_cast<const Word*>(x.data());
  Word* to = static_cast<Word*>(out.mutable_data());
  const std::vector<Dimension> dimensions = result_dimensions(x, axes);
  if (dimensions.back().stride == 1) {
    copy_rows(from, to, dimensions);
    return;
  }
  const auto line = std::ranges::find(dimensions, 1, &Dimension::stride);
  copy_tiles(from, to, dimensions, static_cast<std::size_t>(line - dimensions.begin()));
}

}  // namespace

void permute(const Tensor& x, const Axes& axes, Tensor& out) {
  if (x.size() == 0) return;
  switch (size_of(x.dtype())) {
    case 1: permute_words<std::uint8_t>(x, axes, out); break;
    case 2: permute_words<std::uint16_t>(x, axes, out); break;
    case 4: permute_words<std::uint32_t>(x, axes, out); break;
    default: permute_words<std::uint64_t>(x, axes, out); break;
  }
}

Tensor converted(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x.detach();
  Tensor result(x.shape(), dtype);
  convert_elements(x, result);
  return result;
}

void convert_elements(const Tensor& x, Tensor& out) {
  constexpr std::size_t grain = 32768;
  const auto count = static_cast<std::size_t>(x.size());
  visit_dtype(x.dtype(), [&](auto from_zero) {
    visit_dtype(out.dtype(), [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      const From* from = static_cast<const From*>(x.data());
      To* to = static_cast<To*>(out.mutable_data());
      parallel_for(task_count(count, grain), [&](std::size_t task) {
        const std::size_t end = std::min(count, (task + 1) * grain);
        for (std::size_t i = task * grain; i < end; ++i) to[i] = convert<To>(from[i]);
      });
    });
  });
}

}  // namespace boolgrad::cpu

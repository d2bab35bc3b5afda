// Grids of cells with a margin of one cell around each, and tiles of cells that are cut out of
// them.
//
// A plane is one feature of all cells: [batch][height + 2][width + 2] and some elements to spare.
// With the margin every neighbour of a cell is a fixed distance away, so a neighbourhood is nine
// shifted copies. The margin stays 0, or holds what lies at the opposite border.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

inline constexpr std::size_t neighbourhood = 9;  ///< the cell and its eight neighbours, row-major
inline constexpr std::size_t own_place = 4;

/// Cells of a tile that lie side by side in one row of one grid.
struct GridRun {
  std::int32_t place;    ///< of the first cell, in the tile
  std::int32_t length;   ///< cells
  std::ptrdiff_t plane;  ///< of the first cell, in a plane
  std::ptrdiff_t row;    ///< of the grid
  std::ptrdiff_t column;
};

struct Grid {
  std::int64_t batch = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool periodic = false;

  std::int64_t cells() const { return batch * height * width; }
  std::int64_t row_length() const { return width + 2; }
  /// Elements of a plane, with room for a vector that starts at any cell or its neighbours.
  std::int64_t plane() const { return batch * (height + 2) * row_length() + 64; }

  /// The distance of the nine neighbours.
  std::array<std::ptrdiff_t, neighbourhood> offsets() const;

  /// The runs of cells [first, first + count), which count through rows, then grids.
  std::vector<GridRun> runs(std::int64_t first, std::int64_t count) const;
};

/// Moves tiles between planes and rows. What reads into a row may write up to a vector beyond the
/// row's last cell; what writes to a plane touches these cells only, and their images in the margin
/// of a periodic grid.
struct GridKernels {
  /// row = the cells at `offset` from those of the tile.
  void (*read)(const void* plane, std::span<const GridRun> runs, std::ptrdiff_t offset, void* row);

  /// The transpose of reading all nine neighbours: row = the sum of what the cells around read
  /// from each cell. `planes` holds nine, `apart` elements from each other, one a neighbour.
  void (*gather)(const void* planes, std::size_t apart, const Grid& grid,
                 std::span<const GridRun> runs, void* row);

  void (*write)(const void* row, std::span<const GridRun> runs, const Grid& grid, void* plane);
};

GridKernels grid_kernels(DType dtype);

}  // namespace boolgrad::cpu

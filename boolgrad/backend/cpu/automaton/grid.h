// Padded grids of cells, and tiles of cells.
//
// A plane is one channel of all cells: [batch][height + 2][width + 2] and some spare elements. With
// the padding of one cell every neighbour is at a fixed offset, so a neighbourhood is nine shifted
// copies. The padding is 0, or a copy of the opposite border for periodic grids.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

inline constexpr std::size_t neighbourhood = 9;  ///< the cell and its eight neighbours, row-major
inline constexpr std::size_t centre_cell = 4;    ///< index of the cell itself

/// Adjacent cells of a tile in one row of one grid.
struct GridRun {
  std::int32_t offset;   ///< of the first cell in the tile
  std::int32_t length;   ///< number of cells
  std::ptrdiff_t plane;  ///< offset of the first cell in a plane
  std::ptrdiff_t row;    ///< position of the first cell in the grid
  std::ptrdiff_t column;
};

/// The size and boundary condition of a batch of grids.
struct Grid {
  std::int64_t batch = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool periodic = false;

  std::int64_t cells() const { return batch * height * width; }
  std::int64_t row_length() const { return width + 2; }
  /// Elements of a plane. A vector may start at any cell or neighbour.
  std::int64_t plane() const { return batch * (height + 2) * row_length() + 64; }

  /// The offsets of the nine neighbours in a plane.
  std::array<std::ptrdiff_t, neighbourhood> offsets() const;

  /// The runs of cells [first, first + count), numbered by grid, row and column.
  std::vector<GridRun> runs(std::int64_t first, std::int64_t count) const;
};

/// Copies tiles between planes and tile buffers. Reads may write up to a vector beyond the last
/// cell of the buffer row. Writes touch only the given cells, and their copies in the padding of a
/// periodic grid.
struct GridKernels {
  /// row = the cells at `offset` from those of the tile.
  void (*read)(const void* plane, std::span<const GridRun> runs, std::ptrdiff_t offset, void* row);

  /// The transpose of reading all nine neighbours: row = the sum over neighbours of the gradients
  /// of their reads. `planes` are nine planes, one per neighbour, `stride` elements apart.
  void (*gather)(const void* planes, std::size_t stride, const Grid& grid,
                 std::span<const GridRun> runs, void* row);

  /// The cells of the tile = row.
  void (*write)(const void* row, std::span<const GridRun> runs, const Grid& grid, void* plane);
};

/// The kernels for a dtype on the best instruction set.
GridKernels grid_kernels(DType dtype);

}  // namespace boolgrad::cpu

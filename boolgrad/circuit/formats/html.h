// Netlists as pages that run them in a browser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Inputs or outputs that are a number together, its lowest bit first.
struct PageNumber {
  std::string name;
  std::size_t bits = 0;
};

enum class PageStart : std::uint8_t {
  random,  ///< every channel of every cell 0 or 1
  seed,    ///< the cell in the middle 1 in every channel
};

/// How the page of an automaton begins.
struct AutomatonPage {
  std::int64_t height = 64;
  std::int64_t width = 64;
  PageStart start = PageStart::random;
  std::uint64_t seed = 1;
  double fire_rate = 1;
  std::int64_t trained_steps = 0;  ///< 0 where it does not matter
  /// Where starts, fire masks and damage are drawn: the streams of whoever should draw the same.
  std::uint32_t start_stream = 0;
  std::uint32_t fire_stream = 1;
  std::uint32_t damage_stream = 2;
  bool shows_colours = false;  ///< the first three channels as red, green and blue
  /// What cells are to become, uint8 [channels, height, width]; undefined for nothing.
  Tensor target = {};
  bool repeats_target = false;  ///< over the whole grid; else it lies in the middle
};

struct PageOptions {
  std::int64_t gates_before = 0;  ///< before simplification, to be told; 0 for unknown
  /// What a circuit's bits mean; where nothing is said, they are one number x and one y.
  std::vector<PageNumber> inputs = {};
  std::vector<PageNumber> outputs = {};
  AutomatonPage automaton = {};
};

/// One page without references to anything outside of it. A circuit has its inputs as switches, an
/// automaton its grid of cells; docs/circuits.md tells what can be done there, and what an address
/// may ask for.
std::string to_html(const Netlist& netlist, const PageOptions& options = {});

/// The netlist that a page runs. Errors name `file`.
Netlist netlist_from_html(std::string_view html, const std::string& file);

}  // namespace boolgrad

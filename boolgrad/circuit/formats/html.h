// The HTML viewer: a page that runs a netlist in a browser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::circuit {

/// Consecutive inputs or outputs that form a number, least significant bit first.
struct HtmlNumber {
  std::string name;
  std::size_t bits = 0;
};

/// Initial states of an automaton.
enum class HtmlStart : std::uint8_t {
  random,  ///< every channel of every cell is 0 or 1 at random
  seed,    ///< only the cell in the middle is 1, in every channel
};

/// The initial settings of the viewer for an automaton.
struct HtmlAutomaton {
  std::int64_t height = 64;
  std::int64_t width = 64;
  HtmlStart start = HtmlStart::random;
  std::uint64_t seed = 1;
  double fire_rate = 1;
  std::int64_t trained_steps = 0;  ///< 0 for unknown
  /// The random streams of initial states, fire masks and damage, to reproduce other runs.
  std::uint32_t start_stream = 0;
  std::uint32_t fire_stream = 1;
  std::uint32_t damage_stream = 2;
  bool shows_colours = false;  ///< the first three channels as red, green and blue
  /// The target, uint8 [channels, height, width]; undefined for none.
  Tensor target = {};
  bool repeats_target = false;  ///< tile the grid with the target, else centre it
};

/// Options of `to_html`.
struct HtmlOptions {
  std::int64_t gates_before = 0;  ///< gate count before simplification, shown if not 0
  /// Numbers that the bits of a circuit form. By default one number x and one number y.
  std::vector<HtmlNumber> inputs = {};
  std::vector<HtmlNumber> outputs = {};
  HtmlAutomaton automaton = {};
};

/// A self-contained HTML page. A circuit has switches for its inputs, an automaton a grid of cells.
/// docs/circuits.md describes the controls and the URL parameters.
std::string to_html(const Netlist& netlist, const HtmlOptions& options = {});

/// Reads the netlist of such a page. Errors name `file`.
Netlist netlist_from_html(std::string_view html, const std::string& file);

}  // namespace boolgrad::circuit

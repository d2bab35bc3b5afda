// The HTML viewer: a page that runs a netlist in a browser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/options/head.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::circuit {

/// Consecutive inputs or outputs that form a number, least significant bit first.
struct HtmlNumber {
  std::string name;
  std::size_t bits = 0;
};

/// Initial states of an automaton.
enum class HtmlStart : std::uint8_t {
  random,  ///< every channel of every cell is 0 or 1 at random, or every cell in a random state
  seed,    ///< only the cell in the middle is 1, in every channel
};

/// The initial settings of the viewer for an automaton.
struct HtmlAutomaton {
  std::int64_t height = 64;
  std::int64_t width = 64;
  HtmlStart start = HtmlStart::random;
  /// States of a cell. 2: the channels of random cells are independent. More: state 0 has no
  /// channel, and each other state is a channel of its own, of which a cell has at most one.
  std::int64_t states = 2;
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

/// A column of a table, or a feature on its own.
struct HtmlColumn {
  std::string name;
  /// Of a column of words: one feature per word, 1 for the word that is chosen.
  std::vector<std::string> categories = {};
};

/// What surrounds the circuit of a classifier.
struct HtmlClassifier {
  Netlist core;  ///< the circuit without its head
  Head head;
  std::vector<std::int32_t> sources;  ///< the feature of each input
  std::vector<float> thresholds;      ///< input i is 1 where its feature exceeds threshold i
  std::int64_t features = 0;
  bool has_bytes = false;
  /// Names, in the order of the features; features beyond have numbers.
  std::vector<HtmlColumn> columns = {};
  std::vector<std::string> classes = {};  ///< names; numbers if empty
  // Images are [channels, height, width]; 0 for tables.
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Options of `to_html`.
struct HtmlOptions {
  std::int64_t gates_before = 0;  ///< gate count before simplification, shown if not 0
  /// Numbers that the bits of a circuit form. By default one number x and one number y.
  std::vector<HtmlNumber> inputs = {};
  std::vector<HtmlNumber> outputs = {};
  HtmlAutomaton automaton = {};
  /// Shows fields or a drawing pad instead of bits, and scores.
  std::optional<HtmlClassifier> classifier = {};
};

/// A self-contained HTML page. A circuit has switches for its inputs, an automaton a grid of cells,
/// a classifier fields for its features. docs/circuits.md describes the controls and the URL
/// parameters.
std::string to_html(const Netlist& netlist, const HtmlOptions& options = {});

/// Reads the netlist of such a page. Errors name `file`.
Netlist netlist_from_html(std::string_view html, const std::string& file);

}  // namespace boolgrad::circuit

#include "boolgrad/circuit/formats/c99.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/formats/infix_formula.h"
#include "boolgrad/circuit/formats/net_names.h"
#include "boolgrad/circuit/formats/position_text.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

/// Replaces comment delimiters, so that a name cannot end the comment.
std::string in_comment(std::string_view name) {
  std::string text = printable(name);
  for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text[at + 1] = '_';
  for (std::size_t at = 0; (at = text.find("/*", at)) != std::string::npos;) text[at] = '_';
  return text;
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string list_of_names(std::string_view array, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(" *   {}[{}]  {}\n", array, i, in_comment(names[i]));
  }
  return text;
}

std::string net_text(const Netlist& netlist, Net net) {
  return netlist.is_input(net) ? fmt::format("in[{}]", net)
                               : fmt::format("n{}", net - netlist.inputs.size());
}

/// Definitions of the nets that outputs depend on.
std::string definitions(const Netlist& netlist) {
  const InfixConstants constants{"UINT64_C(0)", "~UINT64_C(0)"};
  const std::vector<bool> reachable = reachable_gates(netlist);
  std::string text;
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    if (!reachable[i]) continue;
    fmt::format_to(std::back_inserter(text), "  const uint64_t n{} = {};\n", i,
                   infix_formula(netlist.gates[i], constants,
                                 [&](Net net) { return net_text(netlist, net); }));
  }
  return text;
}

/// A function that computes all outputs of a netlist.
std::string function_of(const Netlist& netlist, const std::string& name) {
  std::string text = fmt::format(
      "static inline void {}(const uint64_t *in, uint64_t *out)\n{{\n{}"
      "  (void)in;\n  (void)out;\n",
      name, definitions(netlist));
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "  out[{}] = {};\n", i,
                   net_text(netlist, netlist.output_nets[i]));
  }
  return text + "}\n";
}

std::string evaluation_comment(const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs) {
  return fmt::format(
      "/* Evaluates 64 samples: bit s of every word is sample s. in and out must not "
      "overlap.\n{}{} */\n",
      list_of_names("in", inputs), list_of_names("out", outputs));
}

/// The header up to the first function.
std::string opening(const std::string& name, std::string_view what, std::size_t inputs,
                    std::size_t outputs) {
  const std::string upper = upper_case(identifier(name));
  return fmt::format(
      "/* {}: {}, written by boolgrad. C99, with no dependencies. */\n"
      "#ifndef {}_H\n#define {}_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "#define {}_INPUTS {}\n#define {}_OUTPUTS {}\n\n",
      in_comment(name), what, upper, upper, upper, inputs, upper, outputs);
}

/// The value of a leaf at row y and column x.
std::string leaf_text(const SharedStage& stage, const SharedLeaf& leaf, std::int64_t channel_bits) {
  const std::string inside = inside_text(stage, leaf);
  if (inside == "0") return "0";
  const std::string bit =
      fmt::format("in[{}]", index_text(stage, leaf, leaf.channel * channel_bits));
  return inside.empty() ? bit : fmt::format("{} ? {} : 0", inside, bit);
}

/// A loop over the positions of a stage.
std::string loop(const SharedStage& stage, const std::string& body) {
  return fmt::format(
      "  for (y = 0; y < {}; ++y) {{\n    for (x = 0; x < {}; ++x) {{\n{}    }}\n  }}\n",
      stage.rows, stage.columns, body);
}

std::string kernel_function(const SharedKernel& kernel, const std::string& name) {
  return fmt::format(
      "static inline uint64_t {}(const uint64_t *in)\n{{\n{}  (void)in;\n  return {};\n}}\n\n",
      name, definitions(kernel.function),
      net_text(kernel.function, kernel.function.output_nets[0]));
}

/// The functions of a convolution: its kernels, and one that calls them at all positions.
std::string convolution(const SharedStage& stage, std::int64_t channel_bits,
                        const std::string& name) {
  std::string text;
  std::string loops;
  for (std::size_t k = 0; k < stage.kernels.size(); ++k) {
    const SharedKernel& kernel = stage.kernels[k];
    const std::string function = fmt::format("{}_kernel_{}", name, k);
    text += kernel_function(kernel, function);
    std::string leaves;
    for (const SharedLeaf& leaf : kernel.leaves) {
      leaves += fmt::format("        {},\n", leaf_text(stage, leaf, channel_bits));
    }
    const std::int64_t first = static_cast<std::int64_t>(k) * stage.positions();
    loops += loop(stage, fmt::format("      const uint64_t leaves[] = {{\n{}      }};\n"
                                     "      out[{}] = {}(leaves);\n",
                                     leaves, position_text(stage, first), function));
  }
  return text + fmt::format(
                    "/* {} kernels at {} x {} positions. */\nstatic inline void {}(const uint64_t "
                    "*in, uint64_t *out)\n{{\n  size_t y, x;\n{}}}\n\n",
                    stage.channels, stage.rows, stage.columns, name, loops);
}

std::string pooling(const SharedStage& stage, std::int64_t channel_bits, const std::string& name) {
  std::string text;
  for (const SharedLeaf& leaf : stage.pooled) {
    text += fmt::format("{}in[{}]", text.empty() ? "" : " | ", index_text(stage, leaf));
  }
  return fmt::format(
      "/* Pooling of {0} channels to {1} x {2} positions. */\n"
      "static inline void {3}(const uint64_t *in, uint64_t *out)\n{{\n"
      "  size_t c, y, x;\n  for (c = 0; c < {0}; ++c, in += {4}, out += {5}) {{\n"
      "    for (y = 0; y < {1}; ++y) {{\n      for (x = 0; x < {2}; ++x) {{\n"
      "        out[{6}] = {7};\n      }}\n    }}\n  }}\n}}\n\n",
      stage.channels, stage.rows, stage.columns, name, channel_bits, stage.positions(),
      position_text(stage), text);
}

/// The function that calls all stages and the rest. Stages alternate between two buffers.
std::string shared_evaluation(const SharedCircuit& circuit, const std::string& name) {
  std::array<std::int64_t, 2> sizes{1, 1};
  if (!circuit.masked_inputs.empty()) sizes[1] = std::ssize(circuit.inputs);
  for (std::size_t i = 0; i < circuit.stages.size(); ++i) {
    sizes[i % 2] = std::max(sizes[i % 2], circuit.stages[i].bits());
  }
  std::string calls;
  if (!circuit.masked_inputs.empty()) {
    calls += fmt::format("  for (i = 0; i < {}_INPUTS; ++i) odd[i] = in[i];\n", upper_case(name));
    for (const std::size_t i : circuit.masked_inputs) calls += fmt::format("  odd[{}] = 0;\n", i);
  }
  const auto result = [](std::size_t stage) { return stage % 2 == 0 ? "even" : "odd"; };
  for (std::size_t i = 0; i < circuit.stages.size(); ++i) {
    const bool reads_inputs = i == 0 && circuit.masked_inputs.empty();
    calls += fmt::format("  {}_stage_{}({}, {});\n", name, i, reads_inputs ? "in" : result(i + 1),
                         result(i));
  }
  return fmt::format(
      "{}static inline void {}_eval(const uint64_t *in, uint64_t *out)\n{{\n"
      "  uint64_t even[{}];\n{}{}{}  {}_rest({}, out);\n}}\n",
      evaluation_comment(circuit.inputs, circuit.rest.outputs), name, sizes[0],
      circuit.stages.size() > 1 || !circuit.masked_inputs.empty()
          ? fmt::format("  uint64_t odd[{}];\n", sizes[1])
          : "",
      circuit.masked_inputs.empty() ? "" : "  size_t i;\n", calls, name,
      result(circuit.stages.size() - 1));
}

// Placeholders are words between @, which cannot occur in names.
constexpr std::string_view stepping = R"(
#define @NAME@_CHANNELS @channels@

/* The number of words in a row of width cells. */
static inline size_t @name@_row_words(size_t width)
{
  return (width + 63) / 64;
}

/* The 64 cells of word w of a row, and their left and right neighbours. A row beyond the border is
 * null. */
static inline void @name@_neighbours(const uint64_t *row, size_t w, size_t width, uint64_t *left,
                             uint64_t *here, uint64_t *right)
{
  const size_t words = @name@_row_words(width);
  const size_t last = (width - 1) % 64;
  if (row == NULL) {
    *left = *here = *right = 0;
    return;
  }
  *here = row[w];
  *left = row[w] << 1;
  *right = row[w] >> 1;
  if (w > 0) *left |= row[w - 1] >> 63;
  else if (@periodic@) *left |= (row[words - 1] >> last) & 1;
  if (w + 1 < words) *right |= row[w + 1] << 63;
  else if (@periodic@) *right |= (row[0] & 1) << last;
}

/* One step of a grid of height x width cells. state and next are [channel][row][word]; cell x of a
 * row is bit x % 64 of word x / 64, and bits beyond the last cell are 0. If fire, [row][word], is
 * not null, only cells that are 1 in it are updated. state and next must not overlap. */
static inline void @name@_step(const uint64_t *state, uint64_t *next, const uint64_t *fire,
                             size_t height, size_t width)
{
  const size_t words = @name@_row_words(width);
  const size_t channel = height * words;
  const uint64_t mask = ~UINT64_C(0) >> (63 - (width - 1) % 64);
  uint64_t in[@NAME@_INPUTS];
  uint64_t out[@NAME@_OUTPUTS];
  size_t y, w, c, d;
  for (y = 0; y < height; ++y) {
    for (w = 0; w < words; ++w) {
      const uint64_t cells = w + 1 == words ? mask : ~UINT64_C(0);
      for (c = 0; c < @NAME@_CHANNELS; ++c) {
        for (d = 0; d < 3; ++d) {
          const int above = y == 0 && d == 0;
          const int below = y + 1 == height && d == 2;
          const size_t other = above ? height - 1 : below ? 0 : y + d - 1;
          const uint64_t *row = state + c * channel + other * words;
          if ((above || below) && !@periodic@) row = NULL;
          @name@_neighbours(row, w, width, &in[9 * c + 3 * d], &in[9 * c + 3 * d + 1],
                    &in[9 * c + 3 * d + 2]);
        }
      }
      @name@_eval(in, out);
      for (c = 0; c < @NAME@_CHANNELS; ++c) {
        const size_t at = c * channel + y * words + w;
        const uint64_t stepping = cells & (fire == NULL ? ~UINT64_C(0) : fire[y * words + w]);
        next[at] = (state[at] & ~stepping) | (out[c] & stepping);
      }
    }
  }
}
)";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string step_of(const NetlistState& state, const std::string& name) {
  std::string text(stepping);
  replace_all(text, "@periodic@", state.border == Border::periodic ? "1" : "0");
  replace_all(text, "@channels@", std::to_string(state.channels));
  replace_all(text, "@NAME@", upper_case(name));
  replace_all(text, "@name@", name);
  return text;
}

}  // namespace

std::string to_c(const Netlist& netlist) {
  const std::string name = netlist.name.empty() ? "circuit" : netlist.name;
  std::string text = opening(name, fmt::format("a circuit of {} gates", netlist.gates.size()),
                             netlist.inputs.size(), netlist.outputs.size());
  text += evaluation_comment(netlist.inputs, netlist.outputs);
  text += function_of(netlist, identifier(name) + "_eval");
  if (netlist.state) text += step_of(*netlist.state, identifier(name));
  return text + "\n#endif\n";
}

std::string to_c(const SharedCircuit& circuit) {
  const std::string name = identifier(circuit.name);
  std::string text =
      opening(circuit.name,
              fmt::format("a circuit of {} kernels", fmt::join(circuit.kernel_counts(), " + ")),
              circuit.inputs.size(), circuit.rest.outputs.size());
  for (std::size_t i = 0; i < circuit.stages.size(); ++i) {
    const SharedStage& stage = circuit.stages[i];
    const std::string function = fmt::format("{}_stage_{}", name, i);
    text += stage.pools() ? pooling(stage, circuit.channel_bits(i), function)
                          : convolution(stage, circuit.channel_bits(i), function);
  }
  text += "/* The gates after the convolutions. */\n" + function_of(circuit.rest, name + "_rest") +
          "\n";
  return text + shared_evaluation(circuit, name) + "\n#endif\n";
}

}  // namespace boolgrad::circuit

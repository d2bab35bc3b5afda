#include "boolgrad/circuit/formats/c99.h"

#include <fmt/format.h>

#include <cctype>
#include <iterator>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/formats/infix_formula.h"
#include "boolgrad/circuit/formats/net_names.h"
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

std::string evaluation(const Netlist& netlist, const std::string& name) {
  std::string text = fmt::format(
      "/* Evaluates 64 samples: bit s of every word is sample s. in and out must not "
      "overlap.\n{}{} */\n"
      "static inline void {}_eval(const uint64_t *in, uint64_t *out)\n{{\n",
      list_of_names("in", netlist.inputs), list_of_names("out", netlist.outputs), name);
  auto out = std::back_inserter(text);
  const auto net_text = [&](Net net) {
    return netlist.is_input(net) ? fmt::format("in[{}]", net)
                                 : fmt::format("n{}", net - netlist.inputs.size());
  };
  const InfixConstants constants{"UINT64_C(0)", "~UINT64_C(0)"};
  const std::vector<bool> reachable = reachable_gates(netlist);
  std::string body;
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    if (!reachable[i]) continue;
    fmt::format_to(std::back_inserter(body), "  const uint64_t n{} = {};\n", i,
                   infix_formula(netlist.gates[i], constants, net_text));
  }
  fmt::format_to(out, "{}  (void)in;\n  (void)out;\n", body);
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    fmt::format_to(out, "  out[{}] = {};\n", i, net_text(netlist.output_nets[i]));
  }
  return text + "}\n";
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
  const std::string name = identifier(netlist.name.empty() ? "circuit" : netlist.name);
  const std::string upper = upper_case(name);
  std::string text = fmt::format(
      "/* {}: a circuit of {} gates, written by boolgrad. C99, with no dependencies. */\n"
      "#ifndef {}_H\n#define {}_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "#define {}_INPUTS {}\n#define {}_OUTPUTS {}\n\n",
      in_comment(netlist.name), netlist.gates.size(), upper, upper, upper, netlist.inputs.size(),
      upper, netlist.outputs.size());
  text += evaluation(netlist, name);
  if (netlist.state) text += step_of(*netlist.state, name);
  return text + "\n#endif\n";
}

}  // namespace boolgrad::circuit

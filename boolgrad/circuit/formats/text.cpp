#include "boolgrad/circuit/formats/text.h"

#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "boolgrad/circuit/formats/named_netlist.h"
#include "boolgrad/circuit/formats/net_names.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "netlist";
constexpr std::string_view hexadecimal = "0123456789ABCDEF";
constexpr const char* border_names[] = {"zero", "periodic"};

bool is_plain(char c) { return c > ' ' && c != '%' && c != '#' && c != 0x7F; }

/// A name as one word. Special characters are percent-encoded.
std::string as_word(std::string_view name) {
  std::string word;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c) || byte >= 0x80) {
      word += c;
    } else {
      word += {'%', hexadecimal[byte >> 4], hexadecimal[byte & 15]};
    }
  }
  return word;
}

std::string digits_of(const NetlistGate& gate) {
  std::string digits;
  for (unsigned i = 0; i < 1U << gate.arity; ++i) digits += (gate.truth >> i & 1) != 0 ? '1' : '0';
  return digits;
}

/// Reads line by line. Names are resolved and gates sorted at the end.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), source_{where, file} {}

  Netlist read() {
    constexpr std::size_t usual_line = 32;
    named_.gates.reserve(text_.size() / usual_line);
    while (!ended_ && next_line()) {
      if (!words_.empty()) read_line();
    }
    if (!ended_) refuse("expected a line 'end', received the end of the file");
    check_that_nothing_follows();
    Netlist netlist = sorted(named_, source_);
    netlist.name = name_;
    netlist.state = state_;
    return checked(std::move(netlist));
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const { source_.refuse(line_, message); }

  /// Splits the next line into words and drops comments. False at the end of the file.
  bool next_line() {
    if (position_ >= text_.size()) return false;
    ++line_;
    words_.clear();
    bool comment = false;
    std::size_t begin = position_;
    const auto end_word = [&] {
      if (begin < position_ && !comment) {
        words_.push_back(text_.substr(begin, position_ - begin));
      }
      begin = position_ + 1;
    };
    for (; position_ < text_.size() && text_[position_] != '\n'; ++position_) {
      const char c = text_[position_];
      if (c == ' ' || c == '\t' || c == '\r') {
        end_word();
      } else if (c == '#') {
        end_word();
        comment = true;
      }
    }
    end_word();
    ++position_;
    return true;
  }

  void read_line() {
    const std::string_view kind = words_[0];
    if (!begun_ && kind != "netlist") {
      refuse(fmt::format("expected 'netlist NAME' first, received {}", printable(kind)));
    }
    if (kind == "netlist") return read_opening();
    if (kind == "state") return read_state();
    if (kind == "input") return read_inputs();
    if (kind == "gate") return read_gate();
    if (kind == "output") return read_output();
    if (kind != "end") {
      refuse(
          fmt::format("expected state, input, gate, output or end, received {}", printable(kind)));
    }
    expect_words(1, "end");
    ended_ = true;
  }

  void expect_words(std::size_t count, std::string_view form) const {
    if (words_.size() != count) {
      refuse(fmt::format("expected '{}', received {} words", form, words_.size()));
    }
  }

  void read_opening() {
    if (begun_) refuse("expected one netlist, received a second");
    expect_words(2, "netlist NAME");
    name_ = words_[1] == "%" ? "" : std::string(unescaped(words_[1]));
    begun_ = true;
  }

  void read_state() {
    expect_words(3, "state CHANNELS BORDER");
    if (state_) refuse("expected one state line, received a second");
    NetlistState state;
    const std::string_view count = words_[1];
    const auto [end, error] =
        std::from_chars(count.data(), count.data() + count.size(), state.channels);
    constexpr std::int64_t max_channels = 1 << 24;
    if (error != std::errc{} || end != count.data() + count.size() || state.channels < 1 ||
        state.channels > max_channels) {
      refuse(fmt::format("expected a number of channels, received {}", printable(count)));
    }
    if (words_[2] == border_names[1]) {
      state.border = Border::periodic;
    } else if (words_[2] != border_names[0]) {
      refuse(
          fmt::format("expected the border zero or periodic, received {}", printable(words_[2])));
    }
    state_ = state;
  }

  void read_inputs() {
    for (std::size_t i = 1; i < words_.size(); ++i) {
      named_.inputs.push_back({unescaped(words_[i]), line_});
    }
  }

  void read_gate() {
    if (words_.size() < 3) refuse("expected 'gate NET TABLE SOURCE...', received too few words");
    const std::size_t arity = words_.size() - 3;
    if (arity > NetlistGate::max_inputs) {
      refuse(fmt::format("expected gates of at most {} inputs, received {}",
                         NetlistGate::max_inputs, arity));
    }
    NamedGate gate{{unescaped(words_[1]), line_}, table(words_[2], arity), {}};
    for (std::size_t i = 3; i < words_.size(); ++i) gate.sources.push_back(unescaped(words_[i]));
    named_.gates.push_back(std::move(gate));
  }

  std::uint64_t table(std::string_view digits, std::size_t arity) const {
    const std::size_t entries = std::size_t{1} << arity;
    if (digits.find_first_not_of("01") != std::string_view::npos) {
      refuse(fmt::format("expected a table of 0 and 1, received {}", printable(digits)));
    }
    if (digits.size() != entries) {
      refuse(fmt::format("expected a table of {} digits for {} inputs, received {} digits", entries,
                         arity, digits.size()));
    }
    std::uint64_t truth = 0;
    for (std::size_t i = 0; i < entries; ++i) {
      truth |= std::uint64_t{digits[i] == '1' ? 1U : 0U} << i;
    }
    return truth;
  }

  void read_output() {
    expect_words(3, "output NAME NET");
    const std::string_view name = unescaped(words_[1]);
    if (!output_names_.insert(name).second) {
      refuse(fmt::format("expected unique output names, received {} twice", printable(name)));
    }
    named_.outputs.push_back({{name, line_}, unescaped(words_[2])});
  }

  void check_that_nothing_follows() {
    while (next_line()) {
      if (!words_.empty()) {
        refuse(fmt::format("expected nothing after 'end', received {}", printable(words_[0])));
      }
    }
  }

  std::string_view unescaped(std::string_view word) {
    if (word.find('%') == std::string_view::npos) return word;
    std::string name;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '%') {
        name += word[i];
        continue;
      }
      const std::string_view digits = word.substr(i + 1, 2);
      unsigned byte = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (error != std::errc{} || end != digits.data() + 2) {
        refuse(
            fmt::format("expected two hexadecimal digits after %, received {}", printable(word)));
      }
      name += static_cast<char>(byte);
      i += 2;
    }
    return kept_.emplace_back(std::move(name));
  }

  std::string_view text_;
  SourceText source_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::vector<std::string_view> words_;
  std::deque<std::string> kept_;  // owns decoded names
  std::string name_;
  std::optional<NetlistState> state_;
  NamedNetlist named_;
  std::set<std::string_view> output_names_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace

std::string to_text(const Netlist& netlist) {
  const std::string prefix = free_prefix(netlist.inputs, "n");
  const auto net_name = [&](Net net) {
    return netlist.is_input(net) ? as_word(netlist.inputs[net])
                                 : fmt::format("{}{}", prefix, net - netlist.inputs.size());
  };
  std::string text =
      fmt::format("netlist {}\n", netlist.name.empty() ? "%" : as_word(netlist.name));
  auto out = std::back_inserter(text);
  if (netlist.state) {
    fmt::format_to(out, "state {} {}\n", netlist.state->channels,
                   border_names[static_cast<std::size_t>(netlist.state->border)]);
  }
  for (const std::string& name : netlist.inputs) fmt::format_to(out, "input {}\n", as_word(name));
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    const NetlistGate& gate = netlist.gates[i];
    fmt::format_to(out, "gate {}{} {}", prefix, i, digits_of(gate));
    for (const Net net : gate.sources()) fmt::format_to(out, " {}", net_name(net));
    text += '\n';
  }
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    fmt::format_to(out, "output {} {}\n", as_word(netlist.outputs[i]),
                   net_name(netlist.output_nets[i]));
  }
  return text + "end\n";
}

Netlist netlist_from_text(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

}  // namespace boolgrad::circuit

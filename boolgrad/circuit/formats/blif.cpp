#include "boolgrad/circuit/formats/blif.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
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

constexpr const char* where = "blif";

/// The names of nets, and the outputs that need a buffer because their driver has another name.
struct BlifNames {
  std::vector<std::string> nets;
  std::vector<std::string> outputs;
  std::vector<std::size_t> copies;
};

BlifNames names_of(const Netlist& netlist) {
  NetNames names({}, true);
  BlifNames result;
  result.nets = names.take_all(netlist.inputs);
  result.outputs = names.take_all(netlist.outputs);
  result.nets.resize(netlist.gate(netlist.gates.size()));
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    std::string& driver = result.nets[netlist.output_nets[i]];
    if (driver.empty()) {
      driver = result.outputs[i];
    } else {
      result.copies.push_back(i);
    }
  }
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    std::string& name = result.nets[netlist.gate(i)];
    if (name.empty()) name = names.take(fmt::format("n{}", i));
  }
  return result;
}

bool is_constant(const NetlistGate& gate) {
  return gate.truth == 0 || std::popcount(gate.truth) == 1 << gate.arity;
}

/// The cover of a gate: one line per entry that is 1, or per entry that is 0 if those are fewer.
std::string cover_of(const NetlistGate& gate) {
  const unsigned entries = 1U << gate.arity;
  const auto ones = static_cast<unsigned>(std::popcount(gate.truth));
  const bool listed = 2 * ones <= entries;
  std::string text;
  for (unsigned i = 0; i < entries; ++i) {
    if (((gate.truth >> i & 1) != 0) != listed) continue;
    for (unsigned j = 0; j < gate.arity; ++j) text += (i >> j & 1) != 0 ? '1' : '0';
    text += listed ? " 1\n" : " 0\n";
  }
  return text;
}

void write_names(std::string& text, std::string_view keyword,
                 const std::vector<std::string>& names) {
  text += keyword;
  for (const std::string& name : names) text += " \\\n " + name;
  text += '\n';
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), source_{where, file} {}

  Netlist read() {
    while (!ended_ && next_line()) {
      if (!words_.empty()) read_line();
    }
    if (!ended_) refuse("expected a line '.end', received the end of the file");
    end_cover();
    for (const NamedNet& output : outputs_) named_.outputs.push_back({output, output.name});
    Netlist netlist = sorted(named_, source_);
    netlist.name = name_;
    return checked(std::move(netlist));
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const { source_.refuse(line_, message); }

  std::string_view next_line_of_text() {
    ++line_;
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    std::string_view line = text_.substr(position_, end - position_);
    position_ = end + 1;
    line = line.substr(0, line.find('#'));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    return line;
  }

  /// The words of the next line, with \ continuations joined. False at the end of the file.
  bool next_line() {
    if (position_ >= text_.size()) return false;
    words_.clear();
    bool goes_on = true;
    while (goes_on && position_ < text_.size()) {
      std::string_view line = next_line_of_text();
      goes_on = !line.empty() && line.back() == '\\';
      if (goes_on) line.remove_suffix(1);
      add_words(line);
    }
    return true;
  }

  void add_words(std::string_view line) {
    constexpr std::string_view blank = " \t";
    for (std::size_t at = line.find_first_not_of(blank); at != std::string_view::npos;) {
      const std::size_t stop = std::min(line.find_first_of(blank, at), line.size());
      words_.push_back(line.substr(at, stop - at));
      at = line.find_first_not_of(blank, stop);
    }
  }

  void read_line() {
    const std::string_view kind = words_[0];
    if (!kind.starts_with('.')) return read_row();
    end_cover();
    if (kind == ".model") return read_model();
    if (kind == ".inputs") return read_nets(named_.inputs);
    if (kind == ".outputs") return read_outputs();
    if (kind == ".names") return begin_cover();
    if (kind != ".end") {
      refuse(
          fmt::format("expected .model, .inputs, .outputs, .names or .end of a combinational "
                      "circuit, received {}",
                      printable(kind)));
    }
    ended_ = true;
  }

  void read_model() {
    if (begun_) refuse("expected one model, received a second");
    begun_ = true;
    if (words_.size() > 1) name_ = words_[1];
  }

  void read_nets(std::vector<NamedNet>& nets) const {
    for (std::size_t i = 1; i < words_.size(); ++i) nets.push_back({words_[i], line_});
  }

  void read_outputs() {
    read_nets(outputs_);
    for (std::size_t i = 1; i < words_.size(); ++i) {
      if (!output_names_.insert(words_[i]).second) {
        refuse(
            fmt::format("expected unique output names, received {} twice", printable(words_[i])));
      }
    }
  }

  void begin_cover() {
    if (words_.size() < 2) refuse("expected '.names SOURCE... NET', received no net");
    const std::size_t arity = words_.size() - 2;
    if (arity > NetlistGate::max_inputs) {
      refuse(fmt::format("expected .names of at most {} inputs, received {}",
                         NetlistGate::max_inputs, arity));
    }
    gate_ = NamedGate{{words_.back(), line_}, 0, {words_.begin() + 1, words_.end() - 1}};
    covered_.reset();
  }

  /// A line of a cover: 0, 1 or - (don't care) per input, and the output.
  void read_row() {
    if (!gate_) {
      refuse(
          fmt::format("expected a line that begins with a dot, received {}", printable(words_[0])));
    }
    const std::size_t arity = gate_->sources.size();
    const std::string_view row = arity == 0 ? std::string_view() : words_[0];
    const std::string_view value = words_.back();
    if (words_.size() != (arity == 0 ? 1 : 2) || row.size() != arity ||
        row.find_first_not_of("01-") != std::string_view::npos) {
      refuse(fmt::format("expected {} characters 0, 1 or - and the output, received {}", arity,
                         printable(words_[0])));
    }
    if (value != "0" && value != "1") {
      refuse(fmt::format("expected the output 0 or 1, received {}", printable(value)));
    }
    const bool one = value == "1";
    if (covered_ && *covered_ != one)
      refuse("expected a cover with one output value, received 0 and 1");
    covered_ = one;
    for (std::uint64_t i = 0; i < std::uint64_t{1} << arity; ++i) {
      if (covers(row, i)) gate_->truth |= std::uint64_t{1} << i;
    }
  }

  static bool covers(std::string_view row, std::uint64_t entry) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] != '-' && (row[j] == '1') != ((entry >> j & 1) != 0)) return false;
    }
    return true;
  }

  void end_cover() {
    if (!gate_) return;
    // A cover with output 0 lists the off-set.
    if (covered_ && !*covered_) {
      const unsigned entries = 1U << gate_->sources.size();
      gate_->truth = ~gate_->truth & (~std::uint64_t{0} >> (64 - entries));
    }
    named_.gates.push_back(std::move(*gate_));
    gate_.reset();
  }

  std::string_view text_;
  SourceText source_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::vector<std::string_view> words_;
  std::string name_;
  NamedNetlist named_;
  std::vector<NamedNet> outputs_;
  std::set<std::string_view> output_names_;
  std::optional<NamedGate> gate_;  // whose cover is being read
  std::optional<bool> covered_;    // the output value of its cover
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace

std::string to_blif(const Netlist& netlist) {
  const BlifNames names = names_of(netlist);
  std::string text =
      fmt::format(".model {}\n", identifier(netlist.name.empty() ? "circuit" : netlist.name));
  write_names(text, ".inputs",
              {names.nets.begin(), names.nets.begin() + std::ssize(netlist.inputs)});
  write_names(text, ".outputs", names.outputs);
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    const NetlistGate& gate = netlist.gates[i];
    const std::string& name = names.nets[netlist.gate(i)];
    // ABC accepts constants only without sources.
    if (is_constant(gate)) {
      text += fmt::format(".names {}\n{}", name, gate.truth == 0 ? "" : "1\n");
      continue;
    }
    text += ".names";
    for (const Net net : gate.sources()) text += " " + names.nets[net];
    text += " " + name + "\n" + cover_of(gate);
  }
  for (const std::size_t i : names.copies) {
    text +=
        fmt::format(".names {} {}\n1 1\n", names.nets[netlist.output_nets[i]], names.outputs[i]);
  }
  return text + ".end\n";
}

Netlist netlist_from_blif(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

}  // namespace boolgrad::circuit

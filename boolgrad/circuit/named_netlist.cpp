#include "boolgrad/circuit/named_netlist.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"

namespace boolgrad {
namespace {

/// Puts gates in order with a walk of its own stack: circuits are deeper than the machine's.
class Sorter {
 public:
  Sorter(const NamedNetlist& named, const SourceText& source)
      : named_(named), source_(source), nets_(named.gates.size()), open_(named.gates.size(), 0) {
    for (const NamedNet& input : named.inputs) {
      declare(input, static_cast<std::ptrdiff_t>(netlist_.inputs.size()) - input_count());
      netlist_.inputs.emplace_back(input.name);
    }
    for (std::size_t i = 0; i < named.gates.size(); ++i) {
      declare(named.gates[i].net, static_cast<std::ptrdiff_t>(i));
    }
  }

  Netlist run() {
    for (std::size_t i = 0; i < named_.gates.size(); ++i) place_all_below(i);
    for (const NamedOutput& output : named_.outputs) {
      netlist_.outputs.emplace_back(output.output.name);
      netlist_.output_nets.push_back(*placed(find(output.net, output.output.line)));
    }
    return std::move(netlist_);
  }

 private:
  struct Step {
    std::size_t gate;
    std::size_t next_source;
  };

  std::ptrdiff_t input_count() const { return std::ssize(named_.inputs); }

  // Gates count from 0, inputs are the negative numbers before.
  void declare(const NamedNet& net, std::ptrdiff_t driver) {
    if (!drivers_.emplace(net.name, driver).second) {
      source_.refuse(net.line, fmt::format("expected one driver of net {}, received another",
                                           printable(net.name)));
    }
  }

  std::ptrdiff_t find(std::string_view name, std::size_t line) const {
    const auto found = drivers_.find(name);
    if (found == drivers_.end()) {
      source_.refuse(line, fmt::format("expected a net that an input or a gate drives, received {}",
                                       printable(name)));
    }
    return found->second;
  }

  std::optional<Net> placed(std::ptrdiff_t driver) const {
    if (driver < 0) return static_cast<Net>(driver + input_count());
    return nets_[static_cast<std::size_t>(driver)];
  }

  void place_all_below(std::size_t top) {
    if (nets_[top]) return;
    std::vector<Step> path{{top, 0}};
    open_[top] = 1;
    while (!path.empty()) {
      Step& step = path.back();
      const NamedGate& gate = named_.gates[step.gate];
      if (step.next_source == gate.sources.size()) {
        place(step.gate);
        path.pop_back();
        continue;
      }
      const std::ptrdiff_t driver = find(gate.sources[step.next_source++], gate.net.line);
      if (placed(driver)) continue;
      const auto below = static_cast<std::size_t>(driver);
      if (open_[below] != 0) {
        source_.refuse(gate.net.line,
                       fmt::format("expected gates without a cycle, received one through net {}",
                                   printable(named_.gates[below].net.name)));
      }
      open_[below] = 1;
      path.push_back({below, 0});
    }
  }

  void place(std::size_t index) {
    const NamedGate& named = named_.gates[index];
    NetlistGate gate{.truth = named.truth,
                     .arity = static_cast<std::uint8_t>(named.sources.size())};
    for (std::size_t j = 0; j < named.sources.size(); ++j) {
      gate.inputs[j] = *placed(find(named.sources[j], named.net.line));
    }
    nets_[index] = netlist_.gate(netlist_.gates.size());
    open_[index] = 0;
    netlist_.gates.push_back(gate);
  }

  const NamedNetlist& named_;
  const SourceText& source_;
  std::unordered_map<std::string_view, std::ptrdiff_t> drivers_;
  std::vector<std::optional<Net>> nets_;  // of each gate, once it is placed
  std::vector<char> open_;                // on the path from where the walk began
  Netlist netlist_;
};

}  // namespace

void SourceText::refuse(std::size_t line, const std::string& message) const {
  fail(where, "{}:{}: {}", file, line, message);
}

Netlist sorted(const NamedNetlist& named, const SourceText& source) {
  return Sorter(named, source).run();
}

std::string file_content(std::string_view where, const std::filesystem::path& path) {
  std::ifstream file = opened_to_read(where, path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(std::string_view where, const std::filesystem::path& path,
                std::string_view content) {
  Replacement file(std::string(where), path);
  file.write(content.data(), content.size());
  file.commit();
}

}  // namespace boolgrad

#include "boolgrad/circuit/formats/named_netlist.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

/// The driver of each name, in a hash table. Names that differ in the last digit are neighbours, as
/// are the gates of most files, so look-ups rarely miss the cache.
class Drivers {
 public:
  /// Reserves space for all inputs and gates.
  explicit Drivers(const NamedNetlist& named)
      : named_(named),
        slots_(std::bit_ceil(2 * (named.inputs.size() + named.gates.size()) + neighbours)) {}

  /// Returns false if the name already has a driver. Drivers are numbered inputs first, then gates.
  bool add(std::uint32_t driver) {
    const std::string_view name = name_of(driver);
    const std::uint64_t hash = hash_of(name);
    const std::size_t at = position_of(name, hash);
    if (slots_[at].driver != nothing) return false;
    slots_[at] = {static_cast<std::uint32_t>(hash), driver};
    return true;
  }

  std::optional<std::uint32_t> find(std::string_view name) const {
    const Slot& slot = slots_[position_of(name, hash_of(name))];
    if (slot.driver == nothing) return std::nullopt;
    return slot.driver;
  }

  std::string_view name_of(std::uint32_t driver) const {
    const std::size_t inputs = named_.inputs.size();
    return driver < inputs ? named_.inputs[driver].name : named_.gates[driver - inputs].net.name;
  }

 private:
  static constexpr std::uint32_t nothing = 0xFFFFFFFF;
  static constexpr std::size_t neighbours = 16;

  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t driver = nothing;
  };

  static std::uint64_t hash_of(std::string_view name) {
    std::uint64_t hash = 0;
    for (const char c : name) hash = hash * 10 + static_cast<unsigned char>(c);
    return hash;
  }

  /// The slot of a name, or the empty slot where it would be inserted.
  std::size_t position_of(std::string_view name, std::uint64_t hash) const {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t group = (hash / neighbours * golden) >> 32;
    std::size_t at = (group * neighbours + hash % neighbours) & mask;
    while (slots_[at].driver != nothing && (slots_[at].hash != static_cast<std::uint32_t>(hash) ||
                                            name_of(slots_[at].driver) != name)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  const NamedNetlist& named_;
  std::vector<Slot> slots_;
};

/// Topological sort by depth-first search, with an explicit stack because circuits can be deep.
class Sorter {
 public:
  Sorter(const NamedNetlist& named, const SourceText& source)
      : named_(named), source_(source), drivers_(named), nets_(named.gates.size(), unsorted) {
    for (const NamedNet& input : named.inputs) {
      declare(input);
      netlist_.inputs.emplace_back(input.name);
    }
    for (const NamedGate& gate : named.gates) declare(gate.net);
    netlist_.gates.reserve(named.gates.size());
  }

  Netlist run() {
    resolve();
    for (std::size_t i = 0; i < named_.gates.size(); ++i) sort_fan_in(i);
    for (const NamedOutput& output : named_.outputs) {
      netlist_.outputs.emplace_back(output.output.name);
      netlist_.output_nets.push_back(net_of(find(output.net, output.output.line)));
    }
    return std::move(netlist_);
  }

 private:
  static constexpr Net unsorted = 0xFFFFFFFF;
  static constexpr Net open = 0xFFFFFFFE;  // on the current path

  struct Step {
    std::size_t gate;
    std::size_t next_source;
  };

  void declare(const NamedNet& net) {
    if (!drivers_.add(declared_++)) {
      source_.refuse(net.line, fmt::format("expected one driver of net {}, received two",
                                           printable(net.name)));
    }
  }

  std::uint32_t find(std::string_view name, std::size_t line) const {
    const std::optional<std::uint32_t> found = drivers_.find(name);
    if (!found) {
      source_.refuse(line, fmt::format("expected a driven net, received {}", printable(name)));
    }
    return *found;
  }

  /// Looks up the sources of all gates, in the order of the file.
  void resolve() {
    first_source_.reserve(named_.gates.size());
    for (const NamedGate& gate : named_.gates) {
      first_source_.push_back(sources_.size());
      for (const std::string_view name : gate.sources) {
        sources_.push_back(find(name, gate.net.line));
      }
    }
  }

  /// The net of a driver, once it is sorted.
  Net net_of(std::uint32_t driver) const {
    const std::size_t inputs = named_.inputs.size();
    return driver < inputs ? driver : nets_[driver - inputs];
  }

  void sort_fan_in(std::size_t top) {
    if (nets_[top] != unsorted) return;
    path_.assign(1, {top, 0});
    nets_[top] = open;
    while (!path_.empty()) {
      Step& step = path_.back();
      const NamedGate& gate = named_.gates[step.gate];
      if (step.next_source == gate.sources.size()) {
        append(step.gate);
        path_.pop_back();
        continue;
      }
      const std::uint32_t driver = sources_[first_source_[step.gate] + step.next_source++];
      const Net net = net_of(driver);
      if (net == open) {
        source_.refuse(gate.net.line,
                       fmt::format("expected an acyclic circuit, received a cycle through net {}",
                                   printable(drivers_.name_of(driver))));
      }
      if (net != unsorted) continue;
      const std::size_t below = driver - named_.inputs.size();
      nets_[below] = open;
      path_.push_back({below, 0});
    }
  }

  void append(std::size_t index) {
    const NamedGate& named = named_.gates[index];
    NetlistGate gate{.truth = named.truth,
                     .arity = static_cast<std::uint8_t>(named.sources.size())};
    for (std::size_t j = 0; j < named.sources.size(); ++j) {
      gate.inputs[j] = net_of(sources_[first_source_[index] + j]);
    }
    nets_[index] = netlist_.gate(netlist_.gates.size());
    netlist_.gates.push_back(gate);
  }

  const NamedNetlist& named_;
  const SourceText& source_;
  Drivers drivers_;
  std::uint32_t declared_ = 0;
  std::vector<Net> nets_;  // of each gate
  std::vector<std::size_t> first_source_;
  std::vector<std::uint32_t> sources_;  // drivers of the inputs of all gates
  std::vector<Step> path_;
  Netlist netlist_;
};

}  // namespace

void SourceText::refuse(std::size_t line, const std::string& message) const {
  fail(where, "{}:{}: {}", file, line, message);
}

Netlist sorted(const NamedNetlist& named, const SourceText& source) {
  return Sorter(named, source).run();
}

}  // namespace boolgrad::circuit

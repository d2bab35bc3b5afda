#include "boolgrad/circuit/formats/verilog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/formats/infix_formula.h"
#include "boolgrad/circuit/formats/net_names.h"
#include "boolgrad/circuit/formats/port_groups.h"
#include "boolgrad/circuit/formats/position_text.h"
#include "boolgrad/circuit/formats/reserved_words.h"
#include "boolgrad/circuit/formats/verilog_cases.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "verilog";

std::string module_name_of(const std::string& netlist_name, const VerilogOptions& options) {
  if (!options.module_name.empty()) return options.module_name;
  // The prefix prevents keywords.
  const std::string name = identifier(netlist_name.empty() ? "circuit" : netlist_name);
  return name == "circuit" || name.starts_with("circuit_") ? name : "circuit_" + name;
}

void check_ports(const Netlist& netlist) {
  if (netlist.inputs.empty() || netlist.outputs.empty()) {
    fail(where, "expected at least one input and one output, received {} and {}",
         netlist.inputs.size(), netlist.outputs.size());
  }
}

/// The ports of one direction.
struct Ports {
  std::vector<std::string> declarations;
  std::vector<std::string> bits;         ///< the text of each input or output
  std::vector<std::string> connections;  ///< to the vector of all bits in a test bench
};

/// Ports of both directions, and a prefix for nets that no port begins with.
struct ModulePorts {
  Ports in;
  Ports out;
  std::string prefix = "n";
  std::string delayed = "x";  ///< the same, for inputs in registers

  std::string net(const Netlist& netlist, Net net) const {
    return netlist.is_input(net) ? in.bits[net]
                                 : fmt::format("{}{}", prefix, net - netlist.inputs.size());
  }
};

Ports flat_ports(std::string_view direction, std::string_view name, std::size_t bits) {
  Ports ports{{fmt::format("{} wire [{}:0] {}", direction, bits - 1, name)},
              {},
              {fmt::format(".{0}({0})", name)}};
  for (std::size_t i = 0; i < bits; ++i) ports.bits.push_back(fmt::format("{}[{}]", name, i));
  return ports;
}

/// `vector` is what the test bench calls all bits together.
Ports named_ports(std::string_view direction, std::string_view vector,
                  const std::vector<std::string>& names, NetNames& taken) {
  Ports ports;
  ports.bits.resize(names.size());
  for (const PortGroup& group : port_groups(names)) {
    const std::string name = taken.take(group.name);
    ports.declarations.push_back(
        group.is_bus ? fmt::format("{} wire [{}:0] {}", direction, group.positions.size() - 1, name)
                     : fmt::format("{} wire {}", direction, name));
    std::vector<std::string> bits;  // the highest first
    for (std::size_t i = group.positions.size(); i-- > 0;) {
      const std::size_t position = group.positions[i];
      ports.bits[position] = group.is_bus ? fmt::format("{}[{}]", name, i) : name;
      bits.push_back(fmt::format("{}[{}]", vector, position));
    }
    ports.connections.push_back(fmt::format(".{}({{{}}})", name, fmt::join(bits, ", ")));
  }
  return ports;
}

ModulePorts ports_of(const Netlist& netlist, const VerilogOptions& options) {
  if (!options.named_ports) {
    return {flat_ports("input", "in", netlist.inputs.size()),
            flat_ports("output", "out", netlist.outputs.size())};
  }
  std::vector<std::string> reserved = verilog_keywords();
  for (const char* name : {"clk", "reset", "enable", "valid", "valid_in", "valid_out", "LATENCY"}) {
    reserved.emplace_back(name);
  }
  NetNames taken(std::move(reserved));
  ModulePorts ports{named_ports("input", "in", netlist.inputs, taken),
                    named_ports("output", "out", netlist.outputs, taken)};
  std::vector<std::string> all = ports.in.bits;
  all.insert(all.end(), ports.out.bits.begin(), ports.out.bits.end());
  ports.prefix = free_prefix(all, "n");
  ports.delayed = free_prefix(all, "x");
  return ports;
}

std::string heading(const std::string& name, const ModulePorts& ports,
                    const std::vector<std::string>& controls = {}) {
  std::vector<std::string> all = controls;
  all.insert(all.end(), ports.in.declarations.begin(), ports.in.declarations.end());
  all.insert(all.end(), ports.out.declarations.begin(), ports.out.declarations.end());
  return fmt::format("module {} (\n  {}\n);\n", name, fmt::join(all, ",\n  "));
}

std::string port_comments(std::string_view port, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("// {}[{}]  {}\n", port, i, printable(names[i]));
  }
  return text;
}

const InfixConstants constants{"1'b0", "1'b1"};

/// A gate as a formula of the nets it reads, or as a table if `has_tables`.
std::string expression_of(const NetlistGate& gate, bool has_tables,
                          const std::function<std::string(Net)>& net_text) {
  if (!has_tables || gate.arity < 3) return infix_formula(gate, constants, net_text);
  std::vector<std::string> inputs;  // the last one first
  for (std::size_t j = gate.arity; j-- > 0;) inputs.push_back(net_text(gate.inputs[j]));
  const int entries = 1 << gate.arity;
  return fmt::format("{}'h{:0{}x} >> {{{}}}", entries, gate.truth, entries / 4,
                     fmt::join(inputs, ", "));
}

std::string combinational_module(const Netlist& netlist, const std::string& name,
                                 const ModulePorts& ports, bool has_tables) {
  std::string text = heading(name, ports);
  auto out = std::back_inserter(text);
  const auto net_text = [&](Net net) { return ports.net(netlist, net); };
  const std::vector<bool> reachable = reachable_gates(netlist);
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    if (!reachable[i]) continue;
    fmt::format_to(out, "  wire {}{} = {};\n", ports.prefix, i,
                   expression_of(netlist.gates[i], has_tables, net_text));
  }
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    fmt::format_to(out, "  assign {} = {};\n", ports.out.bits[i], net_text(netlist.output_nets[i]));
  }
  return text + "endmodule\n";
}

/// With the ports `in` and `out`.
std::string combinational_module(const Netlist& netlist, const std::string& name,
                                 bool has_tables = false) {
  return combinational_module(netlist, name, ports_of(netlist, {}), has_tables);
}

/// Pipeline stages: the stage that computes each net, and how many stages later it is last read.
struct Pipeline {
  std::vector<std::int64_t> stages;
  std::vector<std::int64_t> delays;
  std::int64_t latency = 1;
};

bool is_constant(const Netlist& netlist, Net net) {
  return !netlist.is_input(net) && netlist.driver(net).arity == 0;
}

Pipeline pipeline_of(const Netlist& netlist, std::int64_t levels,
                     const std::vector<bool>& reachable) {
  Pipeline result;
  result.latency = std::max<std::int64_t>(1, (depth(netlist) + levels - 1) / levels);
  std::vector<std::int64_t> level(netlist.inputs.size(), 0);
  for (const NetlistGate& gate : netlist.gates) {
    std::int64_t own = 0;
    for (const Net net : gate.sources()) own = std::max(own, level[net] + 1);
    level.push_back(own);
  }
  for (const std::int64_t own : level) result.stages.push_back(own == 0 ? 0 : (own - 1) / levels);
  result.delays.resize(level.size(), 0);
  const auto read_in = [&](Net net, std::int64_t stage) {
    result.delays[net] = std::max(result.delays[net], stage - result.stages[net]);
  };
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    if (!reachable[i]) continue;
    for (const Net net : netlist.gates[i].sources()) read_in(net, result.stages[netlist.gate(i)]);
  }
  for (const Net net : netlist.output_nets) read_in(net, result.latency);
  return result;
}

std::vector<std::string> controls_of(const PipelineOptions& options) {
  std::vector<std::string> controls{"input wire clk"};
  if (options.has_reset) controls.emplace_back("input wire reset");
  if (options.has_enable) controls.emplace_back("input wire enable");
  if (options.has_valid) {
    controls.emplace_back("input wire valid_in");
    controls.emplace_back("output wire valid_out");
  }
  return controls;
}

/// The process that clocks all registers. `loads` are their assignments, `names` their names.
std::string clocked_process(const PipelineOptions& options, const std::string& loads,
                            const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string text = "  always @(posedge clk) begin\n";
  if (options.has_reset) {
    text += "    if (reset) begin\n";
    for (const std::string& name : names) text += fmt::format("    {} <= 0;\n", name);
    text += fmt::format("    end else{} begin\n", options.has_enable ? " if (enable)" : "");
  } else if (options.has_enable) {
    text += "    if (enable) begin\n";
  }
  text += loads;
  if (options.has_reset || options.has_enable) text += "    end\n";
  return text + "  end\n";
}

std::string pipelined_module(const Netlist& netlist, const std::string& name,
                             const ModulePorts& ports, const PipelineOptions& options,
                             bool has_tables) {
  const std::vector<bool> reachable = reachable_gates(netlist);
  const Pipeline pipeline = pipeline_of(netlist, options.levels, reachable);
  // The name of a net, delayed by so many stages. Constants need no registers.
  const auto delayed = [&](Net net, std::int64_t by) {
    std::string own = ports.net(netlist, net);
    if (by == 0 || is_constant(netlist, net)) return own;
    return netlist.is_input(net) ? fmt::format("{}{}_d{}", ports.delayed, net, by)
                                 : fmt::format("{}_d{}", own, by);
  };
  std::string text = heading(name, ports, controls_of(options)) +
                     fmt::format("  localparam LATENCY = {};\n", pipeline.latency);
  auto out = std::back_inserter(text);
  std::string clocked;
  std::vector<std::string> registers;
  const auto add_register = [&](const std::string& own, const std::string& from) {
    fmt::format_to(out, "  reg {};\n", own);
    clocked += fmt::format("    {} <= {};\n", own, from);
    registers.push_back(own);
  };
  const auto write_registers = [&](Net net) {
    for (std::int64_t by = 1; by <= pipeline.delays[net] && !is_constant(netlist, net); ++by) {
      add_register(delayed(net, by), delayed(net, by - 1));
    }
  };
  for (Net net = 0; net < netlist.inputs.size(); ++net) write_registers(net);
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    if (!reachable[i]) continue;
    const Net own = netlist.gate(i);
    fmt::format_to(out, "  wire {}{} = {};\n", ports.prefix, i,
                   expression_of(netlist.gates[i], has_tables, [&](Net net) {
                     return delayed(net, pipeline.stages[own] - pipeline.stages[net]);
                   }));
    write_registers(own);
  }
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    const Net net = netlist.output_nets[i];
    fmt::format_to(out, "  assign {} = {};\n", ports.out.bits[i],
                   delayed(net, pipeline.latency - pipeline.stages[net]));
  }
  if (options.has_valid) {
    const std::string valid = free_prefix(registers, "valid");
    std::string from = "valid_in";
    for (std::int64_t stage = 1; stage <= pipeline.latency; ++stage) {
      const std::string own = fmt::format("{}{}", valid, stage);
      add_register(own, from);
      from = own;
    }
    fmt::format_to(out, "  assign valid_out = {};\n", from);
  }
  text += clocked_process(options, clocked, registers);
  return text + "endmodule\n";
}

/// Checks one new case per clock, which fills a pipeline. Case i + 1 - latency comes out after
/// clock i. Every eighth clock is preceded by one without `enable`, which must change nothing.
std::string clocked_loop(std::int64_t cases, std::int64_t latency, const PipelineOptions& options) {
  std::string text;
  if (options.has_reset) text += "    reset = 1; #1 clk = 1; #1 clk = 0; reset = 0;\n";
  // One clock more shows that `valid_out` falls again.
  const std::int64_t clocks = cases + latency - (options.has_valid ? 0 : 1);
  text += fmt::format(
      "    for (i = 0; i < {0}; i = i + 1) begin\n"
      "      in = given(i < {1} ? i : {1} - 1);\n",
      clocks, cases);
  if (options.has_valid) text += fmt::format("      valid_in = i < {};\n", cases);
  if (options.has_enable) {
    text +=
        "      if (i % 8 == 3) begin\n        enable = 0; #1 clk = 1; #1 clk = 0; enable = 1;\n"
        "      end\n";
  }
  text += fmt::format(
      "      #1 clk = 1; #1 clk = 0;\n"
      "      if (i >= {0} && i < {1} && out !== expected(i - {0})) errors = errors + 1;\n",
      latency - 1, cases + latency - 1);
  if (options.has_valid) {
    // Without a reset, the first values are unknown.
    const std::string known = options.has_reset ? "" : fmt::format("i >= {0} && ", latency - 1);
    text += fmt::format(
        "      if ({0}valid_out !== (i >= {1} && i < {2} ? 1'b1 : 1'b0)) errors = errors + 1;\n",
        known, latency - 1, cases + latency - 1);
  }
  return text + "    end\n";
}

/// A test bench. A clocked module has a delay of `latency` clocks.
std::string bench_of(const Netlist& netlist, const std::string& name, const ModulePorts& ports,
                     std::int64_t latency, const PipelineOptions& options = {}) {
  const VerilogCases cases = test_cases(netlist);
  const bool clocked = latency > 0;
  std::vector<std::string> connections;
  std::string controls = clocked ? "  reg clk = 0;\n" : "";
  if (clocked) connections.emplace_back(".clk(clk)");
  const auto control = [&](bool is_there, const char* port, const char* start) {
    if (!clocked || !is_there) return;
    controls += fmt::format("  reg {} = {};\n", port, start);
    connections.push_back(fmt::format(".{0}({0})", port));
  };
  control(options.has_reset, "reset", "0");
  control(options.has_enable, "enable", "1");
  control(options.has_valid, "valid_in", "0");
  if (clocked && options.has_valid) {
    controls += "  wire valid_out;\n";
    connections.emplace_back(".valid_out(valid_out)");
  }
  for (const Ports* side : {&ports.in, &ports.out}) {
    connections.insert(connections.end(), side->connections.begin(), side->connections.end());
  }
  return fmt::format(
             "`timescale 1ns/1ps\nmodule {0}_tb;\n{1}  reg [{2}:0] in;\n  wire [{3}:0] out;\n"
             "  integer i;\n  integer errors = 0;\n  {0} dut ({4});\n{5}  initial begin\n{6}{7}",
             name, controls, netlist.inputs.size() - 1, netlist.outputs.size() - 1,
             fmt::join(connections, ", "), cases.declarations, cases.loading,
             clocked ? clocked_loop(cases.count, latency, options) : bench_loop(cases.count)) +
         bench_closing(cases.count);
}

/// The state after one step. Channel c of cell (y, x) is bit (y * width + x) * channels + c.
std::vector<bool> stepped(const Netlist& netlist, const GridSize& size,
                          const std::vector<bool>& state) {
  const std::int64_t channels = netlist.state->channels;
  std::vector<bool> next;
  for (std::int64_t cell = 0; cell < size.height * size.width; ++cell) {
    std::vector<std::uint64_t> inputs;
    for (std::int64_t k = 0; k < 9 * channels; ++k) {
      const std::int64_t y = cell / size.width + k % 9 / 3 - 1;
      const std::int64_t x = cell % size.width + k % 3 - 1;
      const bool outside = y < 0 || x < 0 || y >= size.height || x >= size.width;
      const std::int64_t at =
          (y + size.height) % size.height * size.width + (x + size.width) % size.width;
      const bool seen = !(outside && netlist.state->border == Border::zero) &&
                        state[static_cast<std::size_t>(at * channels + k / 9)];
      inputs.push_back(seen ? 1 : 0);
    }
    for (const std::uint64_t word : evaluate(netlist, inputs)) next.push_back((word & 1) != 0);
  }
  return next;
}

std::string array_module(const Netlist& netlist, const std::string& name, const GridSize& size) {
  const bool periodic = netlist.state->border == Border::periodic;
  return fmt::format(
      R"(module {0} #(
  parameter HEIGHT = {1},
  parameter WIDTH = {2}
) (
  input wire clk,
  input wire load,
  input wire enable,
  input wire [HEIGHT*WIDTH*{3}-1:0] initial_state,
  output reg [HEIGHT*WIDTH*{3}-1:0] state
);
  wire [HEIGHT*WIDTH*{3}-1:0] next;
  genvar y, x, c, n;
  generate
    for (y = 0; y < HEIGHT; y = y + 1) begin : row
      for (x = 0; x < WIDTH; x = x + 1) begin : column
        wire [{4}:0] around;
        for (c = 0; c < {3}; c = c + 1) begin : channel
          for (n = 0; n < 9; n = n + 1) begin : neighbour
            localparam BY = y + n / 3 - 1;
            localparam BX = x + n % 3 - 1;
            localparam AT = (((BY + HEIGHT) % HEIGHT) * WIDTH + (BX + WIDTH) % WIDTH) * {3} + c;
            if ({5} || (BY >= 0 && BX >= 0 && BY < HEIGHT && BX < WIDTH))
              assign around[9 * c + n] = state[AT];
            else
              assign around[9 * c + n] = 1'b0;
          end
        end
        {0}_cell rule (.in(around), .out(next[(y * WIDTH + x) * {3} +: {3}]));
      end
    end
  endgenerate
  always @(posedge clk) begin
    if (load) state <= initial_state;
    else if (enable) state <= next;
  end
endmodule
)",
      name, size.height, size.width, netlist.state->channels, 9 * netlist.state->channels - 1,
      periodic ? 1 : 0);
}

std::string array_bench(const Netlist& netlist, const std::string& name, const GridSize& size) {
  constexpr int steps = 8;
  std::vector<bool> state;
  const std::int64_t bits = size.height * size.width * netlist.state->channels;
  for (std::int64_t i = 0; i < bits; ++i) {
    state.push_back(random_below({.seed = 0, .index = static_cast<std::uint64_t>(i)}, 2) != 0);
  }
  std::string text = fmt::format(
      "`timescale 1ns/1ps\nmodule {0}_tb;\n  reg clk = 0;\n  reg load = 1;\n  reg enable = 0;\n"
      "  reg [{1}:0] start;\n  wire [{1}:0] state;\n  integer errors = 0;\n"
      "  {0} dut (.clk(clk), .load(load), .enable(enable), .initial_state(start), .state(state));\n"
      "  task check(input [{1}:0] expected);\n    begin\n      #1 clk = 1; #1 clk = 0;\n"
      "      if (state !== expected) errors = errors + 1;\n    end\n  endtask\n"
      "  initial begin\n    start = {2};\n    check(start);\n    load = 0;\n    check(start);\n"
      "    enable = 1;\n",
      name, bits - 1, verilog_literal(state));
  for (int step = 0; step < steps; ++step) {
    state = stepped(netlist, size, state);
    text += fmt::format("    check({});\n", verilog_literal(state));
  }
  return text + bench_closing(steps + 2);
}

std::string opening(const Netlist& netlist, const VerilogOptions& options) {
  std::string text = fmt::format("// {}: a circuit of {} gates, written by boolgrad.\n",
                                 printable(netlist.name), netlist.gates.size());
  if (options.named_ports) return text;
  return text + port_comments("in", netlist.inputs) + port_comments("out", netlist.outputs);
}

/// The names of the channels that a stage reads.
using ChannelNames = std::function<std::string(std::int64_t)>;

/// The net of a leaf in the block of a position. Leaves that may be outside of the image have a net
/// of their own, which is defined in `text`.
std::string leaf_net(const SharedStage& stage, const SharedLeaf& leaf, const std::string& own,
                     const ChannelNames& channel, std::string& text) {
  std::string bit = fmt::format("{}[{}]", channel(leaf.channel), index_text(stage, leaf));
  const std::string inside = inside_text(stage, leaf);
  if (inside.empty()) return bit;
  if (inside == "0") return "1'b0";
  text += fmt::format(
      "        wire {0};\n        if ({1}) assign {0} = {2};\n"
      "        else assign {0} = 1'b0;\n",
      own, inside, bit);
  return own;
}

/// The instance of a kernel in the block of a position.
std::string instance(const SharedStage& stage, std::size_t kernel, const std::string& module,
                     const ChannelNames& channel, const std::string& output) {
  const std::vector<SharedLeaf>& leaves = stage.kernels[kernel].leaves;
  std::string text;
  std::vector<std::string> nets;  // the last leaf first
  for (std::size_t i = leaves.size(); i-- > 0;) {
    nets.push_back(leaf_net(stage, leaves[i], fmt::format("k{}_leaf{}", kernel, i), channel, text));
  }
  return text + fmt::format("        {} k{} (.in({{{}}}), .out({}[{}]));\n", module, kernel,
                            fmt::join(nets, ", "), output, position_text(stage));
}

/// A stage: an array of nets per channel, and a block of instances per position. Vectors would slow
/// down simulators, which wake all readers of a vector when one of its bits changes.
std::string stage_text(const SharedStage& stage, std::size_t number, const std::string& name,
                       const ChannelNames& channel) {
  std::string arrays;
  std::string blocks;
  for (std::int64_t c = 0; c < stage.channels; ++c) {
    const std::string output = fmt::format("s{}_c{}", number, c);
    arrays += fmt::format("  wire {} [0:{}];\n", output, stage.positions() - 1);
    if (!stage.pools()) {
      blocks += instance(stage, static_cast<std::size_t>(c),
                         fmt::format("{}_stage_{}_kernel_{}", name, number, c), channel, output);
      continue;
    }
    std::vector<std::string> bits;
    for (const SharedLeaf& leaf : stage.pooled) {
      bits.push_back(fmt::format("{}[{}]", channel(c), index_text(stage, leaf)));
    }
    blocks += fmt::format("        assign {}[{}] = {};\n", output, position_text(stage),
                          fmt::join(bits, " | "));
  }
  return fmt::format(
      "\n  // {} at {} x {} positions.\n{}  generate\n"
      "    for (y = 0; y < {}; y = y + 1) begin : s{}_row\n"
      "      for (x = 0; x < {}; x = x + 1) begin : column\n{}      end\n    end\n"
      "  endgenerate\n",
      stage.pools() ? "Pooling" : fmt::format("{} kernels", stage.channels), stage.rows,
      stage.columns, arrays, stage.rows, number, stage.columns, blocks);
}

/// The module that instantiates kernels and the rest.
std::string shared_module(const SharedCircuit& circuit, const std::string& name) {
  const ModulePorts ports{flat_ports("input", "in", circuit.inputs.size()),
                          flat_ports("output", "out", circuit.rest.outputs.size())};
  std::string text = heading(name, ports) + "  genvar y, x;\n";
  std::string input = "in";
  if (!circuit.masked_inputs.empty()) {
    std::vector<bool> kept(circuit.inputs.size(), true);
    for (const std::size_t i : circuit.masked_inputs) kept[i] = false;
    input = "kept";
    text += fmt::format("  wire [{}:0] kept = in & {};\n", kept.size() - 1, verilog_literal(kept));
  }
  ChannelNames channel = [&](std::int64_t) { return input; };
  for (std::size_t i = 0; i < circuit.stages.size(); ++i) {
    text += stage_text(circuit.stages[i], i, name, channel);
    channel = [i](std::int64_t c) { return fmt::format("s{}_c{}", i, c); };
  }
  const SharedStage& last = circuit.stages.back();
  std::string bits;  // the last bit first
  for (std::int64_t i = last.bits(); i-- > 0;) {
    const bool ends_line = i % 8 == 0;
    bits += fmt::format("{}[{}]{}", channel(i / last.positions()), i % last.positions(),
                        i == 0      ? ""
                        : ends_line ? ",\n    "
                                    : ", ");
  }
  return text + fmt::format("\n  {}_rest rest (.in({{\n    {}\n  }}), .out(out));\nendmodule\n",
                            name, bits);
}

}  // namespace

Verilog to_verilog(const Netlist& netlist, const VerilogOptions& options) {
  check_ports(netlist);
  const std::string name = module_name_of(netlist.name, options);
  const ModulePorts ports = ports_of(netlist, options);
  return {
      name,
      opening(netlist, options) + combinational_module(netlist, name, ports, options.has_tables),
      bench_of(netlist, name, ports, 0)};
}

Verilog to_verilog(const SharedCircuit& circuit, const VerilogOptions& options) {
  const Netlist flat = flattened(circuit);
  check_ports(flat);
  const std::string name = module_name_of(circuit.name, options);
  std::string design =
      fmt::format("// {}: a circuit of {} kernels, written by boolgrad.\n{}{}",
                  printable(circuit.name), fmt::join(circuit.kernel_counts(), " + "),
                  port_comments("in", circuit.inputs), port_comments("out", circuit.rest.outputs));
  for (std::size_t i = 0; i < circuit.stages.size(); ++i) {
    const std::vector<SharedKernel>& kernels = circuit.stages[i].kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const std::string kernel = fmt::format("{}_stage_{}_kernel_{}", name, i, k);
      design += combinational_module(kernels[k].function, kernel) + "\n";
    }
  }
  design += "// The gates after the convolutions.\n" +
            combinational_module(circuit.rest, name + "_rest") + "\n";
  return {name, design + shared_module(circuit, name), bench_of(flat, name, ports_of(flat, {}), 0)};
}

Verilog to_pipelined_verilog(const Netlist& netlist, const PipelineOptions& pipeline,
                             const VerilogOptions& options) {
  check_ports(netlist);
  const std::int64_t levels = pipeline.levels;
  if (levels < 1) fail(where, "expected registers every 1 or more levels, received {}", levels);
  const std::string name = module_name_of(netlist.name, options);
  const ModulePorts ports = ports_of(netlist, options);
  const std::int64_t latency = pipeline_of(netlist, levels, reachable_gates(netlist)).latency;
  return {name,
          opening(netlist, options) +
              pipelined_module(netlist, name, ports, pipeline, options.has_tables),
          bench_of(netlist, name, ports, latency, pipeline)};
}

Verilog to_pipelined_verilog(const Netlist& netlist, std::int64_t levels) {
  return to_pipelined_verilog(netlist, {.levels = levels}, {});
}

Verilog to_verilog_array(const Netlist& netlist, const GridSize& size,
                         const VerilogOptions& options) {
  if (!netlist.state) fail(where, "expected the rule of an automaton for an array, received none");
  constexpr std::int64_t max_side = 4096;
  if (size.height < 1 || size.width < 1 || size.height > max_side || size.width > max_side) {
    fail(where, "expected an array of 1x1 to {}x{} cells, received {}x{}", max_side, max_side,
         size.height, size.width);
  }
  const std::string name = module_name_of(netlist.name, options);
  return {name,
          opening(netlist, {}) + combinational_module(netlist, name + "_cell", options.has_tables) +
              "\n" + array_module(netlist, name, size),
          array_bench(netlist, name, size)};
}

}  // namespace boolgrad::circuit

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
#include "boolgrad/circuit/formats/position_text.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "verilog";
constexpr std::int64_t cases_checked = 64;

std::string module_name_of(const std::string& netlist_name) {
  // The prefix prevents keywords.
  const std::string name = identifier(netlist_name.empty() ? "circuit" : netlist_name);
  return name == "circuit" ? name : "circuit_" + name;
}

void check_ports(const Netlist& netlist) {
  if (netlist.inputs.empty() || netlist.outputs.empty()) {
    fail(where, "expected at least one input and one output, received {} and {}",
         netlist.inputs.size(), netlist.outputs.size());
  }
}

std::string port_comments(std::string_view port, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("// {}[{}]  {}\n", port, i, printable(names[i]));
  }
  return text;
}

std::string ports(std::size_t inputs, std::size_t outputs) {
  return fmt::format(" (\n  input wire [{}:0] in,\n  output wire [{}:0] out\n);\n", inputs - 1,
                     outputs - 1);
}

const InfixConstants constants{"1'b0", "1'b1"};

std::string combinational_module(const Netlist& netlist, const std::string& name) {
  std::string text = "module " + name + ports(netlist.inputs.size(), netlist.outputs.size());
  auto out = std::back_inserter(text);
  const auto net_text = [&](Net net) {
    return netlist.is_input(net) ? fmt::format("in[{}]", net)
                                 : fmt::format("n{}", net - netlist.inputs.size());
  };
  const std::vector<bool> reachable = reachable_gates(netlist);
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    if (!reachable[i]) continue;
    fmt::format_to(out, "  wire n{} = {};\n", i,
                   infix_formula(netlist.gates[i], constants, net_text));
  }
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    fmt::format_to(out, "  assign out[{}] = {};\n", i, net_text(netlist.output_nets[i]));
  }
  return text + "endmodule\n";
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

std::string pipelined_module(const Netlist& netlist, const std::string& name, std::int64_t levels) {
  const std::vector<bool> reachable = reachable_gates(netlist);
  const Pipeline pipeline = pipeline_of(netlist, levels, reachable);
  // The name of a net, delayed by so many stages. Constants need no registers.
  const auto delayed = [&](Net net, std::int64_t by) {
    std::string own = netlist.is_input(net) ? fmt::format("in[{}]", net)
                                            : fmt::format("n{}", net - netlist.inputs.size());
    if (by == 0 || is_constant(netlist, net)) return own;
    return netlist.is_input(net) ? fmt::format("x{}_d{}", net, by) : fmt::format("{}_d{}", own, by);
  };
  std::string text = fmt::format(
      "module {} (\n  input wire clk,\n  input wire [{}:0] in,\n  output wire [{}:0] out\n);\n"
      "  localparam LATENCY = {};\n",
      name, netlist.inputs.size() - 1, netlist.outputs.size() - 1, pipeline.latency);
  auto out = std::back_inserter(text);
  std::string clocked;
  const auto write_registers = [&](Net net) {
    for (std::int64_t by = 1; by <= pipeline.delays[net] && !is_constant(netlist, net); ++by) {
      fmt::format_to(out, "  reg {};\n", delayed(net, by));
      clocked += fmt::format("    {} <= {};\n", delayed(net, by), delayed(net, by - 1));
    }
  };
  for (Net net = 0; net < netlist.inputs.size(); ++net) write_registers(net);
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    if (!reachable[i]) continue;
    const Net own = netlist.gate(i);
    fmt::format_to(out, "  wire n{} = {};\n", i,
                   infix_formula(netlist.gates[i], constants, [&](Net net) {
                     return delayed(net, pipeline.stages[own] - pipeline.stages[net]);
                   }));
    write_registers(own);
  }
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    const Net net = netlist.output_nets[i];
    fmt::format_to(out, "  assign out[{}] = {};\n", i,
                   delayed(net, pipeline.latency - pipeline.stages[net]));
  }
  if (!clocked.empty()) fmt::format_to(out, "  always @(posedge clk) begin\n{}  end\n", clocked);
  return text + "endmodule\n";
}

/// A Verilog literal whose bit i is bits[i].
std::string number(const std::vector<bool>& bits) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t at = (bits.size() + 3) / 4 * 4; at > 0; at -= 4) {
    unsigned digit = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (at - 4 + i < bits.size() && bits[at - 4 + i]) digit |= 1U << i;
    }
    text += digits[digit];
  }
  return fmt::format("{}'h{}", bits.size(), text);
}

std::vector<bool> lane(const std::vector<std::uint64_t>& words, std::int64_t sample) {
  std::vector<bool> bits;
  for (const std::uint64_t word : words) bits.push_back((word >> sample & 1) != 0);
  return bits;
}

/// 64 test cases, one word per input: all combinations of up to six inputs, else random ones.
std::vector<std::uint64_t> test_cases(std::size_t inputs) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < inputs; ++i) {
    std::uint64_t word = 0;
    for (std::uint64_t s = 0; s < 64; ++s) word |= (i < 6 ? s >> i & 1 : 0) << s;
    const PhiloxCounter bits = random_bits({.seed = 0, .index = i});
    words.push_back(inputs <= 6 ? word : std::uint64_t{bits[0]} << 32 | bits[1]);
  }
  return words;
}

constexpr std::string_view closing =
    "    if (errors != 0) begin\n      $display(\"FAIL %0d of {0}\", errors);\n      $fatal(1);\n"
    "    end\n    $display(\"PASS {0}\");\n    $finish;\n  end\nendmodule\n";

/// A test bench for modules with `in` and `out`. A clocked module has a delay of `latency` clocks.
std::string bench_of(const Netlist& netlist, const std::string& name, std::int64_t latency) {
  const std::vector<std::uint64_t> inputs = test_cases(netlist.inputs.size());
  const std::vector<std::uint64_t> outputs = evaluate(netlist, inputs);
  const bool clocked = latency > 0;
  const std::size_t last_in = netlist.inputs.size() - 1;
  const std::size_t last_out = netlist.outputs.size() - 1;
  std::string text = fmt::format(
      "`timescale 1ns/1ps\nmodule {0}_tb;\n  reg clk = 0;\n  reg [{1}:0] in;\n  wire [{2}:0] out;\n"
      "  reg [{1}:0] given [0:{3}];\n  reg [{2}:0] expected [0:{3}];\n  integer i;\n"
      "  integer errors = 0;\n  {0} dut ({4}.in(in), .out(out));\n  initial begin\n",
      name, last_in, last_out, cases_checked - 1, clocked ? ".clk(clk), " : "");
  auto out = std::back_inserter(text);
  for (std::int64_t s = 0; s < cases_checked; ++s) {
    fmt::format_to(out, "    given[{0}] = {1}; expected[{0}] = {2};\n", s, number(lane(inputs, s)),
                   number(lane(outputs, s)));
  }
  // One new case per clock fills the pipeline. Case i + 1 - latency comes out after clock i.
  fmt::format_to(out,
                 "    for (i = 0; i < {0} + {1}; i = i + 1) begin\n"
                 "      in = given[i < {0} ? i : {0} - 1];\n      #1 clk = 1; #1 clk = 0;\n"
                 "      if (i >= {1} && out !== expected[i - {1}]) errors = errors + 1;\n"
                 "    end\n",
                 cases_checked, clocked ? latency - 1 : 0);
  return text + fmt::format(closing, cases_checked);
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
      name, bits - 1, number(state));
  for (int step = 0; step < steps; ++step) {
    state = stepped(netlist, size, state);
    text += fmt::format("    check({});\n", number(state));
  }
  return text + fmt::format(closing, steps + 2);
}

std::string opening(const Netlist& netlist) {
  return fmt::format("// {}: a circuit of {} gates, written by boolgrad.\n{}{}",
                     printable(netlist.name), netlist.gates.size(),
                     port_comments("in", netlist.inputs), port_comments("out", netlist.outputs));
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
  std::string text = fmt::format("module {}{}  genvar y, x;\n", name,
                                 ports(circuit.inputs.size(), circuit.rest.outputs.size()));
  std::string input = "in";
  if (!circuit.masked_inputs.empty()) {
    std::vector<bool> kept(circuit.inputs.size(), true);
    for (const std::size_t i : circuit.masked_inputs) kept[i] = false;
    input = "kept";
    text += fmt::format("  wire [{}:0] kept = in & {};\n", kept.size() - 1, number(kept));
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

Verilog to_verilog(const Netlist& netlist) {
  check_ports(netlist);
  const std::string name = module_name_of(netlist.name);
  return {name, opening(netlist) + combinational_module(netlist, name), bench_of(netlist, name, 0)};
}

Verilog to_verilog(const SharedCircuit& circuit) {
  const Netlist flat = flattened(circuit);
  check_ports(flat);
  const std::string name = module_name_of(circuit.name);
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
  return {name, design + shared_module(circuit, name), bench_of(flat, name, 0)};
}

Verilog to_pipelined_verilog(const Netlist& netlist, std::int64_t levels) {
  check_ports(netlist);
  if (levels < 1) fail(where, "expected registers every 1 or more levels, received {}", levels);
  const std::string name = module_name_of(netlist.name);
  const std::int64_t latency = pipeline_of(netlist, levels, reachable_gates(netlist)).latency;
  return {name, opening(netlist) + pipelined_module(netlist, name, levels),
          bench_of(netlist, name, latency)};
}

Verilog to_verilog_array(const Netlist& netlist, const GridSize& size) {
  if (!netlist.state) fail(where, "expected the rule of an automaton for an array, received none");
  constexpr std::int64_t max_side = 4096;
  if (size.height < 1 || size.width < 1 || size.height > max_side || size.width > max_side) {
    fail(where, "expected an array of 1x1 to {}x{} cells, received {}x{}", max_side, max_side,
         size.height, size.width);
  }
  const std::string name = module_name_of(netlist.name);
  return {name,
          opening(netlist) + combinational_module(netlist, name + "_cell") + "\n" +
              array_module(netlist, name, size),
          array_bench(netlist, name, size)};
}

}  // namespace boolgrad::circuit

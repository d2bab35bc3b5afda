// Exports of many random circuits, run by others: a C compiler, a Verilog simulator, a browser, and
// Berkeley ABC, which proves files equivalent. BOOLGRAD_EXPORTED_CIRCUITS sets the number of
// circuits; bench/reliability.py asks for thousands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/core/random.h"
#include "tests/support/browser.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

using testing_support::document_of;
using testing_support::require_browser;
using testing_support::require_tool;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::text_of;
using testing_support::ToolResult;
using testing_support::write_bytes;

constexpr std::size_t max_inputs = 10;
constexpr std::size_t samples = 64;
constexpr std::size_t batch_size = 100;

/// The outputs of every circuit of a batch: one word of samples per output.
using Outputs = std::vector<std::vector<std::uint64_t>>;

std::size_t circuit_count() {
  const char* const text = std::getenv("BOOLGRAD_EXPORTED_CIRCUITS");
  return text == nullptr ? 2 * batch_size : std::stoul(text);
}

/// Circuits of any size up to 10 inputs, 60 gates and 8 outputs. Every other one is simplified.
Netlist random_circuit(std::size_t number) {
  std::uint64_t index = 0;
  const auto below = [&](std::uint64_t bound) {
    return random_below({.seed = number, .stream = 11, .index = index++}, bound);
  };
  const NetlistSize size{1 + below(max_inputs), below(61), 1 + below(8)};
  Netlist netlist = random_netlist(size, number);
  if (number % 2 == 1) netlist = simplify(netlist);
  netlist.name = fmt::format("r{}", number);
  return netlist;
}

/// Samples of the inputs. A circuit reads as many as it has inputs.
std::vector<std::uint64_t> words() { return random_words(max_inputs, 3); }

Outputs expected_of(const std::vector<Netlist>& batch) {
  Outputs outputs;
  for (const Netlist& netlist : batch) {
    std::vector<std::uint64_t> own = words();
    own.resize(netlist.inputs.size());
    outputs.push_back(evaluate(netlist, own));
  }
  return outputs;
}

/// BLIF by the definition of a netlist: a row per entry of a table.
std::string reference_blif(const Netlist& netlist) {
  const auto name = [](std::size_t net) { return fmt::format("net{}", net); };
  std::string text = ".model reference\n.inputs";
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) text += " " + netlist.inputs[i];
  text += "\n.outputs";
  for (const std::string& output : netlist.outputs) text += " " + output;
  text += "\n";
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) {
    text += fmt::format(".names {} {}\n1 1\n", netlist.inputs[i], name(i));
  }
  for (std::size_t g = 0; g < netlist.gates.size(); ++g) {
    const NetlistGate& gate = netlist.gates[g];
    text += ".names";
    // ABC knows no table that has inputs and is always 0.
    if (gate.truth != 0) {
      for (const Net net : gate.sources()) text += " " + name(net);
    }
    text += " " + name(netlist.gate(g)) + "\n";
    for (std::uint64_t row = 0; row < std::uint64_t{1} << gate.arity; ++row) {
      if ((gate.truth >> row & 1) == 0) continue;
      for (std::size_t j = 0; j < gate.arity; ++j) text += (row >> j & 1) != 0 ? '1' : '0';
      text += " 1\n";
    }
  }
  for (std::size_t o = 0; o < netlist.outputs.size(); ++o) {
    text += fmt::format(".names {} {}\n1 1\n", name(netlist.output_nets[o]), netlist.outputs[o]);
  }
  return text + ".end\n";
}

/// Compares the outputs that a program has printed as hexadecimal words in order.
void expect_words(const Outputs& expected, const std::string& printed) {
  std::istringstream text(printed);
  text >> std::hex;
  for (std::size_t c = 0; c < expected.size(); ++c) {
    for (const std::uint64_t word : expected[c]) {
      std::uint64_t received = 0;
      ASSERT_TRUE(text >> received) << printed.substr(0, 2000);
      ASSERT_EQ(received, word) << "circuit " << c << " of the batch";
    }
  }
  std::string rest;
  EXPECT_FALSE(text >> rest) << rest;
}

class ExportsAgree : public testing::Test {
 protected:
  /// Calls `check` for batches of circuits.
  template <class Check>
  void for_batches(const Check& check) {
    const std::size_t count = circuit_count();
    for (std::size_t first = 0; first < count && !HasFailure(); first += batch_size) {
      SCOPED_TRACE(fmt::format("circuits from {} on", first));
      std::vector<Netlist> batch;
      for (std::size_t i = first; i < std::min(first + batch_size, count); ++i) {
        batch.push_back(random_circuit(i));
      }
      check(batch);
    }
    RecordProperty("circuits", std::to_string(count));
  }

  ToolResult run(const std::string& command) const {
    return run_tool("cd " + scratch_.path().string() + " && " + command);
  }

  ScratchFolder scratch_;
};

TEST_F(ExportsAgree, InC) {
  require_tool("gcc", "gcc");
  for_batches([&](const std::vector<Netlist>& batch) {
    std::string headers;
    std::string calls;
    for (const Netlist& netlist : batch) {
      write_bytes(scratch_ / (netlist.name + ".h"), netlist.to_c());
      headers += fmt::format("#include \"{}.h\"\n", netlist.name);
      calls += fmt::format("  {}_eval(words, out);\n  print(out, {});\n", netlist.name,
                           netlist.outputs.size());
    }
    std::string given = "static const uint64_t words[] = {";
    for (const std::uint64_t word : words()) given += fmt::format("UINT64_C({:#x}), ", word);
    write_bytes(scratch_ / "main.c",
                headers + "#include <inttypes.h>\n#include <stdio.h>\n" + given +
                    "0};\n"
                    "static void print(const uint64_t* out, int count) {\n"
                    "  for (int i = 0; i < count; ++i) printf(\"%\" PRIx64 \"\\n\", out[i]);\n}\n"
                    "int main(void) {\n  uint64_t out[8];\n" +
                    calls + "}\n");
    const ToolResult result = run("gcc -std=c99 -O0 main.c -o main && ./main");
    ASSERT_EQ(result.code, 0) << result.output.substr(0, 2000);
    expect_words(expected_of(batch), result.output);
  });
}

TEST_F(ExportsAgree, InVerilog) {
  require_tool("iverilog", "iverilog");
  for_batches([&](const std::vector<Netlist>& batch) {
    std::string designs;
    std::string instances;
    std::string collected;
    std::string printed;
    for (const Netlist& netlist : batch) {
      const Verilog verilog = to_verilog(netlist);
      const std::string& name = netlist.name;
      designs += verilog.design;
      instances += fmt::format("  wire [{0}:0] {1};\n  {2} d{1}(.in(in[{3}:0]), .out({1}));\n",
                               netlist.outputs.size() - 1, name, verilog.module_name,
                               netlist.inputs.size() - 1);
      for (std::size_t o = 0; o < netlist.outputs.size(); ++o) {
        instances += fmt::format("  reg [63:0] {}_{};\n", name, o);
        collected += fmt::format("      {0}_{1}[i] = {0}[{1}];\n", name, o);
        printed += fmt::format("    $display(\"%h\", {}_{});\n", name, o);
      }
    }
    std::string given;
    for (std::size_t i = 0; i < max_inputs; ++i) {
      given += fmt::format("    word[{}] = 64'h{:x};\n", i, words()[i]);
    }
    write_bytes(
        scratch_ / "all.v",
        designs +
            fmt::format("module bench;\n  reg [{0}:0] in;\n  reg [63:0] word [0:{0}];"
                        "\n  integer i, j;\n",
                        max_inputs - 1) +
            instances + "  initial begin\n" + given +
            fmt::format("    for (i = 0; i < {}; i = i + 1) begin\n", samples) +
            fmt::format("      for (j = 0; j < {}; j = j + 1) in[j] = word[j][i];\n", max_inputs) +
            "      #1;\n" + collected + "    end\n" + printed + "  end\nendmodule\n");
    const ToolResult result = run("iverilog -g2005 -s bench -o bench all.v && vvp -n bench");
    ASSERT_EQ(result.code, 0) << result.output.substr(0, 2000);
    expect_words(expected_of(batch), result.output);
  });
}

// ABC proves the files equivalent to one that this test has written.
TEST_F(ExportsAgree, InBlifAndAiger) {
  require_tool("berkeley-abc", "berkeley-abc");
  for_batches([&](const std::vector<Netlist>& batch) {
    std::string script;
    for (const Netlist& netlist : batch) {
      const std::string& name = netlist.name;
      write_bytes(scratch_ / (name + "_ref.blif"), reference_blif(netlist));
      write_bytes(scratch_ / (name + ".blif"), netlist.to_blif());
      write_bytes(scratch_ / (name + ".aig"), to_aiger(netlist, AigerFormat::binary));
      // ABC does not read ASCII AIGER.
      const std::string ascii = to_aiger(netlist, AigerFormat::ascii);
      write_bytes(scratch_ / (name + "_ascii.aig"),
                  to_aiger(netlist_from_aiger(ascii, name), AigerFormat::binary));
      for (const char* file : {".blif", ".aig", "_ascii.aig"}) {
        script += fmt::format("cec -n {0}_ref.blif {0}{1}\n", name, file);
      }
    }
    write_bytes(scratch_ / "script", script);
    const ToolResult result = run("berkeley-abc -f script");
    std::size_t proven = 0;
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
      proven += line.find("Networks are equivalent") != std::string::npos ? 1 : 0;
    }
    ASSERT_EQ(proven, 3 * batch.size()) << result.output.substr(0, 4000);
  });
}

// The scripts of a page evaluate the models of all pages: they are the same in every page.
TEST_F(ExportsAgree, InHtml) {
  require_browser();
  if (IsSkipped()) return;
  for_batches([&](const std::vector<Netlist>& batch) {
    std::string models;
    std::string shell;
    for (Netlist netlist : batch) {
      netlist.name = "one of a batch";
      std::string page = netlist.to_html();
      const std::string begins = R"(<script id="model" type="application/json">)";
      const std::size_t begin = page.find(begins) + begins.size();
      const std::size_t end = page.find("</script>", begin);
      ASSERT_LT(begin, end);
      ASSERT_LT(end, page.size());
      models += page.substr(begin, end - begin) + ",\n";
      page.erase(begin, end - begin);
      ASSERT_TRUE(shell.empty() || page == shell) << "pages differ in more than their models";
      shell = page;
    }
    std::string given;
    for (const std::uint64_t word : words()) given += fmt::format("0x{:x}n, ", word);
    const std::string script =
        "const words = [" + given + "];\nconst models = [" + models + "];\n" + R"(
let text = '';
for (const model of models) {
  const netlist = readNetlist(model.netlist);
  const cases = Array.from({length: 64}, (_, s) => netlist.inputs.map(
      (_, i) => Number(words[i] >> BigInt(s) & 1n)));
  const results = evaluateCases(netlist, compile(netlist), cases);
  netlist.outputNets.forEach((_, o) => {
    let word = 0n;
    results.forEach((bits, s) => { word |= BigInt(bits[o]) << BigInt(s); });
    text += word.toString(16) + '\n';
  });
}
document.getElementById('seen').textContent = text;
)";
    std::string page = batch.front().to_html();
    // The scripts of a page are a function that is called at their end.
    page.insert(page.rfind("})();"), script);
    page.insert(page.find("<main"), "<pre id=\"seen\"></pre>\n");
    write_bytes(scratch_ / "page.html", page);
    expect_words(expected_of(batch), text_of(document_of(scratch_ / "page.html", "dump"), "seen"));
  });
}

}  // namespace
}  // namespace boolgrad::circuit

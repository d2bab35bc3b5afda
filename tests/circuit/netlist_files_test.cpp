#include "boolgrad/circuit/formats/netlist_files.h"

#include <gtest/gtest.h>

#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::circuit {
namespace {

using testing_support::read_bytes;
using testing_support::ScratchFolder;

Netlist half_adder() {
  return netlist_from_text(
      "netlist half_adder\ninput a b\ngate n0 0110 a b\ngate n1 0001 a b\noutput sum n0\n"
      "output carry n1\nend\n",
      "test");
}

TEST(NetlistFiles, AreWrittenInEveryFormat) {
  const ScratchFolder scratch;
  const std::vector<std::string> extensions = {".txt", ".h",   ".v",   ".blif",
                                               ".aig", ".aag", ".dot", ".html"};
  ASSERT_EQ(extensions.size(), netlist_formats().size());
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    const std::filesystem::path path = scratch / ("a" + extensions[i]);
    write_netlist(half_adder(), path);
    EXPECT_EQ(format_of_file("test", path), netlist_formats()[i]);
    EXPECT_EQ(read_bytes(path), content_of(half_adder(), netlist_formats()[i]));
    write_netlist(half_adder(), scratch / "same", netlist_formats()[i]);
    EXPECT_EQ(read_bytes(path), read_bytes(scratch / "same"));
  }
  EXPECT_EQ(read_bytes(scratch / "a.aig"), to_aiger(half_adder(), AigerFormat::binary));
}

TEST(NetlistFiles, AreReadBack) {
  const ScratchFolder scratch;
  for (const std::string extension : {".txt", ".net", ".blif", ".aig", ".aag", ".v", ".html"}) {
    const std::filesystem::path path = scratch / ("a" + extension);
    write_netlist(half_adder(), path);
    expect_equivalent(half_adder(), read_netlist(path), "the file");
    EXPECT_TRUE(has_readable_extension(path));
  }
  EXPECT_FALSE(has_readable_extension("a.h"));
  EXPECT_FALSE(has_readable_extension("model.safetensors"));
  write_netlist(half_adder(), scratch / "a.dot");
  expect_error([&] { read_netlist(scratch / "a.dot"); },
               "[read] " + (scratch / "a.dot").string() +
                   ": expected netlist, verilog, blif, aiger, aag or html, received dot, which is "
                   "only written");
}

TEST(NetlistFiles, OfUnknownFormats) {
  expect_error([] { write_netlist(half_adder(), "a.png"); },
               "[write] expected a format or a file that ends in .txt, .net, .netlist, .h, .c, .v, "
               ".sv, .blif, .aig, .aag, .dot, .gv or .html, received a.png");
  expect_error([] { content_of(half_adder(), "png"); },
               "[write] expected the format netlist, c, verilog, blif, aiger, aag, dot or html, "
               "received 'png'");
}

TEST(PassesByName, AreThoseOfTheFunctions) {
  const Netlist netlist = half_adder();
  std::vector<PassStats> stats;
  const Netlist result = apply_passes(netlist, pass_names(), &stats);
  expect_equivalent(netlist, result, "the result");
  ASSERT_EQ(stats.size(), pass_names().size());
  for (std::size_t i = 0; i < stats.size(); ++i) EXPECT_EQ(stats[i].pass, pass_names()[i]);
  EXPECT_EQ(apply_passes(netlist, {}), netlist);
  const std::vector<std::string> one = {"structural hashing"};
  EXPECT_EQ(apply_passes(netlist, one), structural_hashing(netlist));
  const std::vector<std::string> unknown = {"magic"};
  expect_error(
      [&] { apply_passes(netlist, unknown); },
      "[simplify] expected the pass constant propagation, unused inputs, buffer absorption, "
      "structural hashing, dangling gates, decomposition, resubstitution, don't-care "
      "optimisation, cut rewriting or arithmetic resynthesis, received 'magic'");
}

}  // namespace
}  // namespace boolgrad::circuit

#include "boolgrad/cli/classifier.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "boolgrad/circuit/formats/named_netlist.h"
#include "boolgrad/circuit/formats/net_names.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/temporary_folder.h"
#include "boolgrad/logic/head.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;

using Library = std::unique_ptr<void, int (*)(void*)>;

Library compiled(const std::string& where, const circuit::Netlist& netlist,
                 const circuit::ClassifierPorts& ports, const fs::path& folder) {
  const bool is_value = ports.head.kind == HeadKind::regression;
  write_file(where, folder / "classifier.h", circuit::classifier_c(netlist, ports));
  write_file(
      where, folder / "classifier.c",
      fmt::format("#include \"classifier.h\"\nvoid run(const {0}_feature *x, size_t samples, "
                  "{1} *results)\n{{\n  {0}_{2}(x, samples, results);\n}}\n",
                  circuit::identifier(netlist.name), is_value ? "double" : "int32_t",
                  is_value ? "predict" : "classify"));
  const std::string library = (folder / "classifier.so").string();
  // Without optimisation, which would take minutes for large circuits.
  const std::string command =
      fmt::format("cc -std=c99 -O0 -shared -fPIC -o '{}' '{}' > /dev/null 2>&1", library,
                  (folder / "classifier.c").string());
  if (std::system(command.c_str()) != 0) {
    fail(where, "cannot compile the exported C: cc failed or is not installed");
  }
  Library loaded(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose);
  if (!loaded) fail(where, "cannot load the compiled circuit: {}", dlerror());
  return loaded;
}

template <class Result>
std::vector<double> results_of(void* function, const Tensor& samples) {
  std::vector<Result> results(static_cast<std::size_t>(samples.shape()[0]));
  using Run = void (*)(const void*, std::size_t, Result*);
  reinterpret_cast<Run>(function)(samples.data(), results.size(), results.data());
  return {results.begin(), results.end()};
}

/// One line per sample in hexadecimal digits, the last feature first.
std::string hexadecimal(const Tensor& samples) {
  std::string lines;
  const std::int64_t features = samples.shape()[1];
  for (std::int64_t s = 0; s < samples.shape()[0]; ++s) {
    for (std::int64_t f = features; f-- > 0;) {
      const auto at = static_cast<std::size_t>(s * features + f);
      lines +=
          samples.dtype() == DType::uint8
              ? fmt::format("{:02x}", samples.values<std::uint8_t>()[at])
              : fmt::format("{:08x}", std::bit_cast<std::uint32_t>(samples.values<float>()[at]));
    }
    lines += '\n';
  }
  return lines;
}

/// A test bench that prints the output for every sample, one number per line.
std::string printing_bench(const std::string& module_name, std::int64_t input_bits,
                           std::size_t output_bits, std::int64_t samples) {
  return fmt::format(
      "module bench;\n  reg [{0}:0] samples [0:{1}];\n  reg [{0}:0] x;\n  wire [{2}:0] out;\n"
      "  integer i;\n  {3}_classifier dut (.x(x), .out(out));\n  initial begin\n"
      "    $readmemh(\"samples.hex\", samples);\n"
      "    for (i = 0; i <= {1}; i = i + 1) begin\n      x = samples[i]; #1 $display(\"%0d\", "
      "out);\n"
      "    end\n    $finish(0);\n  end\nendmodule\n",
      input_bits - 1, samples - 1, output_bits - 1, module_name);
}

std::vector<double> numbers_in(const std::string& where, const fs::path& path) {
  std::ifstream file = open_for_reading(where, path);
  return {std::istream_iterator<double>(file), {}};
}

}  // namespace

std::vector<double> run_compiled(const std::string& where, const circuit::Netlist& netlist,
                                 const circuit::ClassifierPorts& ports, const Tensor& samples) {
  const TemporaryFolder folder(where);
  const Library library = compiled(where, netlist, ports, folder.path());
  void* function = dlsym(library.get(), "run");
  if (function == nullptr) fail(where, "cannot run the compiled circuit: {}", dlerror());
  return ports.head.kind == HeadKind::regression ? results_of<double>(function, samples)
                                                 : results_of<std::int32_t>(function, samples);
}

std::vector<double> run_simulated(const std::string& where, const circuit::Netlist& netlist,
                                  const circuit::ClassifierPorts& ports, const Tensor& samples) {
  const TemporaryFolder folder(where);
  const circuit::Netlist whole = circuit::with_head(netlist, ports.head);
  const circuit::Verilog verilog = circuit::classifier_verilog(whole, ports);
  const std::int64_t input_bits = (ports.has_bytes ? 8 : 32) * samples.shape()[1];
  write_file(where, folder.path() / "design.v", verilog.design);
  write_file(where, folder.path() / "samples.hex", hexadecimal(samples));
  write_file(
      where, folder.path() / "bench.v",
      printing_bench(verilog.module_name, input_bits, whole.outputs.size(), samples.shape()[0]));
  const std::string command = fmt::format(
      "cd '{}' && iverilog -g2005-sv -o bench design.v bench.v > /dev/null 2>&1 && "
      "vvp -n bench > results.txt 2> /dev/null",
      folder.path().string());
  if (std::system(command.c_str()) != 0) {
    fail(where, "cannot simulate the exported Verilog: iverilog or vvp failed or is not installed");
  }
  std::vector<double> results = numbers_in(where, folder.path() / "results.txt");
  if (std::ssize(results) != samples.shape()[0]) {
    fail(where, "expected {} results from the simulation, received {}", samples.shape()[0],
         results.size());
  }
  if (ports.head.kind != HeadKind::regression) return results;
  const Tensor sums = Tensor::of(results, {1, samples.shape()[0]});
  return logic::predictions(ports.head, sums, std::ssize(netlist.outputs));
}

}  // namespace boolgrad::cli

#include "boolgrad/cli/classifier.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp is POSIX's, not C++'s

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "boolgrad/circuit/named_netlist.h"
#include "boolgrad/circuit/net_names.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/file.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone when it is no longer needed.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& where) {
    std::string name = (fs::temp_directory_path() / "boolgrad_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      fail(where, "{}: expected to make this folder, received {}", name, system_message());
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

using Library = std::unique_ptr<void, int (*)(void*)>;

Library compiled(const std::string& where, const Netlist& netlist, const ClassifierPorts& ports,
                 const fs::path& folder) {
  const bool is_value = ports.head.kind == HeadKind::regression;
  write_file(where, folder / "classifier.h", classifier_c99(netlist, ports));
  write_file(
      where, folder / "classifier.c",
      fmt::format("#include \"classifier.h\"\nvoid run(const {0}_feature *x, size_t samples, "
                  "{1} *results)\n{{\n  {0}_{2}(x, samples, results);\n}}\n",
                  identifier(netlist.name), is_value ? "double" : "int32_t",
                  is_value ? "predict" : "classify"));
  const std::string library = (folder / "classifier.so").string();
  // It is to be right, not fast, and compilers take minutes to optimise so many lines.
  const std::string command =
      fmt::format("cc -std=c99 -O0 -shared -fPIC -o '{}' '{}' > /dev/null 2>&1", library,
                  (folder / "classifier.c").string());
  if (std::system(command.c_str()) != 0) {
    fail(where, "expected a C compiler called cc that compiles the circuit, received an error");
  }
  Library loaded(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose);
  if (!loaded) fail(where, "expected to load the compiled circuit, received {}", dlerror());
  return loaded;
}

template <class Result>
std::vector<double> results_of(void* function, const Tensor& samples) {
  std::vector<Result> results(static_cast<std::size_t>(samples.shape()[0]));
  using Run = void (*)(const void*, std::size_t, Result*);
  reinterpret_cast<Run>(function)(samples.data(), results.size(), results.data());
  return {results.begin(), results.end()};
}

}  // namespace

ClassifierPorts ports_of(const Model& model) {
  const Classifier& classifier = *model.classifier;
  return {.thresholds = classifier.thresholds,
          .head = classifier.head,
          .has_bytes = classifier.has_bytes,
          .features = classifier.form.columns.empty()
                          ? std::vector<std::string>{}
                          : feature_names(classifier.form, classifier.thresholds.features()),
          .classes = classifier.form.classes};
}

std::vector<double> run_compiled(const std::string& where, const Netlist& netlist,
                                 const ClassifierPorts& ports, const Tensor& samples) {
  const TemporaryFolder folder(where);
  const Library library = compiled(where, netlist, ports, folder.path());
  void* function = dlsym(library.get(), "run");
  if (function == nullptr)
    fail(where, "expected the compiled circuit to run, received {}", dlerror());
  return ports.head.kind == HeadKind::regression ? results_of<double>(function, samples)
                                                 : results_of<std::int32_t>(function, samples);
}

}  // namespace boolgrad::cli

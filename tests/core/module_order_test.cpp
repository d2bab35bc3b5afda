// The module order of boolgrad/modules.txt: a module includes only itself and modules above it.
// Vendor headers appear only in their own backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

const fs::path source = BOOLGRAD_SOURCE_DIR;

std::vector<std::string> modules() {
  std::ifstream file(source / "boolgrad/modules.txt");
  EXPECT_TRUE(file.is_open());
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) names.push_back(line);
  return names;
}

/// The position of a module in the order; empty if it is not listed.
std::optional<std::ptrdiff_t> place_of(const std::vector<std::string>& order,
                                       const std::string& module) {
  const auto found = std::ranges::find(order, module);
  if (found == order.end()) return std::nullopt;
  return found - order.begin();
}

/// The error in a line of a file, whose path is relative to the source tree; empty if there is
/// none.
std::string violation(const std::vector<std::string>& order, const fs::path& file,
                      const std::string& line) {
  static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  static const std::regex of_cuda("^(cuda[a-zA-Z_]*\\.h|cub/|cooperative_groups|mma\\.h|nv).*");
  static const std::regex of_vulkan("^(vulkan|vk_video)/.*");
  std::smatch match;
  if (!std::regex_search(line, match, include)) return "";
  const std::string header = match[1];
  const std::string path = file.generic_string();
  if (std::regex_match(header, of_cuda) && !path.starts_with("boolgrad/backend/cuda/")) {
    return "includes " + header + ", which belongs in backend/cuda";
  }
  if (std::regex_match(header, of_vulkan) && !path.starts_with("boolgrad/backend/vulkan/")) {
    return "includes " + header + ", which belongs in backend/vulkan";
  }
  if (!header.starts_with("boolgrad/")) return "";
  const auto name_in = [](const fs::path& of) { return std::next(of.begin())->string(); };
  const auto own = place_of(order, name_in(file));
  const auto other = place_of(order, name_in(header));
  // Files outside of all modules, such as the umbrella header, may include everything.
  if (!own || (other && *other <= *own)) return "";
  return "includes " + header + ", a module below its own";
}

bool is_code(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh";
}

TEST(ModuleOrder, ListsEveryFolder) {
  const std::vector<std::string> order = modules();
  for (const auto& entry : fs::directory_iterator(source / "boolgrad")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(place_of(order, entry.path().filename().string())) << entry.path();
  }
  for (const std::string& name : order) {
    EXPECT_TRUE(fs::is_directory(source / "boolgrad" / name)) << name;
    EXPECT_EQ(std::ranges::count(order, name), 1) << name;
  }
}

TEST(ModuleOrder, NoModuleIncludesOneBelowIt) {
  const std::vector<std::string> order = modules();
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source / "boolgrad")) {
    if (!is_code(entry.path())) continue;
    ++files;
    const fs::path file = fs::relative(entry.path(), source);
    std::ifstream text(entry.path());
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      const std::string wrong = violation(order, file, line);
      EXPECT_EQ(wrong, "") << file.string() << ":" << number;
    }
  }
  EXPECT_GT(files, 300);
}

TEST(ModuleOrder, IsCheckedForEveryKindOfInclude) {
  const std::vector<std::string> order = modules();
  const auto wrong = [&](const char* file, const char* line) {
    return !violation(order, file, line).empty();
  };
  EXPECT_TRUE(wrong("boolgrad/logic/a.h", "#include \"boolgrad/train/b.h\""));
  EXPECT_TRUE(wrong("boolgrad/model/a.cpp", "  # include <boolgrad/train/run/b.h>"));
  EXPECT_TRUE(wrong("boolgrad/logic/a.h", "#include \"boolgrad/boolgrad.h\""));
  EXPECT_TRUE(wrong("boolgrad/backend/plan/a.h", "#include <cuda_runtime.h>"));
  EXPECT_TRUE(wrong("boolgrad/cli/a.cpp", "#include <vulkan/vulkan.h>"));
  EXPECT_FALSE(wrong("boolgrad/train/a.h", "#include \"boolgrad/train/b.h\""));
  EXPECT_FALSE(wrong("boolgrad/train/a.h", "#include \"boolgrad/core/b.h\""));
  EXPECT_FALSE(wrong("boolgrad/boolgrad.h", "#include \"boolgrad/train/b.h\""));
  EXPECT_FALSE(wrong("boolgrad/backend/cuda/a.cu", "#include <cuda_runtime.h>"));
  EXPECT_FALSE(wrong("boolgrad/core/a.h", "// like boolgrad/train/b.h"));
}

}  // namespace
}  // namespace boolgrad

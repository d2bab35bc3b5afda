#include "boolgrad/backend/device/capabilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

constexpr Backend backends[] = {Backend::cpu, Backend::cuda, Backend::vulkan};

TEST(Capabilities, EveryFeatureHasADescription) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < feature_count; ++i) {
    const FeatureText& text = feature_texts()[i];
    EXPECT_EQ(static_cast<std::size_t>(text.feature), i) << "in the order of the features";
    EXPECT_FALSE(text.name.empty()) << i;
    EXPECT_TRUE(names.emplace(text.name).second) << text.name << " twice";
  }
  EXPECT_EQ(static_cast<std::size_t>(Feature::hardened_grids) + 1, feature_count);
}

TEST(Capabilities, TheCpuSupportsEverything) {
  EXPECT_TRUE(cpu_capabilities().all());
  EXPECT_TRUE(capabilities_of(Backend::cpu).all());
}

TEST(Capabilities, GpusSupportEverythingButDoublePrecisionAndPenaltiesOfNetworks) {
  const Capabilities missing = capabilities(Feature::float64, Feature::network_gate_penalty);
  EXPECT_EQ(~capabilities_of(Backend::cuda), missing);
  EXPECT_EQ(~capabilities_of(Backend::vulkan), missing);
}

TEST(Capabilities, TheTableHasOneLinePerFeature) {
  const std::string table = capability_table();
  EXPECT_TRUE(
      table.starts_with("| feature | key | CPU | CUDA | Vulkan |\n|---|---|---|---|---|\n"));
  EXPECT_NE(table.find("| double precision | `network.dtype = float64` | yes | no | no |\n"),
            std::string::npos);
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')),
            feature_count + 2);
  for (const Backend backend : backends) EXPECT_FALSE(to_string(backend).empty());
}

TEST(Capabilities, TheTableIsInTheGuide) {
  const std::filesystem::path path = std::filesystem::path(BOOLGRAD_SOURCE_DIR) / "docs" / "gpu.md";
  const std::string guide = testing_support::read_bytes(path);
  const std::string opening = "<!-- capabilities -->\n";
  const std::size_t begin = guide.find(opening);
  const std::size_t end = guide.find("<!-- /capabilities -->");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(guide.substr(begin + opening.size(), end - begin - opening.size()), capability_table())
      << "replace the table by the output of `boolgrad devices --capabilities`";
}

}  // namespace
}  // namespace boolgrad

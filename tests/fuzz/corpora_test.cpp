// Replays the corpora of the fuzz targets, and inputs that are mutated from them.
//
// BOOLGRAD_FUZZ_SECONDS=N mutates for N more seconds per target, from seeds that differ in every
// run. BOOLGRAD_FUZZ_SEED sets the first of these, to repeat a run that failed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/core/random.h"
#include "tests/fuzz/targets.h"
#include "tests/support/scratch.h"

namespace boolgrad::fuzz {
namespace {

namespace fs = std::filesystem;

using testing_support::read_bytes;

const fs::path corpora = fs::path(BOOLGRAD_SOURCE_DIR) / "tests/fuzz/corpora";

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t mutations = 300;
#else
constexpr std::uint64_t mutations = 3000;
#endif

std::vector<std::string> corpus_of(std::string_view target) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(corpora / target)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> corpus;
  for (const fs::path& path : paths) corpus.push_back(read_bytes(path));
  return corpus;
}

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// An input of the corpus with a few changes: bytes, lengths, repeated and exchanged parts.
std::string mutated(const std::vector<std::string>& corpus, std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(random_below({.seed = seed, .index = index++}, bound));
  };
  std::string text = corpus[below(corpus.size())];
  const std::size_t changes = 1 + below(4);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 16) + 1);
    switch (below(6)) {
      case 0: text.insert(at, 1, static_cast<char>(below(256))); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      case 3: text.resize(at); break;
      case 4: {
        const std::string& other = corpus[below(corpus.size())];
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      }
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    }
  }
  return text;
}

/// The value of an environment variable, or 0.
std::uint64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::stoull(text);
}

/// The first seed of a run of its own.
std::uint64_t first_seed() {
  const std::uint64_t given = number_in("BOOLGRAD_FUZZ_SEED");
  if (given != 0) return given;
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

class FuzzCorpus : public testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, IsRefusedOrReadWithoutACrash) {
  const std::vector<std::string> corpus = corpus_of(GetParam().name);
  ASSERT_FALSE(corpus.empty());
  const auto accepted = std::ranges::count_if(
      corpus, [&](const std::string& input) { return accepts(GetParam(), bytes_of(input)); });
  EXPECT_GT(accepted, 0) << "a corpus needs valid inputs to start from";
  for (std::uint64_t seed = 0; seed < mutations; ++seed) {
    accepts(GetParam(), bytes_of(mutated(corpus, seed)));
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(number_in("BOOLGRAD_FUZZ_SECONDS"));
  if (Clock::now() >= end) return;
  std::uint64_t seed = first_seed();
  // Before the first input, which may end the process.
  fmt::print("BOOLGRAD_FUZZ_SEED={} repeats this run\n", seed);
  std::fflush(stdout);
  std::int64_t inputs = 0;
  for (; Clock::now() < end; ++inputs) accepts(GetParam(), bytes_of(mutated(corpus, seed++)));
  RecordProperty("inputs", std::to_string(inputs));
}

std::string name_of(const testing::TestParamInfo<Target>& info) {
  std::string name(info.param.name);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, testing::ValuesIn(targets().begin(), targets().end()),
                         name_of);

TEST(FuzzCorpora, EveryFolderHasATarget) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(corpora)) {
    folders.insert(entry.path().filename().string());
  }
  std::set<std::string> names;
  for (const Target& target : targets()) names.insert(std::string(target.name));
  EXPECT_EQ(folders, names);
}

}  // namespace
}  // namespace boolgrad::fuzz

#include "boolgrad/data/cifar.h"

#include <fmt/format.h>

#include <algorithm>

#include "boolgrad/core/fail.h"
#include "boolgrad/data/bytes_file.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "cifar";
constexpr std::size_t pixels = 3 * 32 * 32;
constexpr std::size_t record = 1 + pixels;
constexpr std::uint8_t classes = 10;

}  // namespace

SampleSet read_cifar10(const std::vector<std::filesystem::path>& files) {
  std::vector<std::uint8_t> features;
  std::vector<std::int32_t> labels;
  for (const std::filesystem::path& path : files) {
    const std::vector<std::uint8_t> bytes = unpacked_content(where, path);
    if (bytes.empty() || bytes.size() % record != 0) {
      fail(where, "{}: expected records of {} bytes, received {} bytes", path.string(), record,
           bytes.size());
    }
    for (std::size_t at = 0; at < bytes.size(); at += record) {
      if (bytes[at] >= classes) {
        fail(where, "{}: expected labels below {}, received {} at sample {}", path.string(),
             classes, bytes[at], at / record);
      }
      labels.push_back(bytes[at]);
      const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at + 1);
      features.insert(features.end(), first, first + pixels);
    }
  }
  const auto count = static_cast<std::int64_t>(labels.size());
  return {Tensor::of(features, {count, static_cast<std::int64_t>(pixels)}),
          Tensor::of(labels, {count})};
}

std::vector<std::filesystem::path> cifar10_files(const std::filesystem::path& folder, bool test) {
  if (test) return {folder / "test_batch.bin"};
  std::vector<std::filesystem::path> files;
  for (int i = 1; i <= 5; ++i) files.push_back(folder / fmt::format("data_batch_{}.bin", i));
  return files;
}

}  // namespace boolgrad::data

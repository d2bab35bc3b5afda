#include "boolgrad/data/idx.h"

#include <fmt/format.h>

#include <algorithm>

#include "boolgrad/core/fail.h"
#include "boolgrad/data/bytes_file.h"

namespace boolgrad::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "idx";
constexpr std::uint8_t unsigned_bytes = 8;  // the type code of image data sets

std::int64_t big_endian(const std::uint8_t* bytes) {
  std::int64_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | bytes[i];
  return value;
}

/// The file of that name, with or without `.gz`.
fs::path file_in(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    fs::path path = folder / (name + ending);
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path;
  }
  fail("data", "{}: no {} or {}.gz in this folder", folder.string(), name, name);
}

}  // namespace

Tensor read_idx(const fs::path& path) {
  const std::vector<std::uint8_t> bytes = unpacked_content(where, path);
  constexpr std::size_t magic = 4;
  const bool is_idx =
      bytes.size() >= magic && bytes[0] == 0 && bytes[1] == 0 && bytes[3] >= 1 && bytes[3] <= 4;
  if (!is_idx) {
    fail(where, "{}: not an IDX file of 1 to 4 dimensions", path.string());
  }
  if (bytes[2] != unsigned_bytes) {
    fail(where, "{}: expected values of unsigned bytes (type 8), received type {}", path.string(),
         bytes[2]);
  }
  const std::size_t header = magic + std::size_t{4} * bytes[3];
  if (bytes.size() < header) {
    fail(where, "{}: expected a header of {} bytes, received {}", path.string(), header,
         bytes.size());
  }
  Shape shape;
  std::size_t count = 1;
  for (std::size_t at = magic; at < header; at += 4) {
    shape.push_back(big_endian(bytes.data() + at));
    // Limited by the size of the file, so that no product overflows.
    count = std::min(count * static_cast<std::size_t>(shape.back()), bytes.size());
  }
  if (bytes.size() - header != count) {
    fail(where, "{}: expected values for {} after the header, received {} bytes{}", path.string(),
         to_string(shape), bytes.size() - header,
         bytes.size() - header < count ? ", the file is truncated" : "");
  }
  Tensor tensor(shape, DType::uint8);
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end(),
            tensor.mutable_values<std::uint8_t>().begin());
  return tensor;
}

LabelledImages read_idx_images(const fs::path& folder, const std::string& prefix) {
  const fs::path image_file = file_in(folder, prefix + "-images-idx3-ubyte");
  const fs::path label_file = file_in(folder, prefix + "-labels-idx1-ubyte");
  const Tensor images = read_idx(image_file);
  const Tensor labels = read_idx(label_file);
  if (images.rank() != 3 || labels.rank() != 1) {
    fail(where, "{}: expected images of 3 dimensions and labels of 1, received {} and {}",
         folder.string(), images.rank(), labels.rank());
  }
  if (images.shape()[0] != labels.shape()[0]) {
    fail(where, "{}: expected one label for each of {} images in {}, received {}", folder.string(),
         images.shape()[0], label_file.filename().string(), labels.shape()[0]);
  }
  const Shape& shape = images.shape();
  Tensor classes({shape[0]}, DType::int32);
  std::ranges::copy(labels.values<std::uint8_t>(), classes.mutable_values<std::int32_t>().begin());
  return {{images.viewed_as({shape[0], shape[1] * shape[2]}), classes}, shape[1], shape[2]};
}

}  // namespace boolgrad::data

#include "boolgrad/data/npy.h"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <regex>
#include <string>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/bytes_file.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "npy";

struct Kind {
  std::string_view name;
  DType dtype;
  std::size_t bytes;
};

constexpr std::array kinds = {Kind{"|b1", DType::uint8, 1},   Kind{"|u1", DType::uint8, 1},
                              Kind{"<i4", DType::int32, 4},   Kind{"<i8", DType::int64, 8},
                              Kind{"<f4", DType::float32, 4}, Kind{"<f8", DType::float64, 8}};

std::size_t little_endian(const std::uint8_t* bytes, int count) {
  std::size_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

/// The value of a key in the header, which is a Python dictionary.
std::string entry(const std::string& header, const char* pattern,
                  const std::filesystem::path& path) {
  std::smatch found;
  if (!std::regex_search(header, found, std::regex(pattern))) {
    fail(where, "{}: expected descr, fortran_order and shape in the header, received '{}'",
         path.string(), printable(utf8_prefix(header, 200)));
  }
  return found[1].str();
}

Shape shape_in(std::string text, const std::filesystem::path& path) {
  Shape shape;
  const std::regex size("[0-9]+");
  for (std::sregex_iterator it(text.begin(), text.end(), size), end; it != end; ++it) {
    const std::string digits = it->str();
    std::int64_t value = 0;
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || value > std::numeric_limits<std::int32_t>::max()) {
      fail(where, "{}: expected sizes below 2^31, received {}", path.string(), digits);
    }
    shape.push_back(value);
  }
  return shape;
}

struct Header {
  std::size_t bytes = 0;  ///< before the values
  std::string text;
};

Header header_in(const std::vector<std::uint8_t>& bytes, const std::filesystem::path& path) {
  constexpr std::size_t opening = 12;  // magic, version and the longest length
  const bool is_npy = bytes.size() >= opening && std::memcmp(bytes.data(), "\x93NUMPY", 6) == 0 &&
                      bytes[6] >= 1 && bytes[6] <= 3;
  if (!is_npy) fail(where, "{}: not an NPY file", path.string());
  const int digits = bytes[6] == 1 ? 2 : 4;
  const std::size_t first = 8 + static_cast<std::size_t>(digits);
  const std::size_t length = little_endian(bytes.data() + 8, digits);
  if (length > bytes.size() - first) {
    fail(where, "{}: expected a header of {} bytes, received {}, the file is truncated",
         path.string(), length, bytes.size() - first);
  }
  return {first + length, std::string(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(first + length))};
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = unpacked_content(where, path);
  const Header header = header_in(bytes, path);
  const std::string kind = entry(header.text, "'descr': *'([^']*)'", path);
  const Kind* known = nullptr;
  for (const Kind& one : kinds) {
    if (one.name == kind) known = &one;
  }
  if (known == nullptr) {
    fail(where, "{}: expected bool, uint8, int32, int64, float32 or float64, received '{}'",
         path.string(), printable(kind));
  }
  if (entry(header.text, "'fortran_order': *(True|False)", path) == "True") {
    fail(where, "{}: expected an array in C order, received Fortran order", path.string());
  }
  const Shape shape = shape_in(entry(header.text, "'shape': *\\(([0-9, ]*)\\)", path), path);
  const std::size_t received = bytes.size() - header.bytes;
  std::size_t wanted = known->bytes;
  for (const std::int64_t size : shape) {
    wanted *= static_cast<std::size_t>(size);
    if (wanted > bytes.size()) break;  // more than the file has; a further product may overflow
  }
  if (received != wanted) {
    fail(where, "{}: expected values for {}, received {} bytes", path.string(), to_string(shape),
         received);
  }
  Tensor tensor(shape, known->dtype);
  if (received > 0) std::memcpy(tensor.mutable_data(), bytes.data() + header.bytes, received);
  return known->dtype == DType::int32 ? cast(tensor, DType::int64) : tensor;
}

SampleSet read_npy_samples(const std::filesystem::path& folder, const std::string& prefix,
                           bool values) {
  const std::filesystem::path x_file = folder / (prefix + "_x.npy");
  const std::filesystem::path y_file = folder / (prefix + "_y.npy");
  const Tensor x = read_npy(x_file);
  const Tensor y = read_npy(y_file);
  if (x.rank() < 2 || y.rank() != 1 || x.shape()[0] != y.shape()[0]) {
    fail(where, "{}: expected samples [samples, ...] and labels [samples], received {} and {}",
         folder.string(), to_string(x.shape()), to_string(y.shape()));
  }
  if (!values && y.dtype() != DType::uint8 && y.dtype() != DType::int64) {
    fail(where, "{}: expected classes as integers, received {}", y_file.string(),
         to_string(y.dtype()));
  }
  const Tensor features =
      x.viewed_as({x.shape()[0], x.size() / std::max<std::int64_t>(1, x.shape()[0])});
  return {x.dtype() == DType::uint8 ? features : cast(features, DType::float32),
          cast(y, values ? DType::float32 : DType::int32)};
}

}  // namespace boolgrad::data

#include "boolgrad/tensor/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"

// The format: 8 bytes with the length of the header (little endian), the header (one JSON object),
// the elements. The header names the dtype, shape and byte range of each tensor. The ranges cover
// the elements without gaps or overlaps. `__metadata__` is a map of strings.

namespace boolgrad {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored little endian");

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the limit of the format's own library
constexpr std::string_view metadata_name = "__metadata__";

/// A name or a list as it appears in a message: on one line and of limited length.
std::string brief(std::string text) {
  constexpr std::size_t longest = 120;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

std::string in_quotes(const std::string& name) {
  using nlohmann::json;
  return json(brief(name)).dump(-1, ' ', true, json::error_handler_t::replace);
}

/// Throws `[safetensors] FILE: ...`.
template <class... Args>
[[noreturn]] void refuse(const std::filesystem::path& path, fmt::format_string<Args...> format,
                         Args&&... args) {
  fail("safetensors", "{}: {}", path.string(), fmt::format(format, std::forward<Args>(args)...));
}

// ---------------------------------------------------------------------------------------------
// dtypes

struct StoredDType {
  std::string_view name;
  DType dtype;
};

constexpr std::array<StoredDType, 7> stored_dtypes = {{{"F16", DType::float16},
                                                       {"F32", DType::float32},
                                                       {"F64", DType::float64},
                                                       {"I32", DType::int32},
                                                       {"I64", DType::int64},
                                                       {"U8", DType::uint8},
                                                       {"BOOL", DType::uint8}}};

std::optional<DType> dtype_called(std::string_view name) {
  for (const StoredDType& stored : stored_dtypes) {
    if (stored.name == name) return stored.dtype;
  }
  return std::nullopt;
}

std::string_view stored_name(DType dtype) {
  for (const StoredDType& stored : stored_dtypes) {
    if (stored.dtype == dtype) return stored.name;
  }
  fail("safetensors", "expected a dtype that can be stored, received {}", to_string(dtype));
}

// ---------------------------------------------------------------------------------------------
// The header, read

struct TensorEntry {
  std::string name;
  std::string dtype_name;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;
  bool has_dtype = false;
  bool has_shape = false;
  bool has_offsets = false;
};

struct Header {
  std::vector<TensorEntry> entries;
  std::map<std::string, std::string> metadata;
};

/// A SAX handler that accepts only the structure of a header.
///
/// A tree of JSON values would keep only the last of several equal names. The handler also stops at
/// once where a hostile file nests deeper than an array in an object in the header.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::filesystem::path& path) : path_(path) {}

  Header take() { return std::move(header_); }

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return unexpected(brief(text));
  }
  bool binary(binary_t& /*value*/) override { return unexpected("binary"); }

  bool number_integer(number_integer_t value) override {
    return unexpected(fmt::format("{}", value));
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) {
      return unexpected(fmt::format("{}", value));
    }
    auto& list = place_ == Place::shape ? entry().shape : entry().offsets;
    list.push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = value;
    } else if (place_ == Place::entry && key_ == "dtype") {
      entry().dtype_name = value;
    } else {
      return unexpected(in_quotes(value));
    }
    return true;
  }

  bool start_object(std::size_t /*elements*/) override {
    switch (place_) {
      case Place::file: place_ = Place::header; return true;
      case Place::header: place_ = key_ == metadata_name ? Place::metadata : Place::entry; break;
      default: return unexpected("an object");
    }
    if (place_ == Place::entry) {
      header_.entries.emplace_back();
      entry().name = key_;
    }
    return true;
  }

  bool key(string_t& value) override {
    switch (place_) {
      case Place::header: check_new(names_, value, "each name once"); break;
      case Place::metadata: check_new(metadata_keys_, value, "each metadata key once"); break;
      default: note_field(value);
    }
    key_ = value;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry) check_complete();
    place_ = place_ == Place::header ? Place::file : Place::header;
    return true;
  }

  bool start_array(std::size_t /*elements*/) override {
    if (place_ != Place::entry || key_ == "dtype") return unexpected("an array");
    place_ = key_ == "shape" ? Place::shape : Place::offsets;
    return true;
  }

  bool end_array() override {
    place_ = Place::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    refuse(path_, "expected a header of valid JSON, received an error at its byte {}", position);
  }

 private:
  enum class Place : std::uint8_t { file, header, metadata, entry, shape, offsets };

  TensorEntry& entry() { return header_.entries.back(); }

  void check_new(std::set<std::string>& seen, const std::string& name, std::string_view rule) {
    if (!seen.insert(name).second) {
      refuse(path_, "expected {}, received {} twice", rule, in_quotes(name));
    }
  }

  void note_field(const std::string& field) {
    bool* const seen = field == "dtype"          ? &entry().has_dtype
                       : field == "shape"        ? &entry().has_shape
                       : field == "data_offsets" ? &entry().has_offsets
                                                 : nullptr;
    if (seen == nullptr) {
      refuse(path_, "expected dtype, shape and data_offsets in {}, received {}",
             in_quotes(entry().name), in_quotes(field));
    }
    if (std::exchange(*seen, true)) {
      refuse(path_, "expected each field of {} once, received {} twice", in_quotes(entry().name),
             in_quotes(field));
    }
  }

  void check_complete() {
    const std::string_view missing = !entry().has_dtype     ? "dtype"
                                     : !entry().has_shape   ? "shape"
                                     : !entry().has_offsets ? "data_offsets"
                                                            : "";
    if (!missing.empty()) {
      refuse(path_, "expected dtype, shape and data_offsets in {}, received no {}",
             in_quotes(entry().name), missing);
    }
  }

  bool unexpected(const std::string& value) {
    switch (place_) {
      case Place::file: refuse(path_, "expected a JSON object as header, received {}", value);
      case Place::header:
        refuse(path_, "expected an object at {}, received {}", in_quotes(key_), value);
      case Place::metadata:
        refuse(path_, "expected metadata of strings, received {} at {}", value, in_quotes(key_));
      case Place::entry:
        refuse(path_, "expected {} at {} of {}, received {}",
               key_ == "dtype" ? "a string" : "a list of whole numbers", key_,
               in_quotes(entry().name), value);
      case Place::shape:
      case Place::offsets:
        refuse(path_, "expected whole numbers from 0 at {} of {}, received {}", key_,
               in_quotes(entry().name), value);
    }
    return false;
  }

  const std::filesystem::path& path_;
  Header header_;
  Place place_ = Place::file;
  std::string key_;
  std::set<std::string> names_;
  std::set<std::string> metadata_keys_;
};

/// A tensor whose header entry has been checked against the file.
struct PlacedTensor {
  std::string name;
  DType dtype = DType::float32;
  bool is_bool = false;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::string list_text(const std::vector<std::uint64_t>& values) {
  return brief(fmt::format("[{}]", fmt::join(values, ", ")));
}

Shape checked_shape(const std::filesystem::path& path, const TensorEntry& entry) {
  // The limit of `element_count`, which leaves the bytes of any dtype below 2^65.
  constexpr std::uint64_t limit = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  Shape shape;
  for (const std::uint64_t size : entry.shape) {
    if (size > limit || (size > 0 && count > limit / size)) {
      refuse(path, "expected fewer than 2^62 elements in {}, received shape {}",
             in_quotes(entry.name), list_text(entry.shape));
    }
    if (size > 0) count *= size;
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return shape;
}

void check_offsets(const std::filesystem::path& path, const TensorEntry& entry,
                   std::uint64_t data_bytes) {
  if (entry.offsets.size() != 2) {
    refuse(path, "expected two data_offsets in {}, received {}", in_quotes(entry.name),
           list_text(entry.offsets));
  }
  if (entry.offsets[0] > entry.offsets[1]) {
    refuse(path, "expected ascending data_offsets of {}, received {}", in_quotes(entry.name),
           list_text(entry.offsets));
  }
  if (entry.offsets[1] > data_bytes) {
    refuse(path, "expected data_offsets of {} within {} bytes of data, received {}",
           in_quotes(entry.name), data_bytes, list_text(entry.offsets));
  }
}

PlacedTensor checked_entry(const std::filesystem::path& path, const TensorEntry& entry,
                           std::uint64_t data_bytes) {
  const auto dtype = dtype_called(entry.dtype_name);
  if (!dtype) {
    refuse(path, "expected dtype F16, F32, F64, I32, I64, U8 or BOOL at {}, received {}",
           in_quotes(entry.name), in_quotes(entry.dtype_name));
  }
  PlacedTensor placed{.name = entry.name,
                      .dtype = *dtype,
                      .is_bool = entry.dtype_name == "BOOL",
                      .shape = checked_shape(path, entry)};
  check_offsets(path, entry, data_bytes);
  placed.begin = entry.offsets[0];
  placed.end = entry.offsets[1];

  const auto elements = static_cast<std::uint64_t>(element_count(placed.shape));
  const std::uint64_t received = placed.end - placed.begin;
  if (received % size_of(*dtype) != 0 || received / size_of(*dtype) != elements) {
    refuse(path, "expected {} elements of {} in {} of shape {}, received {} bytes", elements,
           entry.dtype_name, in_quotes(entry.name), list_text(entry.shape), received);
  }
  return placed;
}

/// The tensors in the order of their elements, which must be contiguous.
void check_layout(const std::filesystem::path& path, std::vector<PlacedTensor>& tensors,
                  std::uint64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const PlacedTensor& tensor : tensors) {
    if (tensor.begin != end) {
      refuse(path, "expected contiguous tensors, received {} from byte {} {} byte {}",
             in_quotes(tensor.name), tensor.begin,
             tensor.begin < end ? "overlapping the one that ends at" : "after a gap from", end);
    }
    end = tensor.end;
  }
  if (end != data_bytes) {
    refuse(path, "expected {} bytes of data according to the header, received {}", end, data_bytes);
  }
}

// ---------------------------------------------------------------------------------------------
// Loading

class Source {
 public:
  explicit Source(const std::filesystem::path& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (!file_.open()) fail("safetensors", "cannot read {}: {}", path.string(), system_message());
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      fail("safetensors", "cannot read {}: not a regular file", path.string());
    }
    bytes_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t remaining() const { return bytes_ - read_; }
  const std::filesystem::path& path() const { return path_; }

  void read(void* to, std::uint64_t count) {
    auto* next = static_cast<std::byte*>(to);
    while (count > 0) {
      const ssize_t received = ::read(file_.get(), next, std::min(count, max_at_once));
      if (received < 0 && errno == EINTR) continue;
      if (received < 0) {
        fail("safetensors", "cannot read {}: {}", path_.string(), system_message());
      }
      if (received == 0)
        refuse(path_, "expected {} more bytes, received the end of the file", count);
      next += received;
      count -= static_cast<std::uint64_t>(received);
      read_ += static_cast<std::uint64_t>(received);
    }
  }

 private:
  static constexpr std::uint64_t max_at_once = std::uint64_t{1} << 30;
  const std::filesystem::path& path_;
  FileDescriptor file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t read_ = 0;
};

std::string read_header(Source& source) {
  if (source.bytes() < length_bytes) {
    refuse(source.path(), "expected at least {} bytes, received {}", length_bytes, source.bytes());
  }
  std::uint64_t length = 0;
  source.read(&length, length_bytes);
  if (length > longest_header) {
    refuse(source.path(), "expected a header of at most {} bytes, received {}", longest_header,
           length);
  }
  if (length > source.bytes() - length_bytes) {
    refuse(source.path(), "expected a header of at most {} bytes in a file of {}, received {}",
           source.bytes() - length_bytes, source.bytes(), length);
  }
  std::string header(length, '\0');
  source.read(header.data(), length);
  return header;
}

Header parse_header(const std::filesystem::path& path, const std::string& text) {
  if (text.empty() || text.front() != '{') {
    refuse(path, "expected a header that opens with '{{', received {}",
           text.empty() ? "an empty one" : in_quotes(text.substr(0, 1)));
  }
  // The parser would treat a zero byte as the end of the text and ignore the rest.
  const std::size_t zero = text.find('\0');
  if (zero != std::string::npos) {
    refuse(path, "expected a header of valid JSON, received an error at its byte {}", zero + 1);
  }
  HeaderReader reader(path);
  nlohmann::json::sax_parse(text, &reader);
  return reader.take();
}

void check_bools(const std::filesystem::path& path, const std::string& name, const Tensor& tensor) {
  for (const std::uint8_t value : tensor.values<std::uint8_t>()) {
    if (value > 1) {
      refuse(path, "expected 0 or 1 in the BOOL tensor {}, received {}", in_quotes(name), value);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Saving

struct NamedTensor {
  const std::string* name;
  const Tensor* tensor;
};

/// Wide elements first, so that every tensor is aligned to its element size; then by name.
std::vector<NamedTensor> in_file_order(const std::filesystem::path& path, const TensorFile& file) {
  std::vector<NamedTensor> order;
  for (const auto& [name, tensor] : file.tensors) {
    if (name == metadata_name) {
      refuse(path, "expected a tensor name other than {}, which is reserved", in_quotes(name));
    }
    if (!tensor.defined()) {
      refuse(path, "expected a tensor with values at {}, received an undefined one",
             in_quotes(name));
    }
    order.push_back({&name, &tensor});
  }
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return size_of(a.tensor->dtype()) > size_of(b.tensor->dtype());
  });
  return order;
}

/// The length, the header and the padding that aligns the data to 8 bytes.
std::string header_bytes(const std::filesystem::path& path, const std::vector<NamedTensor>& order,
                         const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[std::string(metadata_name)] = metadata;
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : order) {
    const std::uint64_t begin = std::exchange(end, end + tensor->bytes());
    header[*name] = {{"dtype", stored_name(tensor->dtype())},
                     {"shape", tensor->shape()},
                     {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    refuse(path, "expected names and metadata in UTF-8, received invalid UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > longest_header) {
    refuse(path, "expected a header of at most {} bytes, received {}", longest_header, text.size());
  }
  const auto length = static_cast<std::uint64_t>(text.size());
  std::string bytes(length_bytes, '\0');
  std::memcpy(bytes.data(), &length, length_bytes);
  return bytes + text;
}

}  // namespace

TensorFile load_safetensors(const std::filesystem::path& path) {
  Source source(path);
  Header header = parse_header(path, read_header(source));
  // Only the header has been read: the rest of the file is exactly the elements.
  const std::uint64_t data_bytes = source.remaining();
  std::vector<PlacedTensor> placed;
  placed.reserve(header.entries.size());
  for (const TensorEntry& entry : header.entries) {
    placed.push_back(checked_entry(path, entry, data_bytes));
  }
  check_layout(path, placed, data_bytes);

  TensorFile result{.tensors = {}, .metadata = std::move(header.metadata)};
  for (PlacedTensor& next : placed) {
    Tensor tensor(std::move(next.shape), next.dtype);
    source.read(tensor.mutable_data(), tensor.bytes());
    if (next.is_bool) check_bools(path, next.name, tensor);
    result.tensors.emplace(std::move(next.name), std::move(tensor));
  }
  return result;
}

void save_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  const std::vector<NamedTensor> order = in_file_order(path, file);
  const std::string header = header_bytes(path, order, file.metadata);
  Replacement replacement("safetensors", path);
  replacement.write(header.data(), header.size());
  for (const NamedTensor& next : order) {
    replacement.write(next.tensor->data(), next.tensor->bytes());
  }
  replacement.commit();
}

std::optional<std::string> first_not_finite(const TensorFile& file) {
  for (const auto& entry : file.tensors) {
    const Tensor& tensor = entry.second;
    const bool is_finite = visit_dtype(tensor.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return std::ranges::all_of(tensor.values<T>(), [](T value) {
        if constexpr (std::is_integral_v<T>) return true;
        else return std::isfinite(convert<double>(value));
      });
    });
    if (!is_finite) return entry.first;
  }
  return std::nullopt;
}

}  // namespace boolgrad

#include "boolgrad/tensor/safetensors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

/// A file with this header and `data_bytes` bytes of data, all equal to `fill`.
std::string file_of(const std::string& header, std::size_t data_bytes = 0, char fill = 0) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, fill);
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

class SafetensorsTest : public testing::Test {
 protected:
  /// The error of loading `bytes`, without `[safetensors] FILE: `, or "loaded".
  std::string complaint(const std::string& bytes) {
    const fs::path path = scratch_ / "bad.safetensors";
    write_bytes(path, bytes);
    return complaint_of([&] { load_safetensors(path); }, path);
  }

  template <class F>
  static std::string complaint_of(F&& action, const fs::path& path) {
    try {
      action();
    } catch (const Error& error) {
      const std::string opening = "[safetensors] " + path.string() + ": ";
      const std::string message = error.what();
      EXPECT_EQ(message.substr(0, opening.size()), opening);
      EXPECT_EQ(message.find('\n'), std::string::npos);
      return message.substr(std::min(opening.size(), message.size()));
    }
    return "loaded";
  }

  std::size_t files_in_scratch() const {
    const auto files = fs::directory_iterator(scratch_.path());
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  ScratchFolder scratch_;
};

TensorFile example() {
  TensorFile file;
  file.tensors["weights"] = Tensor::of(std::vector<float>{1, -2, 3.5F, 4, 5, 6}, {2, 3});
  file.tensors["half"] = Tensor::full({3}, 0.25, DType::float16);
  file.tensors["double"] = Tensor::of(std::vector<double>{1e300, -0.0});
  file.tensors["wires"] = Tensor::of(std::vector<std::int32_t>{7, -8, 9}, {3, 1});
  file.tensors["labels"] = Tensor::of(std::vector<std::int64_t>{1LL << 40});
  file.tensors["mask"] = Tensor::of(std::vector<std::uint8_t>{0, 1, 255});
  file.tensors["scalar"] = Tensor::scalar(42, DType::float64);
  file.tensors["none of them"] = Tensor::zeros({0, 3}, DType::float32);
  file.metadata["experiment"] = "{\"seed\": 1}\nwith \"quotes\" and \xC3\xA9";
  file.metadata["empty"] = "";
  return file;
}

TEST_F(SafetensorsTest, LoadsWhatWasSaved) {
  const fs::path path = scratch_ / "model.safetensors";
  const TensorFile saved = example();
  save_safetensors(path, saved);
  const TensorFile loaded = load_safetensors(path);

  EXPECT_EQ(loaded.metadata, saved.metadata);
  ASSERT_EQ(loaded.tensors.size(), saved.tensors.size());
  for (const auto& [name, tensor] : saved.tensors) {
    const Tensor& other = loaded.tensors.at(name);
    EXPECT_EQ(other.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(other.shape(), tensor.shape()) << name;
    EXPECT_EQ(std::memcmp(other.data(), tensor.data(), tensor.bytes()), 0) << name;
  }
  EXPECT_EQ(files_in_scratch(), 1U);
}

TEST_F(SafetensorsTest, TheSameContentGivesTheSameBytes) {
  save_safetensors(scratch_ / "a", example());
  save_safetensors(scratch_ / "b", example());
  EXPECT_EQ(read_bytes(scratch_ / "a"), read_bytes(scratch_ / "b"));
}

TEST_F(SafetensorsTest, WideElementsComeFirstAndTheHeaderIsPadded) {
  TensorFile file;
  file.tensors["a"] = Tensor::of(std::vector<std::uint8_t>{1});
  file.tensors["b"] = Tensor::of(std::vector<double>{2});
  file.metadata["k"] = "v";
  save_safetensors(scratch_ / "file", file);
  std::string header = R"({"__metadata__":{"k":"v"},)"
                       R"("b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
                       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const double two = 2;
  const std::string data(reinterpret_cast<const char*>(&two), 8);
  EXPECT_EQ(read_bytes(scratch_ / "file"), file_of(header) + data + '\1');
}

TEST_F(SafetensorsTest, AFileMayHaveNoTensors) {
  save_safetensors(scratch_ / "file", {});
  EXPECT_EQ(read_bytes(scratch_ / "file"), file_of("{}      "));
  EXPECT_TRUE(load_safetensors(scratch_ / "file").tensors.empty());
}

TEST_F(SafetensorsTest, BoolsBecomeBytes) {
  write_bytes(scratch_ / "file", file_of(R"({"m":)" + entry("BOOL", "[2]", "[0,2]") + "}", 2, 1));
  const TensorFile file = load_safetensors(scratch_ / "file");
  EXPECT_EQ(file.tensors.at("m").dtype(), DType::uint8);
  EXPECT_EQ(file.tensors.at("m").at(1), 1);
  EXPECT_EQ(complaint(file_of(R"({"m":)" + entry("BOOL", "[2]", "[0,2]") + "}", 2, 7)),
            R"(expected 0 or 1 in the BOOL tensor "m", received 7)");
}

TEST_F(SafetensorsTest, AFileThatCannotBeOpened) {
  const fs::path path = scratch_ / "none";
  expect_error([&] { load_safetensors(path); },
               "[safetensors] cannot read " + path.string() + ": No such file or directory");
  expect_error([&] { load_safetensors(scratch_.path()); },
               "[safetensors] cannot read " + scratch_.path().string() + ": not a regular file");
}

TEST_F(SafetensorsTest, ATruncatedFile) {
  EXPECT_EQ(complaint(""), "expected at least 8 bytes, received 0");
  EXPECT_EQ(complaint("1234567"), "expected at least 8 bytes, received 7");
  EXPECT_EQ(complaint(file_of("{}      ").substr(0, 12)),
            "expected a header of at most 4 bytes in a file of 12, received 8");
  EXPECT_EQ(complaint(file_of(R"({"a":)" + entry("F32", "[2]", "[0,8]") + "}", 7)),
            R"(expected data_offsets of "a" within 7 bytes of data, received [0, 8])");
}

TEST_F(SafetensorsTest, AHugeHeader) {
  EXPECT_EQ(complaint(std::string(8, '\xFF') + "{}"),
            "expected a header of at most 100000000 bytes, received 18446744073709551615");
  std::string just_above(8, '\0');
  const std::uint64_t length = 100'000'001;
  std::memcpy(just_above.data(), &length, 8);
  EXPECT_EQ(complaint(just_above),
            "expected a header of at most 100000000 bytes, received 100000001");
}

TEST_F(SafetensorsTest, AHeaderThatIsNotAJsonObject) {
  EXPECT_EQ(complaint(file_of("")), "expected a header that opens with '{', received an empty one");
  EXPECT_EQ(complaint(file_of("[]")), R"(expected a header that opens with '{', received "[")");
  EXPECT_EQ(complaint(file_of("{")),
            "expected a header of valid JSON, received an error at its byte 2");
  EXPECT_EQ(complaint(file_of("{} x")),
            "expected a header of valid JSON, received an error at its byte 4");
  EXPECT_EQ(complaint(file_of("{\"\xFF\":1}")),
            "expected a header of valid JSON, received an error at its byte 3");
  EXPECT_EQ(complaint(file_of(std::string("{}\0x", 4))),
            "expected a header of valid JSON, received an error at its byte 3");
}

TEST_F(SafetensorsTest, NestingThatWouldOverflowAStack) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(complaint(file_of("{\"a\":" + deep)),
            R"(expected an object at "a", received an array)");
  EXPECT_EQ(complaint(file_of(R"({"a":{"shape":)" + deep)),
            R"(expected whole numbers from 0 at shape of "a", received an array)");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(complaint(file_of(objects)),
            R"(expected dtype, shape and data_offsets in "a", received "a")");
}

TEST_F(SafetensorsTest, DuplicateNames) {
  const std::string one = entry("U8", "[1]", "[0,1]");
  EXPECT_EQ(complaint(file_of("{\"a\":" + one + ",\"a\":" + one + "}", 1)),
            R"(expected each name once, received "a" twice)");
  EXPECT_EQ(complaint(file_of(R"({"__metadata__":{},"__metadata__":{}})")),
            R"(expected each name once, received "__metadata__" twice)");
  EXPECT_EQ(complaint(file_of(R"({"__metadata__":{"k":"1","k":"2"}})")),
            R"(expected each metadata key once, received "k" twice)");
  EXPECT_EQ(complaint(file_of(R"({"a":{"dtype":"U8","dtype":"F32"}})")),
            R"(expected each field of "a" once, received "dtype" twice)");
}

TEST_F(SafetensorsTest, MalformedEntries) {
  EXPECT_EQ(complaint(file_of(R"({"a":3})")), R"(expected an object at "a", received 3)");
  EXPECT_EQ(complaint(file_of(R"({"a":{}})")),
            R"(expected dtype, shape and data_offsets in "a", received no dtype)");
  EXPECT_EQ(complaint(file_of(R"({"a":{"dtype":"U8"}})")),
            R"(expected dtype, shape and data_offsets in "a", received no shape)");
  EXPECT_EQ(complaint(file_of(R"({"a":{"dtype":"U8","shape":[]}})")),
            R"(expected dtype, shape and data_offsets in "a", received no data_offsets)");
  EXPECT_EQ(complaint(file_of(R"({"a":{"color":"red"}})")),
            R"(expected dtype, shape and data_offsets in "a", received "color")");
  EXPECT_EQ(complaint(file_of(R"({"a":{"dtype":4}})")),
            R"(expected a string at dtype of "a", received 4)");
  EXPECT_EQ(complaint(file_of(R"({"a":{"dtype":["U8"]}})")),
            R"(expected a string at dtype of "a", received an array)");
  EXPECT_EQ(complaint(file_of(R"({"a":{"shape":"[2]"}})")),
            R"(expected a list of whole numbers at shape of "a", received "[2]")");
  EXPECT_EQ(complaint(file_of(R"({"a":{"data_offsets":null}})")),
            R"(expected a list of whole numbers at data_offsets of "a", received null)");
}

TEST_F(SafetensorsTest, SizesThatAreNotWholeNumbers) {
  const auto with_shape = [&](const std::string& shape) {
    return complaint(file_of(R"({"a":)" + entry("U8", shape, "[0,1]") + "}", 1));
  };
  const std::string opening = R"(expected whole numbers from 0 at shape of "a", received )";
  EXPECT_EQ(with_shape("[-1]"), opening + "-1");
  EXPECT_EQ(with_shape("[1.0]"), opening + "1.0");
  EXPECT_EQ(with_shape("[1e3]"), opening + "1e3");
  EXPECT_EQ(with_shape("[\"1\"]"), opening + "\"1\"");
  EXPECT_EQ(with_shape("[true]"), opening + "true");
  EXPECT_EQ(with_shape("[null]"), opening + "null");
  EXPECT_EQ(with_shape("[{}]"), opening + "an object");
  EXPECT_EQ(with_shape("[18446744073709551616]"), opening + "18446744073709551616");
}

TEST_F(SafetensorsTest, SizesThatOverflow) {
  const auto with_shape = [&](const std::string& shape, const std::string& received) {
    EXPECT_EQ(complaint(file_of(R"({"a":)" + entry("F32", shape, "[0,0]") + "}")),
              R"(expected fewer than 2^62 elements in "a", received shape )" + received);
  };
  with_shape("[18446744073709551615]", "[18446744073709551615]");
  with_shape("[4294967296,4294967296]", "[4294967296, 4294967296]");
  // 2^64 bytes would wrap around to 0.
  with_shape("[4611686018427387904,4]", "[4611686018427387904, 4]");
  with_shape("[0,4611686018427387904,4]", "[0, 4611686018427387904, 4]");
}

TEST_F(SafetensorsTest, AnUnknownDtype) {
  EXPECT_EQ(complaint(file_of(R"({"a":)" + entry("BF16", "[1]", "[0,2]") + "}", 2)),
            R"(expected dtype F16, F32, F64, I32, I64, U8 or BOOL at "a", received "BF16")");
}

TEST_F(SafetensorsTest, BytesThatDoNotMatchTheShape) {
  EXPECT_EQ(complaint(file_of(R"({"a":)" + entry("F32", "[2,3]", "[0,20]") + "}", 20)),
            R"(expected 6 elements of F32 in "a" of shape [2, 3], received 20 bytes)");
  EXPECT_EQ(complaint(file_of(R"({"a":)" + entry("F16", "[]", "[0,3]") + "}", 3)),
            R"(expected 1 elements of F16 in "a" of shape [], received 3 bytes)");
  // 2^61 elements of 8 bytes are 2^64 bytes, which would wrap around to 0.
  EXPECT_EQ(complaint(file_of(R"({"a":)" + entry("F64", "[2305843009213693952]", "[0,0]") + "}")),
            R"(expected 2305843009213693952 elements of F64 in "a" of shape )"
            "[2305843009213693952], received 0 bytes");
}

TEST_F(SafetensorsTest, InvalidOffsets) {
  const auto with_offsets = [&](const std::string& offsets) {
    return complaint(file_of(R"({"a":)" + entry("U8", "[4]", offsets) + "}", 4));
  };
  EXPECT_EQ(with_offsets("[4,0]"), R"(expected ascending data_offsets of "a", received [4, 0])");
  EXPECT_EQ(with_offsets("[4]"), R"(expected two data_offsets in "a", received [4])");
  EXPECT_EQ(with_offsets("[0,2,4]"), R"(expected two data_offsets in "a", received [0, 2, 4])");
  EXPECT_EQ(with_offsets("[1,5]"),
            R"(expected data_offsets of "a" within 4 bytes of data, received [1, 5])");
  EXPECT_EQ(with_offsets("[18446744073709551612,18446744073709551615]"),
            R"(expected data_offsets of "a" within 4 bytes of data, )"
            "received [18446744073709551612, 18446744073709551615]");
}

TEST_F(SafetensorsTest, OverlapsAndGaps) {
  const auto two = [&](const std::string& a, const std::string& b, std::size_t bytes) {
    return complaint(file_of(
        R"({"a":)" + entry("U8", "[4]", a) + R"(,"b":)" + entry("U8", "[4]", b) + "}", bytes));
  };
  EXPECT_EQ(two("[0,4]", "[2,6]", 8),
            R"(expected contiguous tensors, received "b" from byte 2 overlapping the one that )"
            "ends at byte 4");
  EXPECT_EQ(two("[0,4]", "[0,4]", 4).substr(0, 28), "expected contiguous tensors,");
  EXPECT_EQ(two("[5,9]", "[0,4]", 9),
            R"(expected contiguous tensors, received "a" from byte 5 after a gap from byte 4)");
  EXPECT_EQ(two("[1,5]", "[5,9]", 9),
            R"(expected contiguous tensors, received "a" from byte 1 after a gap from byte 0)");
  EXPECT_EQ(two("[0,4]", "[4,8]", 10),
            "expected 8 bytes of data according to the header, received 10");
  EXPECT_EQ(complaint(file_of("{}", 1)),
            "expected 0 bytes of data according to the header, received 1");
}

TEST_F(SafetensorsTest, MetadataThatIsNotAMapOfStrings) {
  EXPECT_EQ(complaint(file_of(R"({"__metadata__":"text"})")),
            R"(expected an object at "__metadata__", received "text")");
  EXPECT_EQ(complaint(file_of(R"({"__metadata__":{"k":1}})")),
            R"(expected metadata of strings, received 1 at "k")");
  EXPECT_EQ(complaint(file_of(R"({"__metadata__":{"k":{"a":"b"}}})")),
            R"(expected metadata of strings, received an object at "k")");
}

TEST_F(SafetensorsTest, AHostileNameStaysOnOneShortLine) {
  const std::string name(5000, 'x');
  EXPECT_EQ(complaint(file_of("{\"a\\nb\":1}")), R"(expected an object at "a\nb", received 1)");
  EXPECT_EQ(complaint(file_of("{\"" + name + "\":1}")),
            "expected an object at \"" + name.substr(0, 120) + "...\", received 1");
}

/// A file that is rewritten many times. It stays open, because closing a truncated file makes some
/// file systems wait for the disk.
class Rewritten {
 public:
  explicit Rewritten(fs::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  ~Rewritten() { ::close(file_); }
  Rewritten(const Rewritten&) = delete;
  Rewritten& operator=(const Rewritten&) = delete;

  const fs::path& with(const std::string& bytes) {
    EXPECT_EQ(::ftruncate(file_, static_cast<off_t>(bytes.size())), 0);
    EXPECT_EQ(::pwrite(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return path_;
  }

 private:
  fs::path path_;
  int file_;
};

// Flips, removes, inserts and repeats bytes of a valid file: it loads or is rejected.
std::string mutated(std::string bytes, std::uint32_t trial) {
  std::uint64_t draws = 0;
  const auto below = [&](std::size_t bound) {
    const RandomAddress at{.seed = 2024, .stream = 1, .step = trial, .index = draws++};
    return static_cast<std::size_t>(random_below(at, bound));
  };
  const std::size_t changes = 1 + below(4);
  for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0: bytes[at] = static_cast<char>(below(256)); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
      case 2: bytes[at] = "0123456789{}[]\",:-.e"[below(20)]; break;
      case 3: bytes.resize(at); break;
      case 4: bytes.insert(at, 1, static_cast<char>(below(256))); break;
      default: bytes.insert(at, bytes.substr(at, below(40)));
    }
  }
  return bytes;
}

TEST_F(SafetensorsTest, MutationsLoadOrAreRejected) {
  const fs::path path = scratch_ / "file";
  save_safetensors(path, example());
  const std::string good = read_bytes(path);
  Rewritten file(path);
  int refused = 0;
  for (std::uint32_t trial = 0; trial < 4000; ++trial) {
    try {
      load_safetensors(file.with(mutated(good, trial)));
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << trial;
    }
  }
  EXPECT_GT(refused, 2000);
}

TEST_F(SafetensorsTest, EveryTruncationIsRejected) {
  const fs::path path = scratch_ / "file";
  save_safetensors(path, example());
  const std::string good = read_bytes(path);
  Rewritten file(path);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(load_safetensors(file.with(good.substr(0, size))), Error) << size;
  }
}

TEST_F(SafetensorsTest, RejectsContentThatCannotBeSaved) {
  const fs::path path = scratch_ / "file";
  const auto saving = [&](const std::string& name, const Tensor& tensor) {
    TensorFile file;
    file.tensors[name] = tensor;
    return complaint_of([&] { save_safetensors(path, file); }, path);
  };
  EXPECT_EQ(saving("a", Tensor()),
            R"(expected a tensor with values at "a", received an undefined one)");
  EXPECT_EQ(saving("__metadata__", Tensor::scalar(1, DType::float32)),
            R"(expected a tensor name other than "__metadata__", which is reserved)");
  EXPECT_EQ(saving("\xFF", Tensor::scalar(1, DType::float32)),
            "expected names and metadata in UTF-8, received invalid UTF-8");
  EXPECT_EQ(files_in_scratch(), 0U);
}

TEST_F(SafetensorsTest, AFolderThatDoesNotExist) {
  const fs::path path = scratch_ / "none" / "file";
  expect_error([&] { save_safetensors(path, example()); },
               "[safetensors] cannot create " + path.string() + ": No such file or directory");
}

TEST_F(SafetensorsTest, OnlyARegularFileIsReplaced) {
  const auto message = [](const fs::path& path) {
    return "[safetensors] cannot replace " + path.string() + ": not a regular file";
  };
  const fs::path folder = scratch_ / "folder";
  fs::create_directory(folder);
  expect_error([&] { save_safetensors(folder, example()); }, message(folder));
  const fs::path device = "/dev/null";
  expect_error([&] { save_safetensors(device, example()); }, message(device));
  EXPECT_EQ(files_in_scratch(), 1U);
}

/// Keeps files of this process from growing beyond `bytes`, as if the disk were full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : previous_signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = previous_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previous_signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit previous_{};
  void (*previous_signal_)(int);
};

TEST_F(SafetensorsTest, AWriteThatFailsLeavesThePreviousFile) {
  const fs::path path = scratch_ / "file";
  save_safetensors(path, example());
  const std::string before = read_bytes(path);
  TensorFile large;
  large.tensors["a"] = Tensor::zeros({100'000}, DType::float32);
  {
    const FileSizeLimit limit(20'000);
    expect_error([&] { save_safetensors(path, large); },
                 "[safetensors] cannot write " + path.string() + ": File too large");
  }
  EXPECT_EQ(read_bytes(path), before);
  EXPECT_EQ(files_in_scratch(), 1U);
}

}  // namespace
}  // namespace boolgrad

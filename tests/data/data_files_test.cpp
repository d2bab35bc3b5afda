// Readers of IDX, CIFAR-10 and NPY.
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "boolgrad/data/cifar.h"
#include "boolgrad/data/idx.h"
#include "boolgrad/data/npy.h"
#include "tests/support/messages.h"
#include "tests/support/npy_file.h"
#include "tests/support/scratch.h"

namespace boolgrad::data {
namespace {

using testing_support::npy;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

/// A header with sizes below 256, and consecutive bytes.
std::string idx(const std::vector<int>& sizes, int type = 8) {
  std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  int count = 1;
  for (const int size : sizes) {
    bytes += std::string(3, '\0') + static_cast<char>(size);
    count *= size;
  }
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i);
  return bytes;
}

void write_gzip(const std::filesystem::path& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
            static_cast<int>(bytes.size()));
  gzclose(file);
}

TEST(Idx, ReadsPlainAndCompressedFiles) {
  const ScratchFolder folder;
  write_bytes(folder / "a", idx({2, 3, 2}));
  write_gzip(folder / "b.gz", idx({2, 3, 2}));
  for (const char* name : {"a", "b.gz"}) {
    const Tensor tensor = read_idx(folder / name);
    EXPECT_EQ(tensor.shape(), (Shape{2, 3, 2}));
    for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(tensor.at(i), i);
  }
}

TEST(Idx, ReadsImagesWithLabels) {
  const ScratchFolder folder;
  write_bytes(folder / "train-images-idx3-ubyte", idx({3, 2, 2}));
  write_gzip(folder / "train-labels-idx1-ubyte.gz", idx({3}));
  const LabelledImages read = read_idx_images(folder.path(), "train");
  EXPECT_EQ(read.height, 2);
  EXPECT_EQ(read.width, 2);
  EXPECT_EQ(read.samples.features.shape(), (Shape{3, 4}));
  EXPECT_EQ(read.samples.labels.dtype(), DType::int32);
  EXPECT_EQ(read.samples.labels.at(2), 2);
}

TEST(Idx, RejectsDamagedFiles) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a";
  const auto refuses = [&](const std::string& bytes, const std::string& message) {
    write_bytes(path, bytes);
    expect_error([&] { read_idx(path); }, "[idx] " + path.string() + ": " + message);
  };
  refuses(idx({2, 3}).substr(0, 15),
          "expected values for [2, 3] after the header, received 3 bytes, the file is truncated");
  refuses(idx({2, 3}) + "x", "expected values for [2, 3] after the header, received 7 bytes");
  refuses(idx({2, 3}).substr(0, 9), "expected a header of 12 bytes, received 9");
  refuses(idx({2}, 13), "expected values of unsigned bytes (type 8), received type 13");
  refuses("text", "not an IDX file of 1 to 4 dimensions");
  refuses(std::string{0, 0, 8, 4} + std::string(16, '\xFF'),
          "expected values for [4294967295, 4294967295, 4294967295, 4294967295] after the header, "
          "received 0 bytes, the file is truncated");
  write_gzip(path, idx({100}));
  const std::string packed = testing_support::read_bytes(path);
  refuses(packed.substr(0, packed.size() / 2), "the gzip file is truncated");
}

TEST(Idx, RejectsAWrongNumberOfLabels) {
  const ScratchFolder folder;
  write_bytes(folder / "train-images-idx3-ubyte", idx({3, 2, 2}));
  write_bytes(folder / "train-labels-idx1-ubyte", idx({4}));
  expect_error([&] { read_idx_images(folder.path(), "train"); },
               "[idx] " + folder.path().string() +
                   ": expected one label for each of 3 images in train-labels-idx1-ubyte, "
                   "received 4");
  expect_error([&] { read_idx_images(folder.path(), "t10k"); },
               "[data] " + folder.path().string() +
                   ": no t10k-images-idx3-ubyte or t10k-images-idx3-ubyte.gz in this folder");
}

TEST(Cifar, ReadsRecordsOfSeveralFiles) {
  const ScratchFolder folder;
  write_bytes(folder / "a.bin", std::string(1, 3) + std::string(3072, 'a'));
  write_bytes(folder / "b.bin", std::string(1, 9) + std::string(3072, 'b'));
  const SampleSet read = read_cifar10({folder / "a.bin", folder / "b.bin"});
  EXPECT_EQ(read.features.shape(), (Shape{2, 3072}));
  EXPECT_EQ(read.labels.at(0), 3);
  EXPECT_EQ(read.labels.at(1), 9);
  EXPECT_EQ(read.features.at(3071), 'a');
  EXPECT_EQ(read.features.at(3072), 'b');
}

TEST(Cifar, RejectsPartialRecordsAndInvalidLabels) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.bin";
  write_bytes(path, std::string(3000, 'a'));
  expect_error(
      [&] { read_cifar10({path}); },
      "[cifar] " + path.string() + ": expected records of 3073 bytes, received 3000 bytes");
  write_bytes(path, std::string(3073, '\x0B'));
  expect_error([&] { read_cifar10({path}); },
               "[cifar] " + path.string() + ": expected labels below 10, received 11 at sample 0");
}

TEST(Npy, ReadsArraysOfNumbers) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.npy";
  write_bytes(path, npy("|u1", "(2, 2)", "abcd"));
  EXPECT_EQ(read_npy(path).shape(), (Shape{2, 2}));
  EXPECT_EQ(read_npy(path).at(3), 'd');
  const float number = 1.5F;
  write_bytes(path, npy("<f4", "(1,)", std::string(reinterpret_cast<const char*>(&number), 4)));
  EXPECT_EQ(read_npy(path).dtype(), DType::float32);
  EXPECT_EQ(read_npy(path).at(0), 1.5);
  write_bytes(path, npy("<i4", "(1,)", std::string{7, 0, 0, 0}));
  EXPECT_EQ(read_npy(path).at(0), 7);
}

TEST(Npy, ReadsSamples) {
  const ScratchFolder folder;
  write_bytes(folder / "train_x.npy", npy("|u1", "(2, 1, 3)", "abcdef"));
  write_bytes(folder / "train_y.npy", npy("|u1", "(2,)", std::string{1, 0}));
  const SampleSet read = read_npy_samples(folder.path(), "train", false);
  EXPECT_EQ(read.features.shape(), (Shape{2, 3}));
  EXPECT_EQ(read.labels.at(0), 1);
}

TEST(Npy, RejectsUnsupportedFiles) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.npy";
  const auto refuses = [&](const std::string& bytes, const std::string& message) {
    write_bytes(path, bytes);
    expect_error([&] { read_npy(path); }, "[npy] " + path.string() + ": " + message);
  };
  refuses("text", "not an NPY file");
  refuses(npy("<c8", "(1,)", "abcdefgh"),
          "expected bool, uint8, int32, int64, float32 or float64, received '<c8'");
  refuses(npy("|u1", "(2, 2)", "abc"), "expected values for [2, 2], received 3 bytes");
  refuses(npy("|u1", "(2, 2)", "abcd", "True"),
          "expected an array in C order, received Fortran order");
}

}  // namespace
}  // namespace boolgrad::data

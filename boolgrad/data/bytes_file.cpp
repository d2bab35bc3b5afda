#include "boolgrad/data/bytes_file.h"

#include <zlib.h>

#include <memory>
#include <string>

#include "boolgrad/core/error.h"
#include "boolgrad/core/file.h"

namespace boolgrad {

std::vector<std::uint8_t> unpacked_content(std::string_view where,
                                           const std::filesystem::path& path) {
  opened_to_read(where, path);  // says what is wrong better than zlib does
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(where, "{}: expected to read it, received {}", path.string(), system_message());
  constexpr unsigned part = 1U << 18;
  gzbuffer(file.get(), part);
  std::vector<std::uint8_t> bytes;
  int count = 0;
  do {
    const std::size_t before = bytes.size();
    bytes.resize(before + part);
    count = gzread(file.get(), bytes.data() + before, part);
    bytes.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
  } while (count > 0);
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (error == Z_BUF_ERROR) {
    fail(where, "{}: expected a whole gzip file, received one that ends early", path.string());
  }
  if (count < 0 || error != Z_OK) {
    fail(where, "{}: expected a sound gzip file, received a damaged one", path.string());
  }
  return bytes;
}

void check_folder(std::string_view where, const std::filesystem::path& folder,
                  std::string_view hint) {
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  fail(where, "{}: expected a folder of data, received none{}", folder.string(), hint);
}

}  // namespace boolgrad

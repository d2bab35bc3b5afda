#include "boolgrad/data/bytes_file.h"

#include <zlib.h>

#include <memory>
#include <string>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"

namespace boolgrad::data {

std::vector<std::uint8_t> unpacked_content(std::string_view where,
                                           const std::filesystem::path& path) {
  open_for_reading(where, path);  // its errors are more precise than zlib's
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(where, "cannot read {}: {}", path.string(), system_message());
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
    fail(where, "{}: the gzip file is truncated", path.string());
  }
  if (count < 0 || error != Z_OK) {
    fail(where, "{}: the gzip file is corrupt", path.string());
  }
  return bytes;
}

void check_folder(std::string_view where, const std::filesystem::path& folder,
                  std::string_view hint) {
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  fail(where, "{}: no such folder{}", folder.string(), hint);
}

}  // namespace boolgrad::data

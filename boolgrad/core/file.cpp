#include "boolgrad/core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <set>
#include <system_error>

#include "boolgrad/core/fail.h"

namespace boolgrad {

std::string system_message() { return std::generic_category().message(errno); }

std::ifstream open_for_reading(std::string_view where, const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    if (errno == 0) errno = EISDIR;
    fail(where, "cannot read {}: {}", path.string(), system_message());
  }
  return file;
}

std::string file_content(std::string_view where, const std::filesystem::path& path) {
  std::ifstream file = open_for_reading(where, path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(std::string_view where, const std::filesystem::path& path,
                std::string_view content) {
  Replacement file(std::string(where), path);
  file.write(content.data(), content.size());
  file.commit();
}

int lock_file(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  int result = 0;
  do {
    result = ::fcntl(descriptor, F_OFD_SETLK, &whole);
  } while (result != 0 && errno == EINTR);
  return result;
}

bool is_temporary_name(std::string_view name) {
  constexpr std::string_view ending = ".tmp";
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  for (int part = 0; part < 2; ++part) {
    const std::size_t digits = name.find_last_not_of("0123456789");
    if (digits == std::string_view::npos || name[digits] != '.' || digits + 1 == name.size()) {
      return false;
    }
    name = name.substr(0, digits);
  }
  return !name.empty();
}

bool FileDescriptor::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 || ::close(descriptor) == 0;
}

Replacement::Replacement(std::string where, std::filesystem::path path)
    : where_(std::move(where)), path_(std::move(path)), file_(create()) {
  if (!file_.open()) fail_to("create");
  pending_ = true;
}

Replacement::~Replacement() {
  if (pending_) ::unlink(temporary_.c_str());
}

void Replacement::write(const void* from, std::size_t count) {
  constexpr std::size_t max_at_once = std::size_t{1} << 30;
  const auto* next = static_cast<const std::byte*>(from);
  while (count > 0) {
    const ssize_t written = ::write(file_.get(), next, std::min(count, max_at_once));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_to("write");
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

void Replacement::commit() {
  // Keeps the lock until the file is renamed: others remove unlocked ones as abandoned.
  const FileDescriptor locked(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (::fsync(file_.get()) != 0 || !file_.close()) fail_to("write");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_to("replace");
  pending_ = false;
  sync_folder();
}

void Replacement::check_replaceable() const {
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  // Renaming onto a device or a pipe would replace the device itself.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail(where_, "cannot replace {}: not a regular file", path_.string());
  }
}

/// Tries names until one is free: a killed process may have left temporary files behind.
int Replacement::create() {
  static std::atomic<unsigned> next = 0;
  check_replaceable();
  remove_abandoned();
  while (true) {
    temporary_ = path_;
    temporary_ += fmt::format(".{}.{}.tmp", ::getpid(), next++);
    const int descriptor =
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return descriptor;
    lock_file(descriptor);  // not every file system has locks
    // Another process may have taken the file for abandoned before it was locked.
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || status.st_nlink > 0) return descriptor;
    ::close(descriptor);
  }
}

/// Once per path and process, since it reads the directory.
void Replacement::remove_abandoned() const {
  static std::mutex mutex;
  static std::set<std::filesystem::path> seen;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(path_).second) return;
  }
  const std::string start = path_.filename().string() + ".";
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_of_path = name.starts_with(start) && is_temporary_name(name) &&
                            std::ranges::count(name.substr(start.size()), '.') == 2;
    if (!is_of_path) continue;
    const FileDescriptor file(::open(entry.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.open() && lock_file(file.get()) == 0) ::unlink(entry.path().c_str());
  }
}

void Replacement::sync_folder() const {
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system that cannot sync directories (EINVAL) orders renames by itself.
  if (!descriptor.open() || (::fsync(descriptor.get()) != 0 && errno != EINVAL)) {
    fail_to("sync the directory of");
  }
}

void Replacement::fail_to(std::string_view action) const {
  fail(where_, "cannot {} {}: {}", action, path_.string(), system_message());
}

}  // namespace boolgrad

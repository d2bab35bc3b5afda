#include "boolgrad/core/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/host_name.h"
#include "boolgrad/core/text.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = ".lock";

std::string this_process() { return fmt::format("process {} on {}\n", ::getpid(), host_name()); }

/// The first line of the lock file; the holder may not have written it yet.
std::string holder_in(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t count = ::pread(descriptor, text.data(), text.size() - 1, 0);
  const std::string_view all(text.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
  const std::string_view line = all.substr(0, all.find('\n'));
  return line.empty() ? "another process" : printable(line);
}

}  // namespace

FolderLock::FolderLock(std::string_view where, const fs::path& folder)
    : file_(::open((folder / lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (!file_.open()) {
    fail(where, "cannot create {}: {}", (folder / lock_name).string(), system_message());
  }
  if (lock_file(file_.get()) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      fail(where, "{} is in use by {}", folder.string(), holder_in(file_.get()));
    }
    return;  // no locks here
  }
  is_held_ = true;
  const std::string holder = this_process();
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), holder.data(), holder.size(), 0) !=
                                              static_cast<ssize_t>(holder.size())) {
    fail(where, "cannot write {}: {}", (folder / lock_name).string(), system_message());
  }
}

void remove_temporary_files(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored) && is_temporary_name(entry.path().filename().string())) {
      fs::remove(entry.path(), ignored);
    }
  }
}

}  // namespace boolgrad

// Locks of folders between processes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "boolgrad/core/file.h"

namespace boolgrad {

/// Holds a folder, so that no other process writes to it. The lock ends with the process, however
/// it ends; the file `.lock`, which names the holder, stays behind. On NFS it holds between
/// machines if the server supports locks.
class FolderLock {
 public:
  /// Throws `[where] FOLDER is in use by process N on HOST` if somebody else holds it.
  FolderLock(std::string_view where, const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// False if the file system has no locks.
  bool is_held() const { return is_held_; }

 private:
  FileDescriptor file_;
  bool is_held_ = false;
};

/// Removes the temporary files that killed processes have left in a folder. Only for the holder of
/// its lock.
void remove_temporary_files(const std::filesystem::path& folder);

}  // namespace boolgrad

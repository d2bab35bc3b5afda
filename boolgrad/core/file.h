// File access: RAII descriptors and atomic replacement of files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace boolgrad {

/// The text of `errno`, as in `No such file or directory`.
std::string system_message();

/// Opens a file for reading. Throws `[where] cannot read FILE: ...` on failure, also for a
/// directory.
std::ifstream open_for_reading(std::string_view where, const std::filesystem::path& path);

/// The content of a file. Errors open with `[where] FILE: `.
std::string file_content(std::string_view where, const std::filesystem::path& path);

/// Writes a file atomically.
void write_file(std::string_view where, const std::filesystem::path& path,
                std::string_view content);

/// Locks a whole file for an open descriptor, without waiting: other descriptors cannot, those of
/// the same process included. Returns 0, or -1 with `errno` set.
int lock_file(int descriptor);

/// Whether a name is that of a temporary file of `Replacement`: `FILE.PROCESS.NUMBER.tmp`.
bool is_temporary_name(std::string_view name);

/// Owns a POSIX file descriptor.
class FileDescriptor {
 public:
  /// Takes ownership of `descriptor`, which is negative if opening failed.
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  /// Whether the file is open.
  bool open() const { return descriptor_ >= 0; }
  /// The descriptor.
  int get() const { return descriptor_; }

  /// Returns whether closing succeeded. Some file systems report a full disk only here.
  bool close();

 private:
  int descriptor_;
};

/// Replaces a file atomically. Content goes to a temporary file in the same directory, which
/// `commit` renames to `path`. After a failure `path` still has its old content.
///
/// The temporary file is locked while it is written. Files that killed processes have left for the
/// same path are not locked, and are removed.
class Replacement {
 public:
  /// Errors start with `[where]`.
  Replacement(std::string where, std::filesystem::path path);
  /// Removes the temporary file, unless it was committed.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  /// Appends `count` bytes.
  void write(const void* from, std::size_t count);

  /// Syncs the content, renames the file and syncs the directory, in this order.
  void commit();

 private:
  void check_replaceable() const;
  void remove_abandoned() const;
  int create();
  void sync_folder() const;
  [[noreturn]] void fail_to(std::string_view action) const;

  std::string where_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  FileDescriptor file_;
  bool pending_ = false;
};

}  // namespace boolgrad

// Files at the level of the operating system: closed in any case, replaced whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace boolgrad {

/// What the last call to the operating system complained about: `No such file or directory`.
std::string system_message();

/// A file opened to be read, or an error `[where] FILE: expected to read it, received ...`. A
/// folder, which opens like a file, is refused too.
std::ifstream opened_to_read(std::string_view where, const std::filesystem::path& path);

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  bool open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  /// Whether closing went well: some file systems report a full disk only here.
  bool close();

 private:
  int descriptor_;
};

/// A new file beside `path` that takes its place, or is gone when something went wrong before:
/// `path` holds either what it held or all of the new content.
class Replacement {
 public:
  /// Errors open with `[where] FILE: `.
  Replacement(std::string where, std::filesystem::path path);
  /// Removes what was written, unless it was committed.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(const void* from, std::size_t count);

  /// The content reaches the disk before the name does, and the name before this returns.
  void commit();

 private:
  void check_replaceable() const;
  int create();
  void sync_folder() const;
  [[noreturn]] void refuse(const std::string& message) const;

  std::string where_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  FileDescriptor file_;
  bool pending_ = false;
};

}  // namespace boolgrad

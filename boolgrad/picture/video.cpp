#include "boolgrad/picture/video.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"

namespace boolgrad::picture {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "mp4";

static_assert(sizeof(Colour) == 3, "frames are sent as bytes");

fs::path program_in_path(std::string_view name) {
  const char* folders = std::getenv("PATH");
  std::string_view rest = folders == nullptr ? "" : folders;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    fs::path program = fs::path(rest.substr(0, end)) / name;
    if (access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program)) return program;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  fail(where, "writing a video needs {}, which is not in PATH", name);
}

/// Both ends of a connection that other programs do not inherit.
std::pair<int, int> connection() {
  std::array<int, 2> ends{-1, -1};
  // A socket instead of a pipe, so that writing to a program that has ended is an error and no
  // signal.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(where, "cannot start ffmpeg: {}", system_message());
  }
  return {ends[0], ends[1]};
}

}  // namespace

class VideoWriter::Encoder {
 public:
  Encoder(const fs::path& path, std::int64_t width, std::int64_t height, double frames_per_second)
      : Encoder(path, width, height, frames_per_second, connection(), connection()) {}

  ~Encoder() {
    if (process_ > 0) {
      kill(process_, SIGTERM);
      waitpid(process_, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove(temporary_, ignored);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void add(const Image& frame) {
    if (process_ <= 0) fail(where, "{}: cannot add a frame after finish", path_.string());
    if (frame.width != width_ || frame.height != height_) {
      fail(where, "{}: expected frames of {} by {} pixels, received {} by {}", path_.string(),
           width_, height_, frame.width, frame.height);
    }
    const auto* bytes = reinterpret_cast<const char*>(frame.pixels.data());
    std::size_t left = frame.pixels.size() * sizeof(Colour);
    while (left > 0) {
      const ssize_t sent = send(input_.get(), bytes, left, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) fail_with(wait());
      bytes += sent;
      left -= static_cast<std::size_t>(sent);
    }
  }

  void finish() {
    if (process_ <= 0) fail(where, "{}: finish was called twice", path_.string());
    const int status = wait();
    if (status != 0) fail_with(status);
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error) fail(where, "cannot write {}: {}", path_.string(), error.message());
  }

 private:
  using Connection = std::pair<int, int>;

  Encoder(const fs::path& path, std::int64_t width, std::int64_t height, double frames_per_second,
          Connection input, Connection messages)
      : path_(path),
        temporary_(fmt::format("{}.{}.tmp", path.string(), getpid())),
        width_(width),
        height_(height),
        input_(input.first),
        messages_(messages.first) {
    const FileDescriptor read_end(input.second);
    const FileDescriptor message_end(messages.second);
    start(frames_per_second, read_end.get(), message_end.get());
  }

  void start(double frames_per_second, int input, int messages) {
    const fs::path program = program_in_path("ffmpeg");
    { const Replacement writable{std::string(where), path_}; }
    const std::vector<std::string> words = {
        "ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format",
        "rgb24", "-video_size", fmt::format("{}x{}", width_, height_), "-framerate",
        fmt::format("{:.6g}", frames_per_second), "-i", "pipe:0", "-an",
        // Players need even sizes and halved colours.
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-f", "mp4",
        temporary_.string()};
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, messages, STDERR_FILENO);
    const int error =
        posix_spawn(&process_, program.c_str(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error == 0) return;
    process_ = -1;
    fail(where, "cannot start {}: {}", program.string(),
         std::error_code(error, std::generic_category()).message());
  }

  /// Ends the input, waits for ffmpeg and returns its status. Keeps the last line that it wrote.
  int wait() {
    shutdown(input_.get(), SHUT_WR);
    std::string text;
    std::array<char, 4096> block{};
    while (true) {
      const ssize_t count = recv(messages_.get(), block.data(), block.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(block.data(), static_cast<std::size_t>(count));
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    last_line_ = text.substr(text.rfind('\n') + 1);
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

  [[noreturn]] void fail_with(int status) const {
    fail(where, "cannot write {}: ffmpeg ended with {} {}{}", path_.string(),
         WIFEXITED(status) ? "exit code" : "signal",
         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
         last_line_.empty() ? "" : " (" + printable(last_line_) + ")");
  }

  fs::path path_;
  fs::path temporary_;
  std::int64_t width_;
  std::int64_t height_;
  FileDescriptor input_;
  FileDescriptor messages_;
  std::string last_line_;
  pid_t process_ = -1;
};

VideoWriter::VideoWriter(const fs::path& path, std::int64_t width, std::int64_t height,
                         double frames_per_second) {
  check_size(where, width, height);
  if (!(frames_per_second > 0 && frames_per_second <= 1000)) {
    fail(where, "expected a frame rate above 0 and at most 1000, received {}", frames_per_second);
  }
  encoder_ = std::make_unique<Encoder>(path, width, height, frames_per_second);
}

VideoWriter::~VideoWriter() = default;

void VideoWriter::add(const Image& frame) { encoder_->add(frame); }

void VideoWriter::finish() { encoder_->finish(); }

}  // namespace boolgrad::picture

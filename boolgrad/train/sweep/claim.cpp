#include "boolgrad/train/sweep/claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/host_name.h"
#include "boolgrad/train/run/run_folder.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* where = "sweep";
constexpr std::string_view claim_prefix = "claim.";

/// Differs for every worker, also from those of earlier processes with the same number.
std::string worker_name() {
  static std::atomic<std::int64_t> last = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::string host = host_name();
  std::ranges::replace(host, '/', '-');
  return fmt::format("{}.{}.{}.{}", host, ::getpid(),
                     std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), ++last);
}

/// The number of a claim's file; 0 for other files.
std::int64_t claim_number(const std::string& name) {
  if (!name.starts_with(claim_prefix)) return 0;
  std::int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + claim_prefix.size(), end, number);
  return error == std::errc() && rest == end ? number : 0;
}

/// The number of the claim that counts; 0 if there is none.
std::int64_t last_claim(const fs::path& folder) {
  std::int64_t last = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    last = std::max(last, claim_number(entry.path().filename().string()));
  }
  return last;
}

fs::path claim_path(const fs::path& folder, std::int64_t number) {
  return folder / fmt::format("{}{}", claim_prefix, number);
}

}  // namespace

SweepWorker::SweepWorker(const fs::path& sweep_folder, std::chrono::seconds stale_after)
    : stale_after_(stale_after), path_(sweep_folder / "workers" / worker_name()), file_([&] {
        make_run_folder(path_.parent_path());
        return ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      }()) {
  const std::string host = host_name();
  if (!file_.open() || ::pwrite(file_.get(), host.data(), host.size(), 0) != std::ssize(host)) {
    fail(where, "cannot write {}: {}", path_.string(), system_message());
  }
  lock_file(file_.get());  // where there are no locks, the time of the file counts
  heart_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

SweepWorker::~SweepWorker() {
  heart_.request_stop();
  heart_.join();
  std::error_code ignored;
  fs::remove(path_, ignored);
}

std::unique_ptr<Claim> SweepWorker::claim(const fs::path& run_folder) {
  std::error_code error;
  fs::create_directories(run_folder, error);
  if (error) {
    fail(where, "cannot create the folder {}: {}", run_folder.string(), error.message());
  }
  const std::int64_t last = last_claim(run_folder);
  if (last > 0 && is_alive(claim_path(run_folder, last))) return nullptr;
  const fs::path path = claim_path(run_folder, last + 1);
  if (::link(path_.c_str(), path.c_str()) == 0) return std::make_unique<Claim>(*this, path);
  if (errno == EEXIST) return nullptr;
  fail(where, "cannot link {} to {}: {}", path.string(), path_.string(), system_message());
}

void SweepWorker::beat(const std::stop_token& stop) {
  const auto pause = std::max<std::chrono::milliseconds>(stale_after_ / 8, std::chrono::seconds(1));
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    touch();
    for (Claim* claim : claims_) {
      std::error_code error;
      const std::int64_t own = claim_number(claim->path_.filename().string());
      if (fs::exists(claim_path(claim->path_.parent_path(), own + 1), error)) claim->lost_ = true;
    }
    wake_.wait_for(lock, stop, pause, [] { return false; });
  }
}

void SweepWorker::touch() const { ::futimens(file_.get(), nullptr); }

bool SweepWorker::is_alive(const fs::path& claim) const {
  const FileDescriptor file(::open(claim.c_str(), O_RDWR | O_CLOEXEC));
  // Given back in the meantime, perhaps because the run has ended. It is looked at again later.
  if (!file.open()) return true;
  std::array<char, 256> text{};
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), 0);
  // Locks of other machines are not seen on every file system, but those of this one are.
  if (length > 0 &&
      std::string_view(text.data(), static_cast<std::size_t>(length)) == host_name()) {
    if (lock_file(file.get()) == 0) return false;
    if (errno == EAGAIN || errno == EACCES) return true;
  }
  // The file system has set both times, so the clocks of the machines may differ.
  struct stat other = {};
  struct stat own = {};
  touch();
  if (::fstat(file.get(), &other) != 0 || ::fstat(file_.get(), &own) != 0) return true;
  return own.st_mtime - other.st_mtime < stale_after_.count();
}

Claim::Claim(SweepWorker& worker, fs::path path) : worker_(worker), path_(std::move(path)) {
  const std::lock_guard lock(worker_.mutex_);
  worker_.claims_.push_back(this);
}

Claim::~Claim() {
  const std::lock_guard lock(worker_.mutex_);
  std::erase(worker_.claims_, this);
  if (lost_) return;
  std::error_code ignored;
  fs::remove(path_, ignored);
}

}  // namespace boolgrad::train

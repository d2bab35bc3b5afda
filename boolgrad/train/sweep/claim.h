// Who trains which run of a sweep, among processes that share nothing but a folder.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "boolgrad/core/file.h"

namespace boolgrad::train {

class Claim;

/// A process that takes runs of a sweep. Its file in `workers/` is locked and touched every few
/// seconds while it lives, so that others can tell when it has died: at once on the same machine,
/// and after `stale_after` on another.
class SweepWorker {
 public:
  explicit SweepWorker(const std::filesystem::path& sweep_folder,
                       std::chrono::seconds stale_after = std::chrono::seconds(120));
  ~SweepWorker();
  SweepWorker(const SweepWorker&) = delete;
  SweepWorker& operator=(const SweepWorker&) = delete;

  /// Claims the run of a folder. Null if a living worker has it. The worker must outlive the claim.
  std::unique_ptr<Claim> claim(const std::filesystem::path& run_folder);

 private:
  friend class Claim;

  void beat(const std::stop_token& stop);
  void touch() const;
  bool is_alive(const std::filesystem::path& claim) const;

  std::chrono::seconds stale_after_;
  std::filesystem::path path_;  ///< `workers/HOST.PROCESS.TIME.NUMBER`, which contains the host
  FileDescriptor file_;
  std::mutex mutex_;  ///< protects claims_
  std::vector<Claim*> claims_;
  std::condition_variable_any wake_;
  std::jthread heart_;
};

/// A claimed run: `claim.N` in its folder, a hard link to the worker's file. A dead worker's claim
/// is overruled by `claim.N+1`. Linking is atomic, on NFS too, so that only one worker succeeds.
class Claim {
 public:
  Claim(SweepWorker& worker, std::filesystem::path path);
  /// Gives the run back.
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// Whether another worker has taken the run, because this process did not show for too long.
  bool is_lost() const { return lost_; }

 private:
  friend class SweepWorker;

  SweepWorker& worker_;
  std::filesystem::path path_;
  std::atomic<bool> lost_ = false;
};

}  // namespace boolgrad::train

// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace joulecast::nvml {
namespace {

constexpr const char* kMagic = "joulecast-standin-state";
constexpr std::array kKeys = {"power_limit_mw", "sm_lock_mhz", "memory_lock_mhz", "application_clocks_mhz"};

std::optional<Setting> setting_named(const std::string& key) {
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (key == kKeys[i]) return static_cast<Setting>(i);
  }
  return std::nullopt;
}

std::string line_of(const Change& change) {
  const char* key = kKeys[static_cast<std::size_t>(change.setting)];
  if (!change.value) return fmt::format("{} {} {} none\n", change.at, change.gpu, key);
  if (change.setting == Setting::kPowerLimit) {
    return fmt::format("{} {} {} {}\n", change.at, change.gpu, key, change.value->first);
  }
  return fmt::format("{} {} {} {} {}\n", change.at, change.gpu, key, change.value->first, change.value->second);
}

std::int64_t wall_now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool complain(const std::string& path, const char* what) {
  fmt::print(stderr, "nvml stand-in: {}: {}\n", path, what);
  return false;
}

// The file, open and locked for as long as this lives.
class Locked {
 public:
  explicit Locked(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    while (file_ >= 0 && flock(file_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      close(file_);
      file_ = -1;
    }
    if (file_ < 0) complain(path, std::strerror(errno));  // NOLINT(concurrency-mt-unsafe): the world is locked
  }
  ~Locked() {
    if (file_ >= 0) close(file_);  // gives the lock back
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  [[nodiscard]] int file() const { return file_; }

 private:
  int file_;
};

}  // namespace

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

SettingsLog::SettingsLog(std::string path, std::int64_t origin_ns)
    : path_(std::move(path)),
      origin_ns_(origin_ns),
      wall_origin_us_(wall_now_us() - (monotonic_ns() - origin_ns) / 1000) {}

Nanoseconds SettingsLog::now() const {
  return monotonic_ns() - origin_ns_;
}

std::uint64_t SettingsLog::wall_us(Nanoseconds at) const {
  return static_cast<std::uint64_t>(wall_origin_us_ + at / 1000);
}

std::optional<Nanoseconds> SettingsLog::sync(const Apply& apply, const std::function<void()>& reset) {
  if (path_.empty()) return now();
  const Locked lock(path_);
  if (lock.file() < 0 || !read_new(lock.file(), apply, reset)) return std::nullopt;
  return now();
}

std::optional<Nanoseconds> SettingsLog::append(Change change, const Apply& apply, const std::function<void()>& reset) {
  if (path_.empty()) {
    change.at = now();
    apply(change);
    return change.at;
  }
  const Locked lock(path_);
  if (lock.file() < 0 || !read_new(lock.file(), apply, reset)) return std::nullopt;
  change.at = now();
  const std::string line = line_of(change);
  if (write(lock.file(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    complain(path_, "cannot be written");
    return std::nullopt;
  }
  read_bytes_ += static_cast<std::int64_t>(line.size());
  apply(change);
  return change.at;
}

bool SettingsLog::start_file(int file) {
  const std::string line = fmt::format("{} 1 {} {}\n", kMagic, origin_ns_, wall_origin_us_);
  read_bytes_ = static_cast<std::int64_t>(line.size());
  return write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) ||
         complain(path_, "cannot be written");
}

bool SettingsLog::read_new(int file, const Apply& apply, const std::function<void()>& reset) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return complain(path_, "has no status");
  if (status.st_ino != inode_ || status.st_size < read_bytes_) {
    if (read_bytes_ > 0) reset();
    inode_ = status.st_ino;
    read_bytes_ = 0;
  }
  if (status.st_size == 0) return start_file(file);
  std::string text(static_cast<std::size_t>(status.st_size - read_bytes_), '\0');
  if (pread(file, text.data(), text.size(), read_bytes_) != static_cast<ssize_t>(text.size())) {
    return complain(path_, "cannot be read");
  }
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    if (!take(text.substr(at, end - at), apply)) return complain(path_, "is no state of the stand-in");
  }
  read_bytes_ += static_cast<std::int64_t>(at);
  return at == text.size() || ftruncate(file, read_bytes_) == 0;  // half a line of a process that died
}

bool SettingsLog::take(const std::string& line, const Apply& apply) {
  std::istringstream in(line);
  if (line.rfind(kMagic, 0) == 0) {
    std::string magic;
    int version = 0;
    in >> magic >> version >> origin_ns_ >> wall_origin_us_;
    // A monotonic clock that is behind its own past: the file is from before the machine's last start.
    return in && version == 1 && origin_ns_ <= monotonic_ns();
  }
  Change change;
  std::string key;
  std::string first;
  in >> change.at >> change.gpu >> key >> first;
  const auto setting = setting_named(key);
  if (!in || !setting) return false;
  change.setting = *setting;
  if (first != "none") {
    Pair value;
    value.first = static_cast<std::uint32_t>(std::strtoul(first.c_str(), nullptr, 10));
    if (change.setting != Setting::kPowerLimit) in >> value.second;
    change.value = value;
  }
  if (!in) return false;
  apply(change);
  return true;
}

}  // namespace joulecast::nvml

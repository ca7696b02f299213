// SPDX-License-Identifier: Apache-2.0
// A program that runs operations, fed by lines and watched (docs/formats/runner.md).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/units.h"

namespace joulecast::profile {

// `ok key=value ...`
class Reply {
 public:
  // Errors: kUnsupported where the runner cannot do it, kDevice where memory ran out or the device failed,
  // kInvalidInput for a line that is no reply.
  static Result<Reply> parse(std::string_view line);

  [[nodiscard]] const std::string& text(std::string_view key) const;  // empty where absent
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key) const;
  [[nodiscard]] std::optional<double> real(std::string_view key) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Sends the lines (each ended by a line end) and waits for the reply. Errors: those of Reply::parse(); kTimeout where
  // none came in time, kIo where the runner is gone: then nothing more can be asked of it.
  virtual Result<Reply> request(std::string_view lines, Seconds timeout) = 0;
  // The clock that the edges of its windows are of.
  [[nodiscard]] virtual std::int64_t now_us() const;
};

// A process of its own. It is killed when this object goes, or with us.
class RunnerProcess : public Runner {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;
  // `log` is a file that takes what it prints to standard error, `environment` is set on top of our own. Errors:
  // kNotFound, kIo where it cannot be started.
  static Result<std::unique_ptr<RunnerProcess>> start(const std::vector<std::string>& command, const std::string& log,
                                                      const Environment& environment);
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;
  ~RunnerProcess() override;

  Result<Reply> request(std::string_view lines, Seconds timeout) override { return request(lines, timeout, {}); }
  // Asks `over` several times a second, and once it says yes waits no longer: kTimeout, and the runner is gone.
  Result<Reply> request(std::string_view lines, Seconds timeout, const std::function<bool()>& over);
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The last line that it printed to standard error; "" where it printed none.
  [[nodiscard]] std::string last_words() const;

 private:
  // Of one request.
  struct Limit {
    std::int64_t deadline_us;
    const std::function<bool()>& over;
  };
  // Waits for the descriptor. Errors: kTimeout.
  static Result<void> wait_for(int descriptor, short events, const Limit& limit);
  RunnerProcess(pid_t pid, int socket, std::string log, std::int64_t log_begin)
      : pid_(pid), to_(socket), from_(socket), log_(std::move(log)), log_begin_(log_begin) {}
  Result<void> send(std::string_view lines, const Limit& limit);
  Result<std::string> line(const Limit& limit);
  // Ends it, and says how it ended.
  std::string end();

  pid_t pid_;
  int to_, from_;
  std::string read_;  // what came after the last line
  std::string log_;
  std::int64_t log_begin_;  // bytes in it that are of others
};

}  // namespace joulecast::profile

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "joulecast/result.h"
#include "recording/event.h"

namespace joulecast {

// Hears what the measured program and its children say about their phases: lines over a socket without a file, and over
// a pipe for shells.
//
//   JC_ASSIGN_OR_RETURN(auto listener, MarkListener::start([&](const Event& event) { recorder.event(event); }));
//   run(command, listener->environment());
class MarkListener {
 public:
  // `heard` is called from the listener's thread. Errors: kIo.
  static Result<std::unique_ptr<MarkListener>> start(std::function<void(const Event&)> heard);

  MarkListener(const MarkListener&) = delete;
  MarkListener& operator=(const MarkListener&) = delete;
  ~MarkListener();

  // JOULECAST_MARKS and JOULECAST_MARKS_FD for the children.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
  // The pipe's end for the children, who must inherit it.
  [[nodiscard]] int child_descriptor() const { return pipe_[1]; }
  // Hears out what was sent so far and stops.
  void stop();
  // Lines that were no marks, and lines that senders say they lost.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  explicit MarkListener(std::function<void(const Event&)> heard) : heard_(std::move(heard)) {}
  Result<void> open();
  void listen();
  bool take_datagram();
  bool take_pipe();
  void take(std::string_view line, std::int64_t sender);

  std::function<void(const Event&)> heard_;
  std::string name_;
  MonotonicUs started_ = 0;
  int socket_ = -1;
  int pipe_[2] = {-1, -1};
  int wake_ = -1;
  std::string rest_;  // of the pipe's last line
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> refused_ = 0, lost_ = 0;
  std::thread thread_;
};

}  // namespace joulecast

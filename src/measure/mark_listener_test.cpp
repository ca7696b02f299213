// SPDX-License-Identifier: Apache-2.0
#include "measure/mark_listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include <mutex>

#include "power/sensor.h"

namespace joulecast {
namespace {

// One line to the listener at "@name"; false where its queue is full.
bool send(const std::string& place, const std::string& line) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(place.begin() + 1, place.end(), address.sun_path + 1);
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + place.size());
  const ssize_t sent = ::sendto(socket, line.data(), line.size(), 0, reinterpret_cast<const sockaddr*>(&address), size);
  ::close(socket);
  return sent == static_cast<ssize_t>(line.size());
}

class MarkListenerTest : public testing::Test {
 protected:
  void SetUp() override {
    listener_ = MarkListener::start([this](const Event& event) {
                  const std::lock_guard lock(mutex_);
                  events_.push_back(event);
                }).value();
    place_ = listener_->environment().at(0).second;
  }

  std::mutex mutex_;
  std::vector<Event> events_;
  std::unique_ptr<MarkListener> listener_;
  std::string place_;
};

TEST_F(MarkListenerTest, HearsEverythingThatWasSentBeforeItStopped) {
  for (int i = 0; i < 500; ++i) {
    // The kernel queues ten or so; who sends faster than we hear is told.
    while (!send(place_, "mark " + std::to_string(i))) ::usleep(100);
  }
  listener_->stop();
  ASSERT_EQ(events_.size(), 500U);
  EXPECT_EQ(events_[499].name, "499");
  EXPECT_EQ(events_[0].track, ::getpid());
}

TEST_F(MarkListenerTest, HearsLinesOfAPipeHoweverTheyAreCut) {
  for (const std::string part : {"begin a", "\nend", " a\nmar", "k b\n"}) {
    ASSERT_EQ(::write(listener_->child_descriptor(), part.data(), part.size()), static_cast<ssize_t>(part.size()));
  }
  listener_->stop();
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_EQ(events_[1].kind, EventKind::kEnd);
  EXPECT_EQ(events_[2].name, "b");
  EXPECT_EQ(events_[0].track, kUnknownTrack);
}

TEST_F(MarkListenerTest, CountsWhatIsNoMark) {
  ASSERT_TRUE(send(place_, "nonsense"));
  const std::string endless(5000, 'x');
  ASSERT_GT(::write(listener_->child_descriptor(), endless.data(), endless.size()), 0);
  listener_->stop();
  EXPECT_TRUE(events_.empty());
  EXPECT_GE(listener_->refused(), 2U);
}

TEST_F(MarkListenerTest, NothingComesFromTheFuture) {
  const std::string line = "@9000000000000000000 mark x\n";
  ASSERT_GT(::write(listener_->child_descriptor(), line.data(), line.size()), 0);
  listener_->stop();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_LE(events_[0].time, monotonic_now());
}

}  // namespace
}  // namespace joulecast

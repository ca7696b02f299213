// SPDX-License-Identifier: Apache-2.0
#include "measure/repeated_input.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace joulecast {
namespace {

using Left = RepeatedInput::Left;

TEST(RepeatedInput, AFileIsWoundBackToWhereItStood) {
  std::FILE* file = std::tmpfile();
  const int descriptor = ::fileno(file);
  ASSERT_EQ(::write(descriptor, "abcdef", 6), 6);
  ::lseek(descriptor, 2, SEEK_SET);
  RepeatedInput input(descriptor);
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(input.begin_run(), Left::kAll);
    std::array<char, 8> bytes{};
    EXPECT_EQ(::read(descriptor, bytes.data(), bytes.size()), 4);
    EXPECT_EQ(bytes[0], 'c');
  }
  std::fclose(file);
}

struct Ends {
  int read = -1, write = -1;
};

void check_stream(const Ends& ends) {
  RepeatedInput input(ends.read);
  EXPECT_EQ(input.begin_run(), Left::kAll);
  ASSERT_EQ(::write(ends.write, "abc", 3), 3);
  EXPECT_EQ(input.begin_run(), Left::kUnknown);  // more may come
  ::close(ends.write);
  EXPECT_EQ(input.begin_run(), Left::kUnknown);  // some is left
  std::array<char, 8> bytes{};
  ASSERT_EQ(::read(ends.read, bytes.data(), bytes.size()), 3);
  EXPECT_EQ(input.begin_run(), Left::kNothing);
  ::close(ends.read);
}

TEST(RepeatedInput, APipeOrSocketThatWasReadToItsEndIsTold) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  check_stream({ends[0], ends[1]});
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  check_stream({ends[0], ends[1]});
}

TEST(RepeatedInput, WhatHadNothingFromTheBeginningIsNotTold) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[1]);
  RepeatedInput pipe(ends[0]);
  EXPECT_EQ(pipe.begin_run(), Left::kAll);
  EXPECT_EQ(pipe.begin_run(), Left::kUnknown);
  ::close(ends[0]);
  RepeatedInput closed(ends[0]);
  EXPECT_EQ(closed.begin_run(), Left::kAll);
  EXPECT_EQ(closed.begin_run(), Left::kUnknown);
}

}  // namespace
}  // namespace joulecast

// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace joulecast {
namespace {

std::string scratch(const std::string& name) {
  return testing::TempDir() + "joulecast_mapped_" + name;
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const std::string path = scratch("bytes");
  std::ofstream(path) << "abc";
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->text(), "abc");
}

TEST(MappedFile, EmptyFileHasNoBytes) {
  const std::string path = scratch("empty");
  std::ofstream(path) << "";
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, MissingFileIsNotFoundAndNamesThePath) {
  const auto file = MappedFile::open("/nonexistent/net.onnx");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(file.error().text().find("/nonexistent/net.onnx"), std::string::npos);
}

TEST(MappedFile, FolderAndFifoAreRefusedAtOnce) {
  EXPECT_EQ(MappedFile::open("/tmp").error().code(), ErrorCode::kIo);
  const std::string fifo = scratch("fifo");
  std::remove(fifo.c_str());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(fifo).error().code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace joulecast

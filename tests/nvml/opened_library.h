// SPDX-License-Identifier: Apache-2.0
// For tests: the stand-in opened as a program opens it, with a scenario of the test's own.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "power/nvml_abi.h"

namespace joulecast::nvml {

//   OpenedLibrary nvml;
//   ASSERT_EQ(NVML(nvml, nvmlInit_v2)(), Return::kSuccess);
#define NVML(library, name) ((library).function<functions::name>(#name))

class OpenedLibrary {
 public:
  OpenedLibrary() : handle_(dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) ADD_FAILURE() << dlerror();
  }
  // Gone from the process: else the next one would meet this one's world.
  ~OpenedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
    EXPECT_EQ(dlopen(path().c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "the stand-in does not unload";
  }
  OpenedLibrary(const OpenedLibrary&) = delete;
  OpenedLibrary& operator=(const OpenedLibrary&) = delete;

  static std::string path() { return std::string(JOULECAST_BINARY_DIR) + "/nvml_standin/" + kLibraryName; }

  template <typename F>
  [[nodiscard]] F* function(const char* name) const {
    void* found = dlsym(handle_, name);
    if (found == nullptr) ADD_FAILURE() << "does not export " << name;
    return reinterpret_cast<F*>(found);
  }

 private:
  void* handle_;
};

// A folder and an environment of its own for each test.
class StandinTest : public testing::Test {
 protected:
  StandinTest() {
    std::string name = testing::TempDir() + "standin_XXXXXX";
    folder_ = mkdtemp(name.data());
    unsetenv("JOULECAST_STANDIN");
    unsetenv("JOULECAST_STANDIN_STATE");
    unsetenv("JOULECAST_STANDIN_CALLS");
  }
  ~StandinTest() override { std::filesystem::remove_all(folder_); }

  void scenario(const std::string& text) {
    std::ofstream(folder_ + "/scenario.toml") << text;
    setenv("JOULECAST_STANDIN", (folder_ + "/scenario.toml").c_str(), 1);
  }
  static void shipped(const std::string& name) {
    setenv("JOULECAST_STANDIN", (JOULECAST_SOURCE_DIR "/tests/nvml/scenarios/" + name + ".toml").c_str(), 1);
  }
  std::string keep_state() {
    setenv("JOULECAST_STANDIN_STATE", (folder_ + "/state").c_str(), 1);
    return folder_ + "/state";
  }
  std::string count_calls() {
    setenv("JOULECAST_STANDIN_CALLS", (folder_ + "/calls").c_str(), 1);
    return folder_ + "/calls";
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static Device open_gpu(const OpenedLibrary& nvml, std::uint32_t index = 0) {
    EXPECT_EQ(NVML(nvml, nvmlInit_v2)(), Return::kSuccess);
    Device device = nullptr;
    EXPECT_EQ(NVML(nvml, nvmlDeviceGetHandleByIndex_v2)(index, &device), Return::kSuccess);
    return device;
  }
  static FieldValue read_field(const OpenedLibrary& nvml, Device device, FieldId id,
                               PowerScope scope = PowerScope::kGpu) {
    FieldValue out = {};
    out.field = id;
    out.scope = static_cast<std::uint32_t>(scope);
    EXPECT_EQ(NVML(nvml, nvmlDeviceGetFieldValues)(device, 1, &out), Return::kSuccess);
    return out;
  }

  std::string folder_;
};

}  // namespace joulecast::nvml

// SPDX-License-Identifier: Apache-2.0
// For tests: a tree like /sys in a folder of its own, gone with the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "power/sensor.h"

namespace joulecast {

class FakeSys {
 public:
  FakeSys() : root_(std::filesystem::temp_directory_path() / ("joulecast_sys_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  FakeSys(const FakeSys&) = delete;
  FakeSys& operator=(const FakeSys&) = delete;
  ~FakeSys() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  [[nodiscard]] SensorOptions options() const {
    SensorOptions out;
    out.root = root_.string();
    return out;
  }

 private:
  std::filesystem::path root_;
};

// Keeps what a sensor says.
class KeptReadings : public ReadingSink {
 public:
  struct One {
    std::size_t channel = 0;
    std::int64_t value = 0;
    bool operator==(const One&) const = default;
  };
  void reading(std::size_t channel, const Reading& reading) override { readings.push_back({channel, reading.value}); }
  void absent(std::size_t /*channel*/, MonotonicUs /*time*/, Absence absence, std::uint64_t /*count*/,
              const std::string& /*text*/) override {
    absences.push_back(absence);
  }
  std::vector<One> readings;
  std::vector<Absence> absences;
};

}  // namespace joulecast

// SPDX-License-Identifier: Apache-2.0
#include "power/rapl.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "power/sys_file.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

// The counter wraps after some 60 s at full load on large machines; twice a second is far from that.
constexpr std::chrono::microseconds kPeriod{100'000};

struct Zone {
  std::string device;  // "cpu0", "cpu0-dram"
  fs::path folder;
  std::int64_t range = 0;  // microjoules at which the counter starts again
};

// One counter. What it counts since the sensor was opened is made to grow for ever.
class Rapl : public Sensor {
 public:
  Rapl(const Zone& zone, SysFile file)
      : channels_{{zone.device, Signal::kEnergy, "rapl", 0.0}}, file_(std::move(file)), range_(zone.range) {}

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return Lane::kPower; }
  [[nodiscard]] std::chrono::microseconds period() const override { return kPeriod; }
  void read(ReadingSink& sink) override {
    const MonotonicUs time = monotonic_now();
    const auto value = file_.number();
    if (!value) {
      sink.absent(0, time, Absence::kError, 1, value.error().text());
      return;
    }
    if (last_ && *value < *last_) wrapped_ += range_;
    last_ = *value;
    sink.reading(0, {time, *value + wrapped_});
  }

 private:
  std::vector<Channel> channels_;
  SysFile file_;
  std::int64_t range_;
  std::optional<std::int64_t> last_;
  std::int64_t wrapped_ = 0;
};

// "package-0" is cpu0, "dram" below it cpu0-dram. The zone "psys" is the whole board.
std::string device_name(std::string_view name, const std::string& parent) {
  constexpr std::string_view kPackage = "package-";
  if (name.starts_with(kPackage)) return fmt::format("cpu{}", name.substr(kPackage.size()));
  return parent.empty() ? std::string(name) : fmt::format("{}-{}", parent, name);
}

// Cores and uncore are parts of their package: only what is not in another counter is taken.
bool counts(std::string_view name) {
  return name.starts_with("package-") || name == "dram" || name == "psys";
}

void find_zones(const fs::path& folder, const std::string& parent, std::vector<Zone>& out) {
  std::error_code ignored;
  std::vector<fs::path> children;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().find("rapl:") != std::string::npos) children.push_back(entry.path());
  }
  std::sort(children.begin(), children.end());
  for (const fs::path& child : children) {
    const auto name = read_text(child / "name");
    if (!name) continue;
    const std::string device = device_name(*name, parent);
    if (counts(*name)) {
      out.push_back({device, child, read_number(child / "max_energy_range_uj").value_or(0)});
    }
    if (parent.empty()) find_zones(child, device, out);
  }
}

Missing unreadable(const Zone& zone, const Error& error) {
  const std::string file = (zone.folder / "energy_uj").string();
  return {zone.device + ": energy", error.text(), fmt::format("only root may read it: sudo chmod a+r {}", file)};
}

}  // namespace

Result<Found> find_rapl(const SensorOptions& options) {
  Found found;
  std::vector<Zone> zones;
  // The same zones stand here once as themselves and once below their parents.
  find_zones(fs::path(options.root) / "sys/devices/virtual/powercap/intel-rapl", {}, zones);
  for (const Zone& zone : zones) {
    auto file = SysFile::open(zone.folder / "energy_uj");
    if (file) {
      found.sensors.push_back(std::make_unique<Rapl>(zone, std::move(*file)));
      found.devices.push_back({zone.device, zone.device.find("dram") == std::string::npos ? "cpu" : "memory",
                               zone.device, nlohmann::json{{"range_j", static_cast<double>(zone.range) * 1e-6}}});
    } else {
      found.missing.push_back(unreadable(zone, file.error()));
    }
  }
  if (zones.empty()) found.missing.push_back({"CPU energy", "the kernel shows no RAPL counters", ""});
  return found;
}

}  // namespace joulecast

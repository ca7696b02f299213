// SPDX-License-Identifier: Apache-2.0
#include "power/gpu_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace joulecast {
namespace {

constexpr double kWatts = 1e-3;  // of milliwatts
// A driver rounds limits to what its board can hold; more than this is another limit.
constexpr std::uint32_t kLimitSlackMw = 1000;
// Enforced limits follow what was asked for within a few milliseconds; a board controller is not waited for.
constexpr std::chrono::milliseconds kSettle{500}, kAskAgain{10};

tl::unexpected<Error> device_error(std::string text) {
  return tl::unexpected<Error>(Error{ErrorCode::kDevice, std::move(text)});
}

std::string watts(std::uint32_t milliwatts) {
  return fmt::format("{:g} W", milliwatts * kWatts);
}

std::uint32_t apart(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

std::string range_text(const ClockRange& range) {
  return range.low_mhz == range.high_mhz ? fmt::format("{}", range.low_mhz)
                                         : fmt::format("{}-{}", range.low_mhz, range.high_mhz);
}

// One call that changes something, and how nvidia-smi says the same.
struct Call {
  std::string what;     // "the power limit"
  std::string command;  // "-pl 200"
};

// A function that this driver lacks counts as not supported.
template <typename Function, typename... Arguments>
Result<void> call(const NvmlGpu& gpu, const Call& words, Function* function, Arguments... arguments) {
  const nvml::Return code = function == nullptr ? nvml::Return::kFunctionNotFound : function(gpu.handle, arguments...);
  if (code == nvml::Return::kSuccess) return {};
  if (code == nvml::Return::kNoPermission) {
    return device_error(fmt::format(
        "{}: no permission to set {}; ask the administrator for: sudo nvidia-smi -i {} {}  (or to run this as root; "
        "in a container it takes CAP_SYS_ADMIN, docker run --cap-add SYS_ADMIN)",
        gpu.id(), words.what, gpu.index, words.command));
  }
  if (code == nvml::Return::kNotSupported || code == nvml::Return::kFunctionNotFound) {
    return unsupported(fmt::format("{}: {} cannot be set on this {} GPU with driver {}", gpu.id(), words.what,
                                   architecture_name(gpu.architecture), gpu.driver));
  }
  return device_error(fmt::format("{}: setting {}: {}", gpu.id(), words.what, gpu.library->text(code)));
}

std::optional<std::uint32_t> enforced_limit(const NvmlGpu& gpu) {
  return ask<std::uint32_t>(gpu.library->nvmlDeviceGetEnforcedPowerLimit, gpu.handle);
}

std::optional<std::uint32_t> requested_limit(const NvmlGpu& gpu) {
  return ask<std::uint32_t>(gpu.library->nvmlDeviceGetPowerManagementLimit, gpu.handle);
}

std::optional<ApplicationClocks> application_clocks(const NvmlGpu& gpu) {
  const auto clock = [&](nvml::ClockType type) {
    return ask<std::uint32_t>(gpu.library->nvmlDeviceGetApplicationsClock, gpu.handle, type);
  };
  const auto memory = clock(nvml::ClockType::kMemory), sm = clock(nvml::ClockType::kGraphics);
  if (!memory || !sm) return std::nullopt;
  return ApplicationClocks{*memory, *sm};
}

// First asked how many there are, then for them.
template <typename Function, typename... Arguments>
std::vector<std::uint32_t> clock_list(const NvmlGpu& gpu, Function* function, Arguments... arguments) {
  std::uint32_t count = 0;
  if (function == nullptr) return {};
  const nvml::Return size = function(gpu.handle, arguments..., &count, nullptr);
  if (size != nvml::Return::kInsufficientSize && size != nvml::Return::kSuccess) return {};
  std::vector<std::uint32_t> clocks(count);
  if (count == 0 || function(gpu.handle, arguments..., &count, clocks.data()) != nvml::Return::kSuccess) return {};
  clocks.resize(std::min<std::size_t>(count, clocks.size()));
  std::sort(clocks.begin(), clocks.end());
  return clocks;
}

std::vector<std::uint32_t> memory_clocks(const NvmlGpu& gpu) {
  return clock_list(gpu, gpu.library->nvmlDeviceGetSupportedMemoryClocks);
}

// With that memory clock, else with any.
std::vector<std::uint32_t> sm_clocks(const NvmlGpu& gpu, std::optional<std::uint32_t> memory_mhz) {
  std::vector<std::uint32_t> all;
  const std::vector<std::uint32_t> memory = memory_mhz ? std::vector{*memory_mhz} : memory_clocks(gpu);
  for (const std::uint32_t clock : memory) {
    const auto some = clock_list(gpu, gpu.library->nvmlDeviceGetSupportedGraphicsClocks, clock);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Where a driver lists no clocks there is nothing to hold a wish against: the driver itself will answer.
Result<void> check_clock(const NvmlGpu& gpu, const char* what, const std::vector<std::uint32_t>& clocks,
                         std::uint32_t wanted) {
  const auto above = std::lower_bound(clocks.begin(), clocks.end(), wanted);
  if (clocks.empty() || (above != clocks.end() && *above == wanted)) return {};
  std::vector<std::uint32_t> nearest;
  if (above != clocks.begin()) nearest.push_back(*(above - 1));
  if (above != clocks.end()) nearest.push_back(*above);
  return invalid(fmt::format("{}: {} clock {} MHz is not one it has; the nearest: {} MHz (of {} to {})", gpu.id(), what,
                             wanted, fmt::join(nearest, ", "), clocks.front(), clocks.back()));
}

Result<void> check_range(const NvmlGpu& gpu, const char* what, const std::vector<std::uint32_t>& clocks,
                         const ClockRange& range) {
  if (range.low_mhz > range.high_mhz) {
    return invalid(fmt::format("{}: {} clocks {}-{} MHz: the lower one comes first", gpu.id(), what, range.low_mhz,
                               range.high_mhz));
  }
  JC_RETURN_IF_ERROR(check_clock(gpu, what, clocks, range.low_mhz));
  return check_clock(gpu, what, clocks, range.high_mhz);
}

Result<void> check_limit(const NvmlGpu& gpu, std::uint32_t wanted) {
  std::uint32_t low = 0, high = 0;
  auto* const constraints = gpu.library->nvmlDeviceGetPowerManagementLimitConstraints;
  const nvml::Return code =
      constraints == nullptr ? nvml::Return::kFunctionNotFound : constraints(gpu.handle, &low, &high);
  if (code != nvml::Return::kSuccess) {
    return unsupported(fmt::format("{}: its power limit cannot be set ({})", gpu.id(), gpu.library->text(code)));
  }
  if (wanted >= low && wanted <= high) return {};
  return invalid(fmt::format("{}: a power limit of {} is outside its range, {} to {}", gpu.id(), watts(wanted),
                             watts(low), watts(high)));
}

Result<void> set_limit(const NvmlGpu& gpu, std::uint32_t milliwatts) {
  return call(gpu, {"the power limit", fmt::format("-pl {:g}", milliwatts * kWatts)},
              gpu.library->nvmlDeviceSetPowerManagementLimit, milliwatts);
}

Result<void> set_application(const NvmlGpu& gpu, const ApplicationClocks& clocks) {
  return call(gpu, {"application clocks", fmt::format("-ac {},{}", clocks.memory_mhz, clocks.sm_mhz)},
              gpu.library->nvmlDeviceSetApplicationsClocks, clocks.memory_mhz, clocks.sm_mhz);
}

Result<void> verify_limit(const NvmlGpu& gpu, std::uint32_t wanted) {
  const auto until = std::chrono::steady_clock::now() + kSettle;
  while (true) {
    const auto requested = requested_limit(gpu), enforced = enforced_limit(gpu);
    const bool asked = !requested || apart(*requested, wanted) <= kLimitSlackMw;
    const bool held = !enforced || apart(*enforced, wanted) <= kLimitSlackMw;
    if (!requested && !enforced) return device_error(fmt::format("{}: its power limit cannot be read back", gpu.id()));
    if (asked && held) return {};
    if (std::chrono::steady_clock::now() >= until) {
      if (!asked) {
        return device_error(
            fmt::format("{}: the driver took a power limit of {} and still has {}: this board does "
                        "not follow it",
                        gpu.id(), watts(wanted), watts(*requested)));
      }
      return device_error(fmt::format(
          "{}: {} is asked for, but {} is enforced: something outside the driver (a board controller, a power manager "
          "of the data centre) set its own limit",
          gpu.id(), watts(wanted), watts(*enforced)));
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

Result<void> verify_application(const NvmlGpu& gpu, const ApplicationClocks& wanted) {
  const auto now = application_clocks(gpu);
  if (!now) return device_error(fmt::format("{}: its application clocks cannot be read back", gpu.id()));
  if (*now == wanted) return {};
  return device_error(fmt::format("{}: application clocks of {},{} MHz were set, and it has {},{} MHz", gpu.id(),
                                  wanted.memory_mhz, wanted.sm_mhz, now->memory_mhz, now->sm_mhz));
}

void collect(std::string& failures, const Result<void>& done) {
  if (!done) failures += (failures.empty() ? "" : "; ") + done.error().text();
}

template <typename T>
void put(nlohmann::json& out, const char* key, const std::optional<T>& value) {
  if (value) out[key] = *value;
}

std::optional<std::uint32_t> number(const nlohmann::json& json, const char* key) {
  const auto at = json.find(key);
  if (at == json.end() || !at->is_number_unsigned()) return std::nullopt;
  return at->get<std::uint32_t>();
}

}  // namespace

std::string GpuSettings::text() const {
  std::vector<std::string> parts;
  if (power_limit_mw) parts.push_back(watts(*power_limit_mw));
  if (sm_lock) parts.push_back(fmt::format("SM {} MHz", range_text(*sm_lock)));
  if (memory_lock) parts.push_back(fmt::format("memory {} MHz", range_text(*memory_lock)));
  if (application) parts.push_back(fmt::format("application {},{} MHz", application->memory_mhz, application->sm_mhz));
  return parts.empty() ? "as found" : fmt::format("{}", fmt::join(parts, ", "));
}

void FoundSettings::will_change(const GpuSettings& wanted) {
  limit_changes |= wanted.power_limit_mw.has_value();
  application_changes |= wanted.application.has_value();
  sm_lock_changes |= wanted.sm_lock.has_value();
  memory_lock_changes |= wanted.memory_lock.has_value();
}

nlohmann::json to_json(const FoundSettings& found) {
  nlohmann::json out{{"uuid", found.uuid},
                     {"name", found.name},
                     {"index", found.index},
                     {"limit_changes", found.limit_changes},
                     {"application_changes", found.application_changes},
                     {"sm_lock_changes", found.sm_lock_changes},
                     {"memory_lock_changes", found.memory_lock_changes}};
  put(out, "power_limit_mw", found.power_limit_mw);
  put(out, "default_limit_mw", found.default_limit_mw);
  if (found.application) {
    out["application_memory_mhz"] = found.application->memory_mhz;
    out["application_sm_mhz"] = found.application->sm_mhz;
  }
  return out;
}

Result<FoundSettings> found_of_json(const nlohmann::json& json) {
  if (!json.is_object()) return invalid("settings of a GPU: expected an object");
  const auto text = [&](const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  const auto flag = [&](const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_boolean() && at->get<bool>();
  };
  FoundSettings out;
  out.uuid = text("uuid");
  out.name = text("name");
  out.index = number(json, "index").value_or(0);
  out.power_limit_mw = number(json, "power_limit_mw");
  out.default_limit_mw = number(json, "default_limit_mw");
  const auto memory = number(json, "application_memory_mhz"), sm = number(json, "application_sm_mhz");
  if (memory && sm) out.application = ApplicationClocks{*memory, *sm};
  out.limit_changes = flag("limit_changes");
  out.application_changes = flag("application_changes");
  out.sm_lock_changes = flag("sm_lock_changes");
  out.memory_lock_changes = flag("memory_lock_changes");
  if (out.uuid.empty()) return invalid("settings of a GPU: no uuid");
  return out;
}

FoundSettings find_settings(const NvmlGpu& gpu) {
  FoundSettings found;
  found.uuid = gpu.identity.uuid;
  found.name = gpu.identity.name;
  found.index = gpu.index;
  found.power_limit_mw = requested_limit(gpu);
  found.default_limit_mw = ask<std::uint32_t>(gpu.library->nvmlDeviceGetPowerManagementDefaultLimit, gpu.handle);
  found.application = application_clocks(gpu);
  return found;
}

Result<void> check_settings(const NvmlGpu& gpu, const GpuSettings& wanted) {
  if (wanted.power_limit_mw) JC_RETURN_IF_ERROR(check_limit(gpu, *wanted.power_limit_mw));
  if (wanted.application) {
    JC_RETURN_IF_ERROR(check_clock(gpu, "memory", memory_clocks(gpu), wanted.application->memory_mhz));
    JC_RETURN_IF_ERROR(
        check_clock(gpu, "SM", sm_clocks(gpu, wanted.application->memory_mhz), wanted.application->sm_mhz));
  }
  if (wanted.sm_lock) {
    if (gpu.architecture < nvml::Architecture::kVolta)
      return unsupported(fmt::format("{}: SM clocks can be locked from Volta on; use application_clocks", gpu.id()));
    JC_RETURN_IF_ERROR(check_range(gpu, "SM", sm_clocks(gpu, std::nullopt), *wanted.sm_lock));
  }
  if (wanted.memory_lock) {
    if (gpu.architecture < nvml::Architecture::kAmpere)
      return unsupported(
          fmt::format("{}: memory clocks can be locked from Ampere on; use application_clocks", gpu.id()));
    JC_RETURN_IF_ERROR(check_range(gpu, "memory", memory_clocks(gpu), *wanted.memory_lock));
  }
  return {};
}

Result<void> apply_settings(const NvmlGpu& gpu, const GpuSettings& wanted, FoundSettings* changed) {
  const NvmlLibrary& nvml = *gpu.library;
  FoundSettings ignored;
  FoundSettings& mark = changed == nullptr ? ignored : *changed;
  if (wanted.application) {
    JC_RETURN_IF_ERROR(set_application(gpu, *wanted.application));
    mark.application_changes = true;
  }
  if (wanted.memory_lock) {
    const auto [low, high] = *wanted.memory_lock;
    JC_RETURN_IF_ERROR(call(gpu, {"locked memory clocks", fmt::format("-lmc {},{}", low, high)},
                            nvml.nvmlDeviceSetMemoryLockedClocks, low, high));
    mark.memory_lock_changes = true;
  }
  if (wanted.sm_lock) {
    const auto [low, high] = *wanted.sm_lock;
    JC_RETURN_IF_ERROR(call(gpu, {"locked GPU clocks", fmt::format("-lgc {},{}", low, high)},
                            nvml.nvmlDeviceSetGpuLockedClocks, low, high));
    mark.sm_lock_changes = true;
  }
  if (wanted.power_limit_mw) {
    JC_RETURN_IF_ERROR(set_limit(gpu, *wanted.power_limit_mw));
    mark.limit_changes = true;
  }
  return verify_settings(gpu, wanted);
}

Result<void> verify_settings(const NvmlGpu& gpu, const GpuSettings& wanted) {
  if (wanted.power_limit_mw) JC_RETURN_IF_ERROR(verify_limit(gpu, *wanted.power_limit_mw));
  if (wanted.application) JC_RETURN_IF_ERROR(verify_application(gpu, *wanted.application));
  return {};
}

Result<void> restore_settings(const NvmlGpu& gpu, const FoundSettings& found) {
  const NvmlLibrary& nvml = *gpu.library;
  std::string failures;
  if (found.sm_lock_changes) {
    collect(failures, call(gpu, {"locked GPU clocks back", "-rgc"}, nvml.nvmlDeviceResetGpuLockedClocks));
  }
  if (found.memory_lock_changes) {
    collect(failures, call(gpu, {"locked memory clocks back", "-rmc"}, nvml.nvmlDeviceResetMemoryLockedClocks));
  }
  if (found.application_changes && found.application && application_clocks(gpu) != found.application) {
    collect(failures, set_application(gpu, *found.application));
  }
  if (found.limit_changes && found.power_limit_mw && requested_limit(gpu) != found.power_limit_mw) {
    collect(failures, set_limit(gpu, *found.power_limit_mw));
    // Only what the driver was asked for: what a board controller enforces was not ours.
    const auto now = requested_limit(gpu);
    if (now && apart(*now, *found.power_limit_mw) > kLimitSlackMw) {
      collect(failures, device_error(fmt::format("{}: its power limit was {} and is {}", gpu.id(),
                                                 watts(*found.power_limit_mw), watts(*now))));
    }
  }
  if (!failures.empty()) return device_error(failures);
  return {};
}

Result<NvmlGpu> gpu_with_uuid(const std::vector<NvmlGpu>& gpus, const std::string& uuid) {
  for (const NvmlGpu& gpu : gpus) {
    if (gpu.handle != nullptr && gpu.identity.uuid == uuid) return gpu;
  }
  return not_found(fmt::format("no GPU {} here that answers", uuid));
}

}  // namespace joulecast

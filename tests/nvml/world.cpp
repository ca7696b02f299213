// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace joulecast::nvml {
namespace {

const std::int64_t kLoadedNs = monotonic_ns();

constexpr std::array kNames = {
#define JC_NVML_NAME(name, ...) #name,
    JC_NVML_FUNCTIONS(JC_NVML_NAME)
#undef JC_NVML_NAME
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here sets it
  return value == nullptr ? "" : value;
}

}  // namespace

World& world() {
  static World the_world;
  return the_world;
}

const char* name_of(Function function) {
  return kNames[static_cast<std::size_t>(function)];
}

Return give_text(const std::string& text, char* out, std::uint32_t size) {
  if (out == nullptr) return Return::kInvalidArgument;
  if (text.size() + 1 > size) return Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::kSuccess;
}

Return World::init(Function function) {
  count(function);
  std::unique_lock lock(mutex_);
  if (const Return result = load(); result != Return::kSuccess) return result;
  Ticket ticket;
  ticket.lock = std::move(lock);
  if (!sync(ticket)) return Return::kOperatingSystem;
  strike(ticket, fault(name_of(function), std::nullopt, std::nullopt, ticket.now));
  if (ticket.result == Return::kSuccess) ++users_;
  return ticket.result;
}

Return World::shutdown() {
  const Ticket ticket = enter(Function::nvmlShutdown);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (--users_ == 0) write_counts();
  return Return::kSuccess;
}

// Once only, although the library may be closed and opened by its user many times: the GPUs go on in between.
Return World::load() {
  if (loaded_) return Return::kSuccess;
  if (const std::string path = environment("JOULECAST_STANDIN"); !path.empty()) {
    auto scenario = read_scenario(path);
    if (!scenario) {
      fmt::print(stderr, "nvml stand-in: {}\n", scenario.error().text());
      return Return::kUnknown;
    }
    scenario_ = *std::move(scenario);
  } else {
    scenario_ = default_scenario();
  }
  log_.emplace(environment("JOULECAST_STANDIN_STATE"), kLoadedNs);
  fault_calls_.assign(scenario_.faults.size(), 0);
  for (const GpuSpec& spec : scenario_.gpus) {
    gpus_.emplace_back(spec);
    devices_.push_back({gpus_.size() - 1, std::nullopt});
  }
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    for (std::size_t k = 0; k < scenario_.gpus[i].slices.size(); ++k) devices_.push_back({i, k});
  }
  loaded_ = true;
  return Return::kSuccess;
}

void World::apply(const Change& change) {
  if (change.gpu < gpus_.size()) gpus_[change.gpu].apply(change);
}

void World::forget() {
  for (GpuModel& gpu : gpus_) gpu.forget();
}

bool World::sync(Ticket& ticket) {
  const auto now = log_->sync([this](const Change& change) { apply(change); }, [this] { forget(); });
  ticket.now = now.value_or(0);
  return now.has_value();
}

Ticket World::enter(Function function) {
  Ticket ticket = lock(function);
  if (ticket.result == Return::kSuccess) {
    strike(ticket, fault(name_of(function), std::nullopt, std::nullopt, ticket.now));
  }
  return ticket;
}

Ticket World::lock(Function function) {
  count(function);
  Ticket ticket;
  ticket.lock = std::unique_lock(mutex_);
  if (users_ == 0) {
    ticket.result = Return::kUninitialized;
  } else if (!sync(ticket)) {
    ticket.result = Return::kOperatingSystem;
  }
  return ticket;
}

Ticket World::enter(Function function, Device device, Reach reach) {
  Ticket ticket = lock(function);
  if (ticket.result != Return::kSuccess) return ticket;
  const auto found =
      std::find_if(devices_.begin(), devices_.end(), [&](const DeviceOpaque& d) { return &d == device; });
  if (found == devices_.end()) {
    ticket.result = Return::kInvalidArgument;
    return ticket;
  }
  ticket.device = &*found;
  ticket.gpu = &gpus_[found->gpu];
  strike(ticket, fault(name_of(function), std::nullopt, found->gpu, ticket.now));
  if (ticket.result == Return::kSuccess && found->slice && reach == Reach::kGpu) ticket.result = Return::kNotSupported;
  return ticket;
}

const Fault* World::fault(const char* function, std::optional<FieldId> field, std::optional<std::size_t> gpu,
                          Nanoseconds now) {
  const Fault* hit = nullptr;
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const Fault& fault = scenario_.faults[i];
    const bool about = field ? fault.field == field : fault.function == function;
    const bool any = !field && fault.function == "*" && gpu.has_value();
    if (!(about || any) || (fault.gpu && fault.gpu != gpu) || now < fault.from || now >= fault.until) continue;
    const std::uint64_t calls = ++fault_calls_[i];
    const bool now_it_is = fault.call > 0 ? calls == fault.call : calls % fault.every == 0;
    if (now_it_is && hit == nullptr) hit = &fault;
  }
  return hit;
}

void World::strike(Ticket& ticket, const Fault* fault) {
  if (fault == nullptr) return;
  if (fault->delay > 0) {
    ticket.lock.unlock();
    std::this_thread::sleep_for(std::chrono::nanoseconds(fault->delay));
    ticket.lock.lock();
    if (!sync(ticket)) ticket.result = Return::kOperatingSystem;
  }
  if (fault->result != Return::kSuccess) ticket.result = fault->result;
  ticket.value = fault->value;
}

Return World::change(const Ticket& ticket, Setting setting, std::optional<Pair> value) {
  Change change;
  change.gpu = ticket.device->gpu;
  change.setting = setting;
  change.value = value;
  const auto at = log_->append(
      change, [this](const Change& done) { apply(done); }, [this] { forget(); });
  return at ? Return::kSuccess : Return::kOperatingSystem;
}

// JOULECAST_STANDIN_CALLS: "%p" in it becomes the process, for tests that start several.
void World::write_counts() const {
  std::string path = environment("JOULECAST_STANDIN_CALLS");
  if (path.empty()) return;
  if (const auto place = path.find("%p"); place != std::string::npos) {
    path.replace(place, 2, std::to_string(getpid()));
  }
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (const std::uint64_t calls = counts_[i]; calls > 0) fmt::print(file, "{} {}\n", kNames[i], calls);
  }
  std::fclose(file);
}

}  // namespace joulecast::nvml

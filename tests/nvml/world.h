// SPDX-License-Identifier: Apache-2.0
// The machine that the stand-in pretends to be, and what every exported function does before its own work: count
// itself, look at who asks for what, and see whether the scenario lets something go wrong.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <type_traits>

#include "model.h"
#include "power/nvml_abi.h"

namespace joulecast::nvml {

// A handle is a pointer to one of these, in the world's own list.
struct DeviceOpaque {
  std::size_t gpu = 0;
  std::optional<std::size_t> slice;  // of a MIG device
};

enum class Function : std::size_t {
#define JC_NVML_NAME(name, ...) name,
  JC_NVML_FUNCTIONS(JC_NVML_NAME)
#undef JC_NVML_NAME
      kCount
};

enum class Reach : std::uint8_t { kGpu, kMigToo };  // NVML answers little about a MIG device

// A call that was let in: the world is locked while this lives.
struct Ticket {
  std::unique_lock<std::mutex> lock;
  Return result = Return::kSuccess;    // not kSuccess: the answer, and nothing else below holds
  std::optional<std::uint64_t> value;  // a fault's, to be given instead of the truth
  Nanoseconds now = 0;
  const DeviceOpaque* device = nullptr;
  GpuModel* gpu = nullptr;
};

template <typename T>
using Answer = tl::expected<T, Return>;

class World {
 public:
  World() = default;
  ~World() { write_counts(); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Return init(Function function);
  Return shutdown();

  Ticket enter(Function function);  // about the whole machine
  Ticket enter(Function function, Device device, Reach reach);
  // For the functions that make a handle: `find` names it under the lock, null is NOT_FOUND's place.
  template <typename Find>
  Return handle(Function function, Device* out, Return missing, const Find& find);

  // Requires: a ticket of this world lives.
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] std::deque<DeviceOpaque>& devices() { return devices_; }
  [[nodiscard]] GpuModel& gpu(std::size_t index) { return gpus_[index]; }
  [[nodiscard]] std::uint64_t wall_us(Nanoseconds at) const { return log_->wall_us(at); }
  Return change(const Ticket& ticket, Setting setting, std::optional<Pair> value);
  // The fault that hits now, if any; counts the call for all that might.
  const Fault* fault(const char* function, std::optional<FieldId> field, std::optional<std::size_t> gpu,
                     Nanoseconds now);

 private:
  void count(Function function) { ++counts_[static_cast<std::size_t>(function)]; }
  void write_counts() const;
  Return load();
  Ticket lock(Function function);
  bool sync(Ticket& ticket);
  void apply(const Change& change);
  void forget();
  void strike(Ticket& ticket, const Fault* fault);

  std::mutex mutex_;
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Function::kCount)> counts_ = {};
  int users_ = 0;
  bool loaded_ = false;
  Scenario scenario_;
  std::deque<GpuModel> gpus_;
  std::deque<DeviceOpaque> devices_;  // GPUs first, then MIG devices; never moves
  std::optional<SettingsLog> log_;
  std::vector<std::uint64_t> fault_calls_;
};

World& world();
const char* name_of(Function function);

template <typename Find>
Return World::handle(Function function, Device* out, Return missing, const Find& find) {
  Ticket ticket = lock(function);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (out == nullptr) return Return::kInvalidArgument;
  DeviceOpaque* found = find();
  if (found == nullptr) return missing;
  strike(ticket, fault(name_of(function), std::nullopt, found->gpu, ticket.now));
  if (ticket.result == Return::kSuccess) *out = found;
  return ticket.result;
}

// The common shape: one thing is asked. `body` takes the ticket and returns Answer<T>.
template <typename T, typename Body>
Return answer(const Ticket& ticket, T* out, const Body& body) {
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (out == nullptr) return Return::kInvalidArgument;
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    if (ticket.value) {
      *out = static_cast<T>(*ticket.value);
      return Return::kSuccess;
    }
  }
  const Answer<T> said = body(ticket);
  if (!said) return said.error();
  *out = *said;
  return Return::kSuccess;
}

template <typename T, typename Body>
Return answer(Function function, Device device, Reach reach, T* out, const Body& body) {
  return answer(world().enter(function, device, reach), out, body);
}

inline tl::unexpected<Return> refuse(Return code) {
  return tl::unexpected<Return>(code);
}

// Copies with the closing zero; INSUFFICIENT_SIZE where it does not fit.
Return give_text(const std::string& text, char* out, std::uint32_t size);

}  // namespace joulecast::nvml

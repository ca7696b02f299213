// SPDX-License-Identifier: Apache-2.0
// The library itself, and the handles and names of its devices.
#include <cstdio>
#include <cstring>

#include "exports.h"
#include "world.h"

using namespace joulecast::nvml;  // NOLINT(google-build-using-namespace): C functions live outside of it

namespace {

template <typename Text>
Return text_about(Function function, Device device, char* out, std::uint32_t size, const Text& text) {
  const Ticket ticket = world().enter(function, device, Reach::kMigToo);
  return ticket.result == Return::kSuccess ? give_text(text(ticket), out, size) : ticket.result;
}

const MigSlice* slice_of(const DeviceOpaque& device, const GpuSpec& spec) {
  return device.slice ? &spec.slices[*device.slice] : nullptr;
}

}  // namespace

Return nvmlInit_v2() {
  return world().init(Function::nvmlInit_v2);
}

Return nvmlInitWithFlags(std::uint32_t) {
  return world().init(Function::nvmlInitWithFlags);
}

Return nvmlShutdown() {
  return world().shutdown();
}

const char* nvmlErrorString(Return code) {
  return name_of(code);
}

Return nvmlSystemGetDriverVersion(char* text, std::uint32_t size) {
  const Ticket ticket = world().enter(Function::nvmlSystemGetDriverVersion);
  return ticket.result == Return::kSuccess ? give_text(world().scenario().driver, text, size) : ticket.result;
}

Return nvmlSystemGetNVMLVersion(char* text, std::uint32_t size) {
  const Ticket ticket = world().enter(Function::nvmlSystemGetNVMLVersion);
  return ticket.result == Return::kSuccess ? give_text(world().scenario().nvml_version, text, size) : ticket.result;
}

Return nvmlSystemGetCudaDriverVersion_v2(std::int32_t* version) {
  return answer(world().enter(Function::nvmlSystemGetCudaDriverVersion_v2), version,
                [](const Ticket&) -> Answer<std::int32_t> { return world().scenario().cuda_version; });
}

Return nvmlDeviceGetCount_v2(std::uint32_t* count) {
  return answer(world().enter(Function::nvmlDeviceGetCount_v2), count, [](const Ticket&) -> Answer<std::uint32_t> {
    return static_cast<std::uint32_t>(world().scenario().gpus.size());
  });
}

Return nvmlDeviceGetHandleByIndex_v2(std::uint32_t index, Device* device) {
  return world().handle(Function::nvmlDeviceGetHandleByIndex_v2, device, Return::kInvalidArgument, [&]() -> Device {
    return index < world().scenario().gpus.size() ? &world().devices()[index] : nullptr;
  });
}

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  return world().handle(Function::nvmlDeviceGetHandleByUUID, device, Return::kNotFound, [&]() -> Device {
    for (DeviceOpaque& each : world().devices()) {
      const GpuSpec& spec = world().gpu(each.gpu).spec();
      const MigSlice* slice = slice_of(each, spec);
      if (uuid != nullptr && (slice == nullptr ? spec.uuid : slice->uuid) == uuid) return &each;
    }
    return nullptr;
  });
}

Return nvmlDeviceGetUUID(Device device, char* text, std::uint32_t size) {
  return text_about(Function::nvmlDeviceGetUUID, device, text, size, [](const Ticket& ticket) {
    const MigSlice* slice = slice_of(*ticket.device, ticket.gpu->spec());
    return slice == nullptr ? ticket.gpu->spec().uuid : slice->uuid;
  });
}

Return nvmlDeviceGetName(Device device, char* text, std::uint32_t size) {
  return text_about(Function::nvmlDeviceGetName, device, text, size, [](const Ticket& ticket) {
    const MigSlice* slice = slice_of(*ticket.device, ticket.gpu->spec());
    return slice == nullptr ? ticket.gpu->spec().name : slice->name;
  });
}

Return nvmlDeviceGetSerial(Device device, char* text, std::uint32_t size) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetSerial, device, Reach::kMigToo);
  if (ticket.result != Return::kSuccess) return ticket.result;
  const std::string& serial = ticket.gpu->spec().serial;
  return serial.empty() ? Return::kNotSupported : give_text(serial, text, size);
}

Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  return answer(
      Function::nvmlDeviceGetPciInfo_v3, device, Reach::kMigToo, info, [](const Ticket& t) -> Answer<PciInfo> {
        PciInfo out = {};
        const std::string& id = t.gpu->spec().bus_id;
        unsigned function = 0;
        if (std::sscanf(id.c_str(), "%x:%x:%x.%x", &out.domain, &out.bus, &out.device, &function) != 4) {
          return refuse(Return::kUnknown);
        }
        std::snprintf(out.bus_id, sizeof out.bus_id, "%08X:%02X:%02X.%X", out.domain, out.bus, out.device, function);
        std::snprintf(out.legacy_bus_id, sizeof out.legacy_bus_id, "%04X:%02X:%02X.%X", out.domain & 0xFFFF,
                      out.bus & 0xFF, out.device & 0xFF, function & 0xF);
        out.device_id = t.gpu->spec().pci_device_id;
        return out;
      });
}

Return nvmlDeviceGetArchitecture(Device device, Architecture* architecture) {
  return answer(Function::nvmlDeviceGetArchitecture, device, Reach::kMigToo, architecture,
                [](const Ticket& t) -> Answer<Architecture> { return t.gpu->spec().architecture; });
}

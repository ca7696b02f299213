// SPDX-License-Identifier: Apache-2.0
// Tables that lie beside the measurements and are none: known, so that a whole folder can be imported.
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

TableLayout known(std::string_view name, std::vector<std::string_view> columns, std::string_view why) {
  return {name, std::move(columns), nullptr, nullptr, {}, why};
}

}  // namespace

TableLayout heidelberg_network_operations_layout() {
  return known("heidelberg_network_operations",
               {"model_name", "input_shape", "op_type", "op_repr", "op_input_shape", "calls", "calls_first_only"},
               "it tells which operations a network calls");
}

TableLayout gpu_specs_layout() {
  return known("gpu_specs", {"gpu", "vendor", "arch", "sms", "boost_mhz", "bw_gbs", "tdp_w", "uncertain_cells"},
               "it holds specifications of GPUs; those we use are in data/gpus");
}

TableLayout nvml_sensors_layout() {
  return known("nvml_sensor_characterization",
               {"gpu", "gpu_uuid", "driver", "query_option", "supported", "update_period_s", "window_mean_s"},
               "it describes power sensors, not what ran");
}

TableLayout power_trace_layout() {
  return known("power_trace", {"source", "time_s", "power_w", "power_instant_w", "sm_clock_hz", "gpu_utilization_pct"},
               "it is a recording of a power sensor over time, and what ran is not named");
}

}  // namespace joulecast

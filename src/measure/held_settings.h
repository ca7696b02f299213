// SPDX-License-Identifier: Apache-2.0
// Settings of GPUs that change while somebody measures, and are as they were when that is over, whatever ends it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/guardian.h"
#include "power/nvml_gpu.h"

namespace joulecast {

// Two programs that change the same GPU would each put back what the other had set. Errors: kDevice, naming who does.
Result<void> check_nobody_else_sets(const std::vector<NvmlGpu>& gpus);

// A program that was killed together with its guardian has left its settings: they are not what was "found".
Result<void> put_back_leftovers(const std::function<void(const std::string&)>& say);

//   JC_ASSIGN_OR_RETURN(auto guardian, Guardian::start());  // before NVML is opened and threads run
//   JC_ASSIGN_OR_RETURN(HeldSettings held, HeldSettings::take(gpus, found, *guardian, "sweep plan.toml"));
//   JC_RETURN_IF_ERROR(held.set(wanted));
//   ...
//   JC_RETURN_IF_ERROR(held.put_back());
//   guardian->dismiss();
//
// A guardian that is not dismissed puts everything back.
class HeldSettings {
 public:
  HeldSettings() = default;
  // `found` is an entry a GPU and knows what will be changed. Errors: those of Guardian::protect().
  static Result<HeldSettings> take(std::vector<NvmlGpu> gpus, const std::vector<FoundSettings>& found,
                                   Guardian& guardian, const std::string& purpose);

  // What is not wanted goes back to what was found: whoever came before may have changed it. Errors: those of
  // apply_settings() and restore_settings().
  Result<void> set(const GpuSettings& wanted);
  // Why they are not as they were set; empty where they are.
  [[nodiscard]] std::string not_held(const GpuSettings& wanted) const;
  // Everything as it was found. Errors: kDevice.
  Result<void> put_back();

 private:
  std::vector<NvmlGpu> gpus_;
  std::vector<FoundSettings> changed_;  // with only what was changed so far: the rest needs no rights
};

}  // namespace joulecast

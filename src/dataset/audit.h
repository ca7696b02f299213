// SPDX-License-Identifier: Apache-2.0
// Cautions that need the GPU's figures, and so belong to no layout.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "dataset/measured.h"
#include "joulecast/gpu.h"

namespace joulecast {

class Auditor {
 public:
  // Adds what is found to the row's cautions: faster-than-peak, hot-l2. Rows on GPUs the catalogue does not have stay
  // as they are.
  void audit(MeasuredOperation& row);

 private:
  const Gpu* find(const std::string& gpu);
  Flops flops_of(const std::shared_ptr<const Graph>& graph);

  std::map<std::string, const Gpu*> gpus_;
  std::shared_ptr<const Graph> last_;  // rows of one line share theirs
  Flops last_flops_;
};

}  // namespace joulecast

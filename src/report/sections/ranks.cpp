// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/html.h"
#include "report/sections/sections.h"
#include "report/text.h"

namespace joulecast::report {

std::string ranks_section(const RankSum& sum) {
  std::string text = fmt::format("{} ranks of one job: {}, {} GPUs", sum.ranks, quantity(sum.time_s, "s"), sum.gpus);
  if (sum.energy_j) {
    text += fmt::format(", {} ({})", quantity(*sum.energy_j, "J"), quantity(*sum.energy_j / sum.time_s, "W"));
  }
  return "<section>\n" + element("h2", "The job") + element("p", text, "lead") + bullet_list(sum.doubts, "warnings") +
         "</section>\n";
}

}  // namespace joulecast::report

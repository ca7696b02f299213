// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/html.h"
#include "report/sections/sections.h"

namespace joulecast::report {

std::string cite_section(std::string_view tool, bool charts, bool devices) {
  const std::string words = fmt::format("Measured with {}.", tool);
  const std::string bibtex = fmt::format(
      "@software{{joulecast,\n  title   = {{joulecast: time, power, energy and memory of deep learning on GPUs}},\n"
      "  version = {{{}}},\n  license = {{Apache-2.0}}\n}}",
      tool.substr(tool.rfind(' ') + 1));
  return "<section id=\"cite\">\n" + element("h2", "How to cite") + element("p", words) + element("pre", bibtex) +
         element("p",
                 fmt::format("Give device, driver, source of the energy and settings with every figure{}. What the "
                             "classes of sensors mean is after Z. Yang, K. Adamek, W. Armour: Accurate and Convenient "
                             "Energy Measurements for GPUs, SC24 (arXiv 2312.02741).",
                             devices ? ": they are above" : "")) +
         (!charts ? std::string()
                  : element("p",
                            "The charts are drawn by Vega, Vega-Lite and Vega-Embed (University of Washington "
                            "Interactive Data Lab, "
                            "BSD 3-Clause), which are part of this file.")) +
         "</section>\n";
}

}  // namespace joulecast::report

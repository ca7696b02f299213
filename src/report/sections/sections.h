// SPDX-License-Identifier: Apache-2.0
// What the page says of one recording in words and tables, a section a file. All return HTML, empty for nothing to say.
#pragma once

#include <string>
#include <string_view>

#include "analysis/ranks.h"
#include "report/run_view.h"

namespace joulecast::report {

std::string header_section(const RunView& run);    // command, when, machine, how it ended
std::string summary_section(const RunView& run);   // time, energy, power; phases
std::string warnings_section(const RunView& run);  // everything that puts the figures in doubt
std::string devices_section(const RunView& run);   // GPUs, drivers, settings as found
std::string sensors_section(const RunView& run);   // how well each source was sampled, and what it means
std::string ranks_section(const RankSum& sum);
// `charts`: whether the page draws any; `devices`: whether it names them.
std::string cite_section(std::string_view tool, bool charts, bool devices);

// "python train.py --lr 0.1"; "a recording" where it has no command.
std::string command_line(const Recording& recording);

}  // namespace joulecast::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace joulecast {

// Whether this process has what drivers want of whoever changes limits and clocks: root, and CAP_SYS_ADMIN, which roots
// of containers lack. The driver may refuse all the same.
bool may_change_settings();

// Of the text of /proc/PID/status; true where it says nothing of capabilities.
bool has_system_admin(const std::string& status);

}  // namespace joulecast

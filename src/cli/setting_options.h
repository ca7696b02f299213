// SPDX-License-Identifier: Apache-2.0
// --sm-clock, --power-limit and --measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "joulecast/predict.h"

namespace CLI {
class App;
}

namespace joulecast::cli {

struct SettingOptions {
  std::vector<std::string> clocks, limits, measured;
};
void add_settings(CLI::App& app, SettingOptions& options);
// --measured alone.
void add_measured(CLI::App& app, SettingOptions& options);

// Every clock with every limit, in this order; nothing where none of the options was given. With only measured settings
// it asks for the default one. Fails with exit code 2 for what cannot be read.
tl::expected<std::optional<SettingRequest>, Failure> setting_request(const SettingOptions& options);

// "900MHz", "150W", "900MHz/150W" or "default".
tl::expected<Setting, Failure> parse_setting(const std::string& text);

}  // namespace joulecast::cli

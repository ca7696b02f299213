// SPDX-License-Identifier: Apache-2.0
// Calibration lines of the cards of a user, kept between runs; docs/formats/calibration.md. Nothing applies one
// unasked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/card_calibration.h"
#include "joulecast/result.h"

namespace joulecast {

struct StoredLine {
  CardLine card;
  std::string fitted_utc;  // "2026-05-07T20:08:19.000Z"
};

// $XDG_CONFIG_HOME/joulecast/calibration.toml, else ~/.config/joulecast/calibration.toml. Errors: kNotFound where
// neither is set.
Result<std::string> calibration_file();

// None where the file is not there. Errors: kInvalidInput with its line; kIo.
Result<std::vector<StoredLine>> load_calibration(const std::string& path);
Result<std::vector<StoredLine>> parse_calibration(std::string_view text, const std::string& path);

// Puts the lines in place of those of the same card and source; the file is replaced once the new one is on the disk.
// Errors: load_calibration()'s, kInvalidInput for a line without a UUID, kIo.
Result<void> save_calibration(const std::string& path, const std::vector<StoredLine>& lines);

}  // namespace joulecast

// SPDX-License-Identifier: Apache-2.0
// Measurements in the layout of docs/formats/measurements.md.
#pragma once

#include <string>

#include "dataset/measurement.h"

namespace joulecast {

// Every column, and a line end (RFC 4180).
std::string csv_header();
std::string csv_line(const Measurement& row);

}  // namespace joulecast

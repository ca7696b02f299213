// SPDX-License-Identifier: Apache-2.0
// What the subcommands of `joulecast dataset` do.
#pragma once

#include "cli/dataset/dataset_options.h"
#include "cli/outcome.h"
#include "cli/output.h"

namespace joulecast::cli {

Outcome import_command(const DatasetOptions& options, Output& output);
Outcome list_command(const DatasetOptions& options, Output& output);
Outcome show_command(const DatasetOptions& options, Output& output);
Outcome export_command(const DatasetOptions& options, Output& output);
Outcome merge_command(const DatasetOptions& options, Output& output);
Outcome check_command(const DatasetOptions& options, Output& output);

// GPUs named in any spelling become the spellings that stand in the store, --with becomes columns.
tl::expected<RowFilter, Failure> resolved_filter(const DatasetOptions& options, Store& store);

}  // namespace joulecast::cli

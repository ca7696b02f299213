// SPDX-License-Identifier: Apache-2.0
// The options of `joulecast dataset`: `joulecast` completes them, `joulecast-dataset` obeys them.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "store/store.h"

namespace joulecast::cli {

struct DatasetOptions {
  std::string store, output = "-";
  std::vector<std::string> tables, from;  // of import, of merge
  RowFilter filter;
  std::vector<std::string> gpu_files;
  std::vector<std::string> with;
  std::size_t limit = 20;  // of show
  bool quiet = false;
  Form form;
};

// One subcommand each; exactly one must be given.
void define_dataset_options(CLI::App& app, DatasetOptions& options);

}  // namespace joulecast::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/dataset/commands.h"
#include "cli/json.h"

namespace joulecast::cli {

Outcome check_command(const DatasetOptions& options, Output& output) {
  auto store = Store::open(options.store, Access::kRead);
  if (!store) return tl::unexpected<Failure>(store.error());
  const auto found = store->check();
  if (!found) return tl::unexpected<Failure>(found.error());
  if (options.form.json) {
    output.write(json_text({{"schema", "joulecast.dataset-check/1"},
                            {"store", store->place()},
                            {"rows", found->rows},
                            {"faults", found->faults},
                            {"complaints", found->complaints}}));
  } else if (options.form.csv) {
    output.write("complaint\r\n");
    for (const std::string& complaint : found->complaints) output.write(csv_field(complaint) + "\r\n");
  } else {
    for (const std::string& complaint : found->complaints) output.write(printable(complaint) + "\n");
    if (found->faults == 0) output.write(fmt::format("{} rows, all as they were put in\n", found->rows));
  }
  if (found->faults == 0) return {};
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kInvalidInput, fmt::format("{}: {} faults", store->place(), found->faults)},
              "import the tables into a new store"});
}

}  // namespace joulecast::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/dataset/commands.h"
#include "store/import.h"

namespace joulecast::cli {

Outcome merge_command(const DatasetOptions& options, Output& output) {
  // All that are read must be there before one is written.
  std::vector<Store> from;
  for (const std::string& place : options.from) {
    if (place == options.store) return usage(fmt::format("{}: a store cannot be merged into itself", place));
    auto store = Store::open(place, Access::kRead);
    if (!store) return tl::unexpected<Failure>(store.error());
    from.push_back(std::move(*store));
  }
  auto into = Store::open(options.store, Access::kWrite);
  if (!into) return tl::unexpected<Failure>(into.error());
  const auto added = merge_stores(*into, from);
  if (!added) return tl::unexpected<Failure>(Failure{added.error(), "nothing was merged; the store is as it was"});
  for (std::size_t i = 0; i < from.size(); ++i) {
    output.write(fmt::format("{}: {} new rows\n", from[i].place(), (*added)[i]));
  }
  return {};
}

}  // namespace joulecast::cli

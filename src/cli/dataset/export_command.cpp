// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/output_file.h"
#include "cli/dataset/commands.h"
#include "dataset/measurement_csv.h"

namespace joulecast::cli {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

tl::unexpected<Failure> write_error(const std::string& path, int error) {
  return tl::unexpected<Failure>(
      Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::generic_category().message(error))});
}

// Under another name until it is whole.
Outcome export_to_file(const std::string& place, Store& store, const RowFilter& filter) {
  const auto path = output_file(place);
  if (!path) return tl::unexpected<Failure>(path.error());
  const std::string unfinished = *path + ".part";
  File file(std::fopen(unfinished.c_str(), "wb"), std::fclose);
  if (!file) return write_error(unfinished, errno);
  int error = 0;  // the first one
  const auto check = [&](bool done) {
    if (!done && error == 0) error = errno;
  };
  check(std::fputs(csv_header().c_str(), file.get()) >= 0);
  const auto read = store.read(filter, [&](const StoredRow& row) -> Result<void> {
    if (error == 0) check(std::fputs(csv_line(row.row).c_str(), file.get()) >= 0);
    return {};
  });
  check(std::fclose(file.release()) == 0);
  if (read && error == 0) check(std::rename(unfinished.c_str(), path->c_str()) == 0);
  if (read && error == 0) return {};
  std::remove(unfinished.c_str());
  return read ? write_error(*path, error) : tl::unexpected<Failure>(read.error());
}

}  // namespace

Outcome export_command(const DatasetOptions& options, Output& output) {
  std::error_code none;
  if (options.output != "-" && std::filesystem::equivalent(options.output, options.store, none))
    return usage("--output: the store itself would be overwritten");
  auto store = Store::open(options.store, Access::kRead);
  if (!store) return tl::unexpected<Failure>(store.error());
  const auto filter = resolved_filter(options, *store);
  if (!filter) return tl::unexpected(filter.error());
  if (options.output != "-") return export_to_file(options.output, *store, *filter);
  output.write(csv_header());
  const auto read = store->read(*filter, [&](const StoredRow& row) -> Result<void> {
    output.write(csv_line(row.row));
    return {};
  });
  if (!read) return tl::unexpected<Failure>(read.error());
  return {};
}

}  // namespace joulecast::cli

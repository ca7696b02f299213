// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/dataset/commands.h"
#include "dataset/measurement_csv.h"

namespace joulecast::cli {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

tl::unexpected<Failure> write_error(const std::string& path) {
  return tl::unexpected<Failure>(
      Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno))});  // NOLINT(concurrency-mt-unsafe)
}

// Under another name until it is whole.
Outcome export_to_file(const std::string& path, Store& store, const RowFilter& filter) {
  const std::string unfinished = path + ".part";
  File file(std::fopen(unfinished.c_str(), "wb"), std::fclose);
  if (!file) return write_error(unfinished);
  const auto put = [&](const std::string& line) { return std::fputs(line.c_str(), file.get()) >= 0; };
  bool written = put(csv_header());
  const auto read = store.read(filter, [&](const StoredRow& row) -> Result<void> {
    written = written && put(csv_line(row.row));
    return {};
  });
  written = std::fclose(file.release()) == 0 && written;
  if (read && written && std::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  const auto failure = read ? write_error(path) : tl::unexpected<Failure>(read.error());
  std::remove(unfinished.c_str());
  return failure;
}

}  // namespace

Outcome export_command(const DatasetOptions& options, Output& output) {
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

// SPDX-License-Identifier: Apache-2.0
#include "recording/export/exporters.h"

#include "base/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace joulecast {
namespace {

constexpr std::array kExporters{
    Exporter{"csv", export_csv},
    Exporter{"json", export_json},
    Exporter{"trace", export_trace},
    Exporter{"openmetrics", export_openmetrics},
};

tl::unexpected<Error> failed(const std::string& path) {
  return io_error(fmt::format("{}: {}", path, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

std::span<const Exporter> exporters() {
  return kExporters;
}

const Exporter* find_exporter(std::string_view name) {
  const auto* const at =
      std::find_if(kExporters.begin(), kExporters.end(), [&](const Exporter& one) { return one.name == name; });
  return at == kExporters.end() ? nullptr : at;
}

Result<void> export_to_file(const Exporter& exporter, const RunSource& run, const ExportOptions& options,
                            const std::string& place) {
  JC_ASSIGN_OR_RETURN(const std::string path, output_file(place));
  const std::string unfinished = path + ".part";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(unfinished.c_str(), "wb"), std::fclose);
  if (!file) return failed(unfinished);
  bool whole = true;
  const auto put = [&](std::string_view text) {
    whole = whole && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  };
  auto written = exporter.write(run, options, put);
  whole = std::fclose(file.release()) == 0 && whole;
  if (written && whole && std::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  if (written) written = failed(path);
  (void)std::remove(unfinished.c_str());
  return written;
}

}  // namespace joulecast

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/measure/commands.h"
#include "cli/measure/read_run.h"
#include "cli/version.h"
#include "recording/export/exporters.h"
#include "recording/import/import.h"
#include "recording/import/wall_time.h"

namespace joulecast::cli {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out(1);
  for (const char c : list) {
    if (c == ',') {
      out.emplace_back();
    } else if (c != ' ') {
      out.back() += c;
    }
  }
  return out;
}

tl::expected<ImportOptions, Failure> import_options(const ExportRunOptions& options) {
  ImportOptions out;
  if (options.columns) out.columns = split(*options.columns);
  if (!options.utc_offset) return out;
  out.utc_offset = parse_utc_offset(*options.utc_offset);
  if (!out.utc_offset) {
    return usage(fmt::format("export: '{}' is no offset from UTC", *options.utc_offset), "such as +02:00 or -0330");
  }
  return out;
}

Outcome check(const ExportRunOptions& options) {
  if (options.merge && options.as != "trace") return usage("export: --merge is for --as trace");
  if (options.samples && options.as != "json") return usage("export: --samples is for --as json");
  if (options.as == "jcrun" && options.output == "-") return usage("export: --as jcrun needs a file", "-o run.jcrun");
  if (options.output == "-") return {};
  JC_RETURN_IF_FAILURE(refuse_over_input("export", options.output, {options.run, options.merge.value_or("")}));
  std::error_code ignored;
  if (options.force || !std::filesystem::is_regular_file(options.output, ignored)) return {};
  return usage(fmt::format("export: {} is there already", printable(options.output)), "--force replaces it");
}

// What was assumed, and what of the file could not be read, is for whoever asked for an export to know.
void tell(const std::string& path, const Recording& run, bool imported, Output& output) {
  if (imported) {
    for (const std::string& note : run.notes) output.note(printable(note));
  }
  if (!run.damage.complete) output.note(path + ": has no end: the recorder was stopped, or still runs");
  if (run.damage.damaged > 0) output.note(fmt::format("{}: {} bytes are damaged", path, run.damage.damaged));
}

Outcome write(const RunSource& run, const ExportRunOptions& options, Output& output) {
  const Exporter* exporter = find_exporter(options.as);
  const ExportOptions how{options.samples, options.merge, std::string(version())};
  const auto written = options.output == "-"
                           ? exporter->write(run, how, [&](std::string_view text) { output.write(text); })
                           : export_to_file(*exporter, run, how, options.output);
  if (!written) return tl::unexpected<Failure>(written.error());
  return {};
}

}  // namespace

Outcome export_run_command(const ExportRunOptions& options, Output& output) {
  if (auto fine = check(options); !fine) return fine;
  const auto import = import_options(options);
  if (!import) return tl::unexpected(import.error());
  const auto kind = kind_of(options.run, *import);
  if (!kind) return tl::unexpected<Failure>(kind.error());
  if (*kind == RecordingKind::kJcrun && options.as != "jcrun") {
    const auto source = RunSource::open(options.run);
    if (!source) return tl::unexpected<Failure>(source.error());
    tell(options.run, source->outline(), false, output);
    return write(*source, options, output);
  }
  auto run = load_any(options.run, *import);
  if (!run) return tl::unexpected<Failure>(std::move(run).error());
  tell(options.run, *run, *kind != RecordingKind::kJcrun, output);
  if (options.as != "jcrun") return write(RunSource::of(*std::move(run)), options, output);
  if (auto saved = save_recording(*run, options.output); !saved) return tl::unexpected<Failure>(saved.error());
  return {};
}

}  // namespace joulecast::cli

// SPDX-License-Identifier: Apache-2.0
#include "measure/calibration_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/mapped_file.h"
#include "base/whole_file.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace joulecast {
namespace {

constexpr const char* kSchema = "joulecast.calibration/1";

// A basic string of TOML.
std::string basic_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr unsigned char kFirstPrintable = 0x20;
    constexpr unsigned char kDelete = 0x7f;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < kFirstPrintable || byte == kDelete) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

// As many digits as the number has; TOML wants a point or an exponent in a float.
std::string number(double value) {
  std::string out = fmt::format("{}", value);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

std::string text_of(const StoredLine& stored) {
  const series::CalibrationLine& line = stored.card.line;
  std::string out = fmt::format(
      "\n[[line]]\nuuid = {}\nname = {}\nsource = {}\nmeter = {}\nfitted_utc = {}\ngain = {}\noffset_w = {}\n"
      "points = {}\ncentre_w = {}\n",
      basic_string(stored.card.uuid), basic_string(stored.card.name), basic_string(stored.card.source),
      basic_string(stored.card.meter), basic_string(stored.fitted_utc), number(line.gain), number(line.offset.value()),
      line.points, number(line.centre.value()));
  const auto add = [&](const char* key, std::optional<double> value) {
    if (value) out += fmt::format("{} = {}\n", key, number(*value));
  };
  const auto watts = [](const std::optional<Watts>& value) {
    return value ? std::optional(value->value()) : std::nullopt;
  };
  add("gain_standard_error", line.gain_standard_error);
  add("offset_standard_error_w", watts(line.offset_standard_error));
  add("residual_deviation_w", watts(line.residual_deviation));
  add("r2", line.r2);
  return out;
}

std::optional<double> finite(const toml::table& table, const char* key) {
  const auto value = table[key].value<double>();
  return value && std::isfinite(*value) ? value : std::nullopt;
}

Result<StoredLine> line_of(const toml::table& table) {
  StoredLine out;
  out.card.uuid = table["uuid"].value_or(std::string());
  out.card.name = table["name"].value_or(std::string());
  out.card.source = table["source"].value_or(std::string());
  out.card.meter = table["meter"].value_or(std::string());
  out.fitted_utc = table["fitted_utc"].value_or(std::string());
  const auto gain = finite(table, "gain");
  const auto offset = finite(table, "offset_w");
  if (out.card.uuid.empty() || out.card.source.empty() || !offset || !gain || !(*gain > 0)) {
    return invalid("a line needs uuid, source, a gain above 0 and offset_w");
  }
  series::CalibrationLine& line = out.card.line;
  line.gain = *gain;
  line.offset = Watts{*offset};
  line.points = static_cast<std::size_t>(std::max<std::int64_t>(0, table["points"].value_or(std::int64_t{0})));
  line.centre = Watts{finite(table, "centre_w").value_or(0)};
  line.r2 = finite(table, "r2");
  const auto gain_error = finite(table, "gain_standard_error");
  const auto offset_error = finite(table, "offset_standard_error_w");
  const auto deviation = finite(table, "residual_deviation_w");
  // The three belong together: true_energy() uses them so.
  if (gain_error && offset_error && deviation && line.points > 0) {
    line.gain_standard_error = gain_error;
    line.offset_standard_error = Watts{*offset_error};
    line.residual_deviation = Watts{*deviation};
  }
  return out;
}

}  // namespace

Result<std::string> calibration_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (config != nullptr && *config == '/') return std::string(config) + "/joulecast/calibration.toml";
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home != nullptr && *home == '/') return std::string(home) + "/.config/joulecast/calibration.toml";
  return not_found("no folder for calibration lines: set XDG_CONFIG_HOME or HOME");
}

Result<std::vector<StoredLine>> parse_calibration(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return invalid(
        fmt::format("{}: line {}: {}", path, parsed.error().source().begin.line, parsed.error().description()));
  }
  const toml::table& table = parsed.table();
  if (table["schema"].value_or(std::string()) != kSchema) {
    return invalid(fmt::format("{}: its schema is not {}", path, kSchema));
  }
  std::vector<StoredLine> out;
  const toml::array* lines = table["line"].as_array();
  if (lines == nullptr) return out;
  for (const toml::node& node : *lines) {
    const toml::table* one = node.as_table();
    auto line = one == nullptr ? Result<StoredLine>(invalid("expected [[line]]")) : line_of(*one);
    if (!line) {
      return tl::unexpected(std::move(line.error()).in(fmt::format("{}: line {}", path, node.source().begin.line)));
    }
    out.push_back(*std::move(line));
  }
  return out;
}

Result<std::vector<StoredLine>> load_calibration(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::vector<StoredLine>();
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return parse_calibration(file.text(), path);
}

Result<void> save_calibration(const std::string& path, const std::vector<StoredLine>& lines) {
  JC_ASSIGN_OR_RETURN(std::vector<StoredLine> all, load_calibration(path));
  for (const StoredLine& line : lines) {
    if (line.card.uuid.empty()) {
      return invalid(
          fmt::format("{}: the recording does not say the card's UUID, by which lines are kept", line.card.source));
    }
    std::erase_if(all, [&](const StoredLine& old) {
      return old.card.uuid == line.card.uuid && old.card.source == line.card.source;
    });
    all.push_back(line);
  }
  std::string text =
      fmt::format("# Written by joulecast analyze --fit-calibration --save.\nschema = \"{}\"\n", kSchema);
  for (const StoredLine& line : all) text += text_of(line);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return io_error(fmt::format("{}: {}", path, error.message()));
  return replace_file(path, text);
}

}  // namespace joulecast

// SPDX-License-Identifier: Apache-2.0
#include "cli/gpu_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/table.h"
#include "gpu/figures.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr auto kRight = Table::Align::kRight;

// The figure in the unit of its key, as its data sheet writes it; nothing where it is unknown.
template <typename T>
std::optional<std::string> figure_text(const FigureSpec& spec, const T& figure) {
  if constexpr (kIsText<T>) {
    return figure.empty() ? std::nullopt : std::optional<std::string>(figure);
  } else {
    const auto value = figure_value(figure);
    return value ? std::optional(plain(*value / spec.scale)) : std::nullopt;
  }
}

template <typename T>
std::string or_dash(const std::optional<T>& figure, double scale) {
  return figure ? plain(figure->value() / scale) : "-";
}

const FigureSource& source_of(const Gpu& gpu, std::string_view key) {
  static const FigureSource kNone;
  const auto at = std::find_if(gpu.sources.begin(), gpu.sources.end(), [&](const auto& s) { return s.figure == key; });
  return at == gpu.sources.end() ? kNone : *at;
}

// Numbers texts in the order in which they are first met.
class Footnotes {
 public:
  std::string mark(std::string_view text) {
    auto at = std::find(texts_.begin(), texts_.end(), text);
    if (at == texts_.end()) at = texts_.insert(texts_.end(), text);
    return fmt::format("[{}]", at - texts_.begin() + 1);
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const std::string mark = fmt::format("  [{}] ", i + 1);
      out += mark + wrapped(texts_[i], kWidth, mark.size(), mark.size()) + "\n";
    }
    return out;
  }

 private:
  std::vector<std::string_view> texts_;
};

std::string figures_text(const Gpu& gpu, Footnotes& sources) {
  Table table({{"figure"}, {"value", kRight}, {"unit"}, {""}, {"source"}});
  for_each_figure([&](const FigureSpec& spec, auto member) {
    const auto text = figure_text(spec, gpu.*member);
    if (!text) return;
    const FigureSource& source = source_of(gpu, spec.key);
    const std::string mark = source.confirmed ? "" : "?";
    table.add({std::string(spec.label), *text, std::string(spec.unit), mark, sources.mark(source.source)});
  });
  return table.text(2);
}

std::string mig_text(const Gpu& gpu, Footnotes& sources) {
  if (gpu.mig_profiles.empty()) return {};
  Table table({{"MIG profile"},
               {"compute", kRight},
               {"memory", kRight},
               {"at most", kRight},
               {"MiB", kRight},
               {"SMs", kRight},
               {""},
               {"source"}});
  for (const MigProfile& p : gpu.mig_profiles) {
    table.add({std::string(p.name), fmt::format("{}/7", p.compute_slices), fmt::format("{}/8", p.memory_slices),
               fmt::to_string(p.max_instances), or_dash(p.memory, kMib), p.sm_count ? fmt::to_string(*p.sm_count) : "-",
               p.confirmed ? "" : "?", sources.mark(p.source)});
  }
  return "\n" + table.text(2);
}

std::string notes_text(const Gpu& gpu) {
  std::string out;
  const auto add = [&](std::string_view what, std::string_view text) {
    if (!text.empty()) out += "  " + wrapped(fmt::format("{}{}", what, text), kWidth, 4, 2) + "\n";
  };
  add("", gpu.note);
  for_each_figure(
      [&](const FigureSpec& spec, auto) { add(fmt::format("{}: ", spec.label), source_of(gpu, spec.key).note); });
  return out.empty() ? out : "\nNotes\n" + out;
}

bool has_unconfirmed(const Gpu& gpu) {
  const auto open = [](const auto& entry) { return !entry.confirmed; };
  return std::any_of(gpu.sources.begin(), gpu.sources.end(), open) ||
         std::any_of(gpu.mig_profiles.begin(), gpu.mig_profiles.end(), open);
}

Json mig_json(const MigProfile& p) {
  Json out{{"profile", p.name}, {"compute_slices", p.compute_slices}, {"memory_slices", p.memory_slices}};
  out["max_instances"] = p.max_instances;
  out["memory_mib"] = p.memory ? json_number(p.memory->value() / kMib) : Json();
  out["sm_count"] = p.sm_count ? Json(*p.sm_count) : Json();
  out["source"] = p.source;
  out["confirmed"] = p.confirmed;
  return out;
}

// Through the text, so that 9.7 TFLOP/s comes out as it was written and not as the nearest double of 9.7e12 / 1e12.
template <typename T>
Json figure_json(const FigureSpec& spec, const T& figure) {
  const auto text = figure_text(spec, figure);
  if constexpr (kIsText<T>) {
    return *text;
  } else {
    return json_number(std::stod(*text));
  }
}

Json gpu_json(const Gpu& gpu) {
  Json out{{"id", gpu.id}, {"name", gpu.name}, {"vendor", gpu.vendor}, {"architecture", gpu.architecture}};
  out["aliases"] = gpu.aliases;
  out["note"] = gpu.note.empty() ? Json() : Json(gpu.note);
  Json figures = Json::object();
  Json sources = Json::object();
  Json notes = Json::object();
  Json unconfirmed = Json::array();
  for_each_figure([&](const FigureSpec& spec, auto member) {
    if (!figure_text(spec, gpu.*member)) return;
    const std::string key(spec.key);
    const FigureSource& source = source_of(gpu, spec.key);
    figures[key] = figure_json(spec, gpu.*member);
    sources[key] = source.source;
    if (!source.note.empty()) notes[key] = source.note;
    if (!source.confirmed) unconfirmed.push_back(key);
  });
  out["figures"] = std::move(figures);
  out["sources"] = std::move(sources);
  out["notes"] = std::move(notes);
  out["unconfirmed"] = std::move(unconfirmed);
  out["mig"] = Json::array();
  for (const MigProfile& profile : gpu.mig_profiles) out["mig"].push_back(mig_json(profile));
  return out;
}

}  // namespace

std::string gpu_list_text(Gpus gpus) {
  Table table({{"id", Table::Align::kLeft, 26},
               {"architecture", Table::Align::kLeft, 12},
               {"SMs", kRight},
               {"GB", kRight},
               {"GB/s", kRight},
               {"fp32", kRight},
               {"fp16", kRight},
               {"W", kRight},
               {"MIG"}});
  for (const Gpu* gpu : gpus) {
    table.add({std::string(gpu->id), std::string(gpu->architecture), fmt::to_string(gpu->sm_count),
               plain(gpu->memory.value() / 1e9), plain(gpu->memory_bandwidth.value() / 1e9),
               or_dash(gpu->fp32_peak, 1e12), or_dash(gpu->fp16_peak, 1e12), plain(gpu->power_limit.value()),
               gpu->mig_profiles.empty() ? "" : "yes"});
  }
  return table.text();
}

std::string gpu_text(const Gpu& gpu) {
  Footnotes sources;
  std::string out = fmt::format("{}\n  id            {}\n  vendor        {}\n  architecture  {}\n", gpu.name, gpu.id,
                                gpu.vendor, gpu.architecture);
  if (!gpu.aliases.empty()) {
    constexpr std::size_t kIndent = 16;
    out +=
        "  also called   " + wrapped(fmt::format("{}", fmt::join(gpu.aliases, ", ")), kWidth, kIndent, kIndent) + "\n";
  }
  out += "\n" + figures_text(gpu, sources);
  out += mig_text(gpu, sources);
  if (has_unconfirmed(gpu)) out += "\n  ? not yet compared with a document\n";
  out += notes_text(gpu);
  return out + "\nSources\n" + sources.text();
}

std::string gpus_json(Gpus gpus) {
  Json out{{"schema", "joulecast.gpus/1"}, {"gpus", Json::array()}};
  for (const Gpu* gpu : gpus) out["gpus"].push_back(gpu_json(*gpu));
  return json_text(out);
}

std::string gpus_csv(Gpus gpus) {
  std::string out = "id,name,vendor,architecture";
  for_each_figure([&](const FigureSpec& spec, auto) { out += fmt::format(",{}", spec.key); });
  out += "\r\n";
  for (const Gpu* gpu : gpus) {
    out +=
        fmt::format("{},{},{},{}", gpu->id, csv_field(gpu->name), csv_field(gpu->vendor), csv_field(gpu->architecture));
    for_each_figure([&](const FigureSpec& spec, auto member) {
      out += "," + csv_field(figure_text(spec, gpu->*member).value_or(""));
    });
    out += "\r\n";
  }
  return out;
}

std::string gpus_markdown(Gpus gpus) {
  Table table({{"GPU"},
               {"id"},
               {"architecture"},
               {"SMs", kRight},
               {"memory (GB)", kRight},
               {"bandwidth (GB/s)", kRight},
               {"fp32 (TFLOP/s)", kRight},
               {"fp16 (TFLOP/s)", kRight},
               {"power limit (W)", kRight},
               {"MIG profiles", kRight},
               {"also called"}});
  for (const Gpu* gpu : gpus) {
    table.add({std::string(gpu->name), fmt::format("`{}`", gpu->id), std::string(gpu->architecture),
               fmt::to_string(gpu->sm_count), plain(gpu->memory.value() / 1e9),
               plain(gpu->memory_bandwidth.value() / 1e9), or_dash(gpu->fp32_peak, 1e12), or_dash(gpu->fp16_peak, 1e12),
               plain(gpu->power_limit.value()),
               gpu->mig_profiles.empty() ? "" : fmt::to_string(gpu->mig_profiles.size()),
               fmt::format("{}", fmt::join(gpu->aliases, ", "))});
  }
  return table.markdown();
}

}  // namespace joulecast::cli

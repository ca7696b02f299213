// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/lower_case.h"
#include "base/mapped_file.h"
#include "gpu/figures.h"
#include "gpu/names.h"

// Header-only: the shared library would be loaded by every run of the program.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
// Our files nest two values deep. toml++ 3.3 has no limit on the parts of a dotted key and frees tables recursively, so
// this and kMaxLineBytes together bound the depth that a hostile file can reach.
#define TOML_MAX_NESTED_VALUES 4
// toml++ 3.3 asserts what a file can make false ("[#" does), and with NDEBUG takes it for granted, which is worse.
// So its assertions become exceptions here, in every build.
namespace {
struct TomlAssertion {};
}  // namespace
#undef NDEBUG
#define TOML_ASSERT(condition) \
  do {                         \
    if (!(condition)) {        \
      throw TomlAssertion{};   \
    }                          \
  } while (false)
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wterminate"  // some assertions are in noexcept functions; the fuzzer reaches none
#endif
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace joulecast {
namespace {

constexpr std::size_t kMaxLineBytes = 2048;

using ReadText = Result<std::string_view>;

tl::unexpected<Error> at_line(std::size_t line, std::string_view what) {
  return invalid(fmt::format("line {}: {}", line, what));
}

tl::unexpected<Error> fault(const toml::node& node, std::string_view key, std::string_view what) {
  return invalid(fmt::format("line {}: {}: {}", node.source().begin.line, key, what));
}

std::string path_of(std::string_view table, std::string_view key) {
  return table.empty() ? std::string(key) : fmt::format("{}.{}", table, key);
}

// A key that somebody else wrote, fit to print in one line.
std::string shown(std::string_view key, std::size_t length = kMaxNameLength) {
  std::string out(key.substr(0, length));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return out;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

// Lower-case words of letters and digits joined by '-'.
bool is_id(std::string_view id) {
  const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (id.empty() || id.size() > kMaxNameLength || !word(id.front()) || !word(id.back())) return false;
  return std::all_of(id.begin(), id.end(), [&](char c) { return word(c) || c == '-'; }) &&
         id.find("--") == std::string_view::npos;
}

// One table of the file, and where in the file it is.
struct Section {
  const toml::table& table;
  std::string path;  // empty at the top

  [[nodiscard]] std::string key(std::string_view name) const { return path_of(path, name); }
  [[nodiscard]] const toml::node* get(std::string_view name) const { return table.get(name); }
};

class Reader {
 public:
  Reader(const toml::table& root, GpuFile& out) : root_{root, ""}, out_(out) {}

  Result<void> read() {
    JC_RETURN_IF_ERROR(head());
    JC_RETURN_IF_ERROR(figures());
    JC_RETURN_IF_ERROR(agreement());
    JC_RETURN_IF_ERROR(sources());
    JC_RETURN_IF_ERROR(mig());
    out_.gpu.aliases = out_.aliases;
    out_.gpu.mig_profiles = out_.mig_profiles;
    out_.gpu.sources = out_.sources;
    return {};
  }

 private:
  Result<void> only(const Section& section, std::initializer_list<std::string_view> known) {
    for (const auto& [key, node] : section.table) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        return fault(node, section.key(shown(key.str())), "unknown key");
      }
    }
    return {};
  }

  // The text lives as long as the GpuFile.
  std::string_view keep(std::string_view text) { return out_.texts.emplace_back(text); }

  ReadText text_of(const toml::node& node, std::string_view key) {
    const auto* text = node.as_string();
    if (text == nullptr) return fault(node, key, "expected text");
    if (text->get().empty()) return fault(node, key, "is empty");
    if (has_control_character(text->get())) return fault(node, key, "holds a control character");
    return keep(text->get());
  }

  ReadText text(const Section& section, std::string_view key) {
    const toml::node* node = section.get(key);
    if (node == nullptr) return fault(section.table, section.key(key), "missing");
    return text_of(*node, section.key(key));
  }

  Result<Section> table(std::string_view key) {
    const toml::node* node = root_.get(key);
    static const toml::table kNone;
    if (node == nullptr) return Section{kNone, std::string(key)};
    const toml::table* found = node->as_table();
    if (found == nullptr) return fault(*node, key, "expected a table");
    return Section{*found, std::string(key)};
  }

  Result<std::vector<std::string_view>> list(const Section& section, std::string_view key) {
    std::vector<std::string_view> out;
    const toml::node* node = section.get(key);
    if (node == nullptr) return out;
    const toml::array* entries = node->as_array();
    if (entries == nullptr) return fault(*node, section.key(key), "expected a list of names");
    for (const toml::node& entry : *entries) {
      JC_ASSIGN_OR_RETURN(const std::string_view name, text_of(entry, section.key(key)));
      out.push_back(name);
    }
    return out;
  }

  Result<void> head() {
    JC_ASSIGN_OR_RETURN(const std::string_view schema, text(root_, "schema"));
    if (schema != kGpuSchema) {
      return fault(*root_.get("schema"), "schema",
                   fmt::format("expected \"{}\", found \"{}\"", kGpuSchema, shown(schema)));
    }
    JC_RETURN_IF_ERROR(only(root_, {"schema", "id", "name", "vendor", "architecture", "aliases", "unconfirmed",
                                    "figures", "sources", "notes", "mig"}));
    for (auto [key, member] : {std::pair{"id", &Gpu::id}, std::pair{"name", &Gpu::name},
                               std::pair{"vendor", &Gpu::vendor}, std::pair{"architecture", &Gpu::architecture}}) {
      JC_ASSIGN_OR_RETURN(out_.gpu.*member, text(root_, key));
    }
    for (const std::string_view vendor : {"NVIDIA", "AMD"}) {  // whose laws are known
      if (lower_case(out_.gpu.vendor) == lower_case(vendor)) out_.gpu.vendor = vendor;
    }
    if (!is_id(out_.gpu.id)) {
      return fault(*root_.get("id"), "id",
                   fmt::format("expected lower-case words joined by '-', at most {} letters", kMaxNameLength));
    }
    JC_ASSIGN_OR_RETURN(out_.aliases, list(root_, "aliases"));
    return {};
  }

  Result<void> figures() {
    JC_ASSIGN_OR_RETURN(const Section section, table("figures"));
    JC_RETURN_IF_ERROR(known_figures(section));
    Result<void> status;
    for_each_figure([&](const FigureSpec& spec, auto member) {
      if (status) status = figure(section, spec, out_.gpu.*member);
    });
    return status;
  }

  // Figures that contradict each other are slips of one of them.
  Result<void> agreement() {
    JC_ASSIGN_OR_RETURN(const Section section, table("figures"));
    const Gpu& gpu = out_.gpu;
    JC_RETURN_IF_ERROR(in_order(section, "min_power_limit_w", gpu.min_power_limit, "power_limit_w", gpu.power_limit));
    JC_RETURN_IF_ERROR(in_order(section, "power_limit_w", gpu.power_limit, "max_power_limit_w", gpu.max_power_limit));
    JC_RETURN_IF_ERROR(in_order(section, "idle_power_w", gpu.idle_power, "power_limit_w", gpu.power_limit));
    JC_RETURN_IF_ERROR(in_order(section, "base_clock_mhz", gpu.base_clock, "boost_clock_mhz", gpu.boost_clock));
    JC_RETURN_IF_ERROR(in_order(section, "fp32_tflops", gpu.fp32_peak, "tf32_tflops", gpu.tf32_peak));
    JC_RETURN_IF_ERROR(lanes_agree(section));
    return capability(section);
  }

  // "8.9": major and minor revision.
  Result<void> capability(const Section& section) const {
    const std::string_view text = out_.gpu.compute_capability;
    const auto all_digits = [](std::string_view s) {
      return !s.empty() && s.size() <= 2 &&
             std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    const std::size_t dot = text.find('.');
    if (text.empty() || (dot != text.npos && all_digits(text.substr(0, dot)) && all_digits(text.substr(dot + 1))))
      return {};
    return fault(*section.get("compute_capability"), section.key("compute_capability"),
                 fmt::format("expected MAJOR.MINOR like \"8.9\", found \"{}\"", shown(text)));
  }

  template <typename Low, typename High>
  static Result<void> in_order(const Section& section, const char* low_key, const Low& low, const char* high_key,
                               const High& high) {
    if (section.get(low_key) == nullptr || section.get(high_key) == nullptr) return {};
    if (std::optional(low) <= std::optional(high)) return {};
    return fault(*section.get(low_key), section.key(low_key), fmt::format("is above {}", high_key));
  }

  // A lane multiplies and adds once a cycle, where two instructions are issued together twice.
  Result<void> lanes_agree(const Section& section) const {
    const Gpu& gpu = out_.gpu;
    constexpr double kLeast = 0.5, kMost = 2.5;  // boost clocks are what the vendor says
    if (!gpu.fp32_peak || !gpu.cuda_core_count || !gpu.boost_clock) return {};
    const double by_lanes = 2.0 * *gpu.cuda_core_count * gpu.boost_clock->value();
    const double off = gpu.fp32_peak->value() / by_lanes;
    if (off > kLeast && off < kMost) return {};
    return fault(*section.get("fp32_tflops"), section.key("fp32_tflops"),
                 fmt::format("is {:.2g} times what cuda_core_count lanes do at boost_clock_mhz", off));
  }

  // Every key of the table must be a figure (or `extra`).
  Result<void> known_figures(const Section& section, std::string_view extra = {}) {
    for (const auto& [toml_key, node] : section.table) {
      const std::string_view key = toml_key.str();
      bool known = !extra.empty() && key == extra;
      for_each_figure([&](const FigureSpec& spec, auto) { known = known || spec.key == key; });
      if (!known) return fault(node, section.key(shown(key)), unknown_figure(key));
    }
    return {};
  }

  static std::string unknown_figure(std::string_view key) {
    std::vector<std::string_view> keys;
    for_each_figure([&](const FigureSpec& spec, auto) { keys.push_back(spec.key); });
    const std::string_view best = nearest_name(key, keys);
    return best.empty() ? "unknown figure" : fmt::format("unknown figure; did you mean {}?", best);
  }

  template <typename T>
  Result<void> figure(const Section& section, const FigureSpec& spec, T& out) {
    const toml::node* node = section.get(spec.key);
    if (node == nullptr) {
      if (spec.need == Need::kRequired) return fault(section.table, section.key(spec.key), "missing");
      return {};
    }
    return value(*node, section.key(spec.key), spec, out);
  }

  Result<void> value(const toml::node& node, const std::string& key, const FigureSpec&, std::string_view& out) {
    JC_ASSIGN_OR_RETURN(out, text_of(node, key));
    return {};
  }

  template <typename T>
  Result<void> value(const toml::node& node, const std::string& key, const FigureSpec& spec, T& out) {
    using Plain = typename FigureTraits<T>::Plain;
    if constexpr (std::is_same_v<Plain, int>) {
      if (!node.is_integer()) return fault(node, key, "expected an integer");
      JC_ASSIGN_OR_RETURN(const double number, in_range(node, key, spec));
      out = static_cast<int>(number);
    } else {
      if (!node.is_number()) return fault(node, key, "expected a number");
      JC_ASSIGN_OR_RETURN(const double number, in_range(node, key, spec));
      out = Plain{number * spec.scale};
    }
    return {};
  }

  // Requires: node.is_number().
  static Result<double> in_range(const toml::node& node, const std::string& key, const FigureSpec& spec) {
    const double number =
        node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.as_floating_point()->get();
    if (number >= spec.least && number <= spec.greatest) return number;
    return fault(node, key, fmt::format("{} is outside {} to {}", number, spec.least, spec.greatest));
  }

  Result<void> sources() {
    JC_ASSIGN_OR_RETURN(const Section section, table("sources"));
    JC_ASSIGN_OR_RETURN(const Section notes, table("notes"));
    JC_ASSIGN_OR_RETURN(const Section given, table("figures"));
    JC_RETURN_IF_ERROR(known_figures(section, "default"));
    JC_RETURN_IF_ERROR(known_figures(notes, "general"));
    JC_ASSIGN_OR_RETURN(const std::vector<std::string_view> unconfirmed, list(root_, "unconfirmed"));
    for (const std::string_view key : unconfirmed) {
      if (given.get(key) == nullptr)
        return fault(*root_.get("unconfirmed"), "unconfirmed", fmt::format("'{}' is no figure of this file", key));
    }
    Result<void> status;
    for_each_figure([&](const FigureSpec& spec, auto) {
      if (status) status = source(spec.key, given, section, notes, unconfirmed);
    });
    JC_RETURN_IF_ERROR(status);
    return optional_text(notes, "general", out_.gpu.note);
  }

  Result<void> source(std::string_view key, const Section& given, const Section& section, const Section& notes,
                      const std::vector<std::string_view>& unconfirmed) {
    for (const Section* other : {&section, &notes}) {
      if (given.get(key) == nullptr && other->get(key) != nullptr) {
        return fault(*other->get(key), other->key(key), "there is no such figure in this file");
      }
    }
    if (given.get(key) == nullptr) return {};
    const bool own = section.get(key) != nullptr;
    if (!own && section.get("default") == nullptr) {
      return fault(*given.get(key), given.key(key),
                   fmt::format("has no source; write sources.{} or sources.default", key));
    }
    FigureSource& out = out_.sources.emplace_back();
    out.figure = keep(key);
    out.confirmed = std::find(unconfirmed.begin(), unconfirmed.end(), key) == unconfirmed.end();
    JC_ASSIGN_OR_RETURN(out.source, text(section, own ? key : "default"));
    return optional_text(notes, key, out.note);
  }

  Result<void> optional_text(const Section& section, std::string_view key, std::string_view& out) {
    if (section.get(key) == nullptr) return {};
    JC_ASSIGN_OR_RETURN(out, text(section, key));
    return {};
  }

  Result<void> mig() {
    const toml::node* node = root_.get("mig");
    if (node == nullptr) return {};
    const toml::array* profiles = node->as_array();
    if (profiles == nullptr) return fault(*node, "mig", "expected [[mig]] tables");
    for (const toml::node& profile : *profiles) {
      if (!profile.is_table()) return fault(profile, "mig", "expected [[mig]] tables");
      JC_RETURN_IF_ERROR(mig_profile({*profile.as_table(), "mig"}));
    }
    const auto size = [](const MigProfile& p) { return std::pair{p.compute_slices, p.memory_slices}; };
    std::stable_sort(out_.mig_profiles.begin(), out_.mig_profiles.end(),
                     [&](const MigProfile& a, const MigProfile& b) { return size(a) < size(b); });
    return {};
  }

  Result<void> mig_profile(const Section& section) {
    JC_RETURN_IF_ERROR(only(section, {"profile", "compute_slices", "memory_slices", "memory_mib", "sm_count",
                                      "max_instances", "source", "unconfirmed"}));
    MigProfile& out = out_.mig_profiles.emplace_back();
    constexpr Need must = Need::kRequired;
    JC_ASSIGN_OR_RETURN(out.name, text(section, "profile"));
    JC_ASSIGN_OR_RETURN(out.source, text(section, "source"));
    JC_RETURN_IF_ERROR(figure(section, {"compute_slices", "", "", 1, 1, 7, must}, out.compute_slices));
    JC_RETURN_IF_ERROR(figure(section, {"memory_slices", "", "", 1, 1, 8, must}, out.memory_slices));
    JC_RETURN_IF_ERROR(figure(section, {"max_instances", "", "", 1, 1, 7, must}, out.max_instances));
    JC_RETURN_IF_ERROR(figure(section, {"memory_mib", "", "", kMib, 1, 1'000'000}, out.memory));
    JC_RETURN_IF_ERROR(figure(section, {"sm_count", "", "", 1, 1, 1000}, out.sm_count));
    JC_ASSIGN_OR_RETURN(const std::vector<std::string_view> unconfirmed, list(section, "unconfirmed"));
    out.confirmed = unconfirmed.empty();
    return {};
  }

  Section root_;
  GpuFile& out_;
};

// toml++ 3.3 reaches __builtin_unreachable() for some letters outside ASCII (U+0400 where a space may stand).
bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

Result<void> check_bounds(std::string_view text) {
  if (text.size() > kMaxGpuFileBytes) {
    return invalid(fmt::format("has {} bytes; a GPU file has at most {}", text.size(), kMaxGpuFileBytes));
  }
  std::size_t line = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > kMaxLineBytes) return at_line(line, fmt::format("longer than {} bytes", kMaxLineBytes));
    if (!is_ascii(text.substr(0, end))) return at_line(line, "only ASCII characters may stand in a GPU file");
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
  }
  return {};
}

Result<toml::table> parse_toml(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return at_line(error.source().begin.line, shown(error.description(), kMaxLineBytes));
  } catch (const TomlAssertion&) {
    return invalid("is no TOML");
  }
}

}  // namespace

Result<std::shared_ptr<const GpuFile>> parse_gpu(std::string_view text) {
  JC_RETURN_IF_ERROR(check_bounds(text));
  JC_ASSIGN_OR_RETURN(const toml::table root, parse_toml(text));
  auto out = std::make_shared<GpuFile>();
  JC_RETURN_IF_ERROR(Reader(root, *out).read());
  return out;
}

Result<std::shared_ptr<const GpuFile>> load_gpu(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  auto gpu = parse_gpu(file.text());
  if (!gpu) return tl::unexpected(std::move(gpu).error().in(path));
  return gpu;
}

}  // namespace joulecast

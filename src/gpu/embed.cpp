// SPDX-License-Identifier: Apache-2.0
// Build tool: turns GPU files into C++ constants, through the reader that user files go through.
//
//   joulecast_embed_gpus OUT.cpp a10.toml a100-sxm4-40gb.toml ...
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gpu/figures.h"
#include "gpu/gpu_file.h"
#include "gpu/names.h"

namespace joulecast {
namespace {

using Files = std::vector<std::shared_ptr<const GpuFile>>;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"sv";
}

// As hexadecimal, so that the very same double comes back.
std::string number(double value) {
  return fmt::format("{:a}", value);
}

void emit_text(std::string& out, std::string_view member, std::string_view text) {
  if (!text.empty()) out += fmt::format("  gpu.{} = {};\n", member, quoted(text));
}

// The name of the member is not known here, only its address: each figure is set through its index.
void emit_figures(std::string& out, const Gpu& gpu) {
  std::size_t index = 0;
  for_each_figure([&](const FigureSpec&, auto member) {
    const auto& figure = gpu.*member;
    if constexpr (kIsText<std::remove_cvref_t<decltype(figure)>>) {
      if (!figure.empty()) out += fmt::format("  set_text(gpu, {}, {});\n", index, quoted(figure));
    } else if (const auto value = figure_value(figure)) {
      out += fmt::format("  set_number(gpu, {}, {});\n", index, number(*value));
    }
    ++index;
  });
}

std::string optional(const std::optional<std::string>& text) {
  return text ? *text : "std::nullopt";
}

std::string emit_lists(std::size_t i, const Gpu& gpu) {
  std::string out;
  if (!gpu.aliases.empty()) {
    out += fmt::format("constexpr std::string_view kAliases{}[] = {{", i);
    for (const std::string_view alias : gpu.aliases) out += quoted(alias) + ", ";
    out += "};\n";
  }
  out += fmt::format("constexpr FigureSource kSources{}[] = {{\n", i);
  for (const FigureSource& s : gpu.sources) {
    out += fmt::format("    {{{}, {}, {}, {}}},\n", quoted(s.figure), quoted(s.source), quoted(s.note), s.confirmed);
  }
  out += "};\n";
  if (gpu.mig_profiles.empty()) return out;
  out += fmt::format("constexpr MigProfile kMig{}[] = {{\n", i);
  for (const MigProfile& p : gpu.mig_profiles) {
    const auto memory = p.memory ? std::optional(fmt::format("Bytes{{{}}}", number(p.memory->value()))) : std::nullopt;
    const auto sms = p.sm_count ? std::optional(fmt::to_string(*p.sm_count)) : std::nullopt;
    out += fmt::format("    {{{}, {}, {}, {}, {}, {}, {}, {}}},\n", quoted(p.name), p.compute_slices, p.memory_slices,
                       p.max_instances, optional(memory), optional(sms), quoted(p.source), p.confirmed);
  }
  return out + "};\n";
}

std::string emit_gpu(std::size_t i, const Gpu& gpu) {
  std::string out = emit_lists(i, gpu);
  out += fmt::format("constexpr Gpu make{}() {{\n  Gpu gpu;\n", i);
  emit_text(out, "id", gpu.id);
  emit_text(out, "name", gpu.name);
  emit_text(out, "vendor", gpu.vendor);
  emit_text(out, "architecture", gpu.architecture);
  emit_text(out, "note", gpu.note);
  emit_figures(out, gpu);
  if (!gpu.aliases.empty()) out += fmt::format("  gpu.aliases = kAliases{};\n", i);
  out += fmt::format("  gpu.sources = kSources{};\n", i);
  if (!gpu.mig_profiles.empty()) out += fmt::format("  gpu.mig_profiles = kMig{};\n", i);
  return out + "  return gpu;\n}\n\n";
}

// Every name in normal form -> GPU. Fails where two GPUs claim one.
Result<std::map<std::string, std::size_t>> all_names(const Files& files) {
  std::map<std::string, std::size_t> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Gpu& gpu = files[i]->gpu;
    std::vector<std::string_view> own{gpu.id, gpu.name};
    own.insert(own.end(), gpu.aliases.begin(), gpu.aliases.end());
    for (const std::string_view name : own) {
      const auto [at, added] = names.emplace(normal_form(name), i);
      if (at->second != i) {
        return invalid(fmt::format("'{}' names both {} and {}", name, files[at->second]->gpu.id, gpu.id));
      }
    }
  }
  return names;
}

Result<std::string> emit(const Files& files) {
  JC_ASSIGN_OR_RETURN(const auto names, all_names(files));
  std::string out =
      "// Made by joulecast_embed_gpus from data/gpus. Do not edit.\n"
      "#include \"gpu/shipped.h\"\n#include \"gpu/shipped_setters.h\"\n\n"
      "namespace joulecast {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n";
  for (std::size_t i = 0; i < files.size(); ++i) out += emit_gpu(i, files[i]->gpu);
  out += "constexpr Gpu kGpus[] = {\n";
  for (std::size_t i = 0; i < files.size(); ++i) out += fmt::format("    make{}(),\n", i);
  out += "};\n\nconstexpr NameEntry kNames[] = {\n";
  for (const auto& [name, i] : names) out += fmt::format("    {{{}, {}}},\n", quoted(name), i);
  return out +
         "};\n\n}  // namespace\n\nstd::span<const Gpu> shipped_gpus() {\n  return kGpus;\n}\n"
         "std::span<const NameEntry> shipped_names() {\n  return kNames;\n}\n\n}  // namespace joulecast\n";
}

Result<void> embed(const std::string& out_path, const std::vector<std::string>& paths) {
  Files files;
  for (const std::string& path : paths) {
    JC_ASSIGN_OR_RETURN(files.emplace_back(), load_gpu(path));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a->gpu.id < b->gpu.id; });
  JC_ASSIGN_OR_RETURN(const std::string text, emit(files));
  std::ofstream out(out_path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return io_error(out_path + ": could not be written");
  return {};
}

}  // namespace
}  // namespace joulecast

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: joulecast_embed_gpus OUT.cpp FILE.toml...\n");
    return 2;
  }
  const auto done = joulecast::embed(argv[1], std::vector<std::string>(argv + 2, argv + argc));
  if (!done) fmt::print(stderr, "joulecast_embed_gpus: {}\n", done.error().text());
  return done ? 0 : 1;
}

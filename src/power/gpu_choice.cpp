// SPDX-License-Identifier: Apache-2.0
#include "power/gpu_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/lower_case.h"

namespace joulecast {
namespace {

std::vector<std::string_view> entries(std::string_view list) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t comma = list.find(',');
    std::string_view entry = list.substr(0, comma);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    out.push_back(entry);
    if (comma == std::string_view::npos) return out;
    list.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0000:07:00.0" and "07:00.0" for "00000000:07:00.0".
bool is_pci(std::string_view entry, const GpuIdentity& gpu) {
  const std::string own = lower_case(gpu.pci);
  const std::string asked = lower_case(entry);
  return asked.find(':') != std::string::npos && own.ends_with(asked) &&
         (own.size() == asked.size() || own[own.size() - asked.size() - 1] == ':' ||
          own.find_first_not_of('0') >= own.size() - asked.size());
}

struct Match {
  std::size_t gpu = 0;
  std::string mig;  // empty: the whole GPU
  bool operator==(const Match&) const = default;
};

std::vector<Match> matches(std::string_view entry, const std::vector<GpuIdentity>& gpus) {
  std::vector<Match> out;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const bool begins = entry.starts_with("GPU-") && gpus[i].uuid.starts_with(entry);
    if (begins || is_pci(entry, gpus[i])) out.push_back({i, {}});
    for (const std::string& mig : gpus[i].mig) {
      if (entry.starts_with("MIG-") && mig.starts_with(entry)) out.push_back({i, mig});
    }
  }
  if (const auto index = whole_number(entry); index && *index < gpus.size()) out.push_back({*index, {}});
  return out;
}

void add(GpuChoice& choice, const Match& match) {
  choice.gpus.push_back(match.gpu);
  if (!match.mig.empty()) choice.mig.push_back(match.mig);
}

void settle(GpuChoice& choice) {
  std::sort(choice.gpus.begin(), choice.gpus.end());
  choice.gpus.erase(std::unique(choice.gpus.begin(), choice.gpus.end()), choice.gpus.end());
  if (!choice.mig.empty()) {
    choice.doubts.emplace_back(
        "power and energy are those of the whole GPU: no driver gives them for a MIG device, and whatever runs on the "
        "others is in them");
  }
}

GpuChoice everything(const std::vector<GpuIdentity>& gpus) {
  GpuChoice choice;
  for (std::size_t i = 0; i < gpus.size(); ++i) choice.gpus.push_back(i);
  choice.reason = gpus.size() == 1 ? "the only GPU" : "all GPUs";
  return choice;
}

Result<GpuChoice> asked_for(const std::vector<GpuIdentity>& gpus, std::string_view list) {
  if (list == "all") return everything(gpus);
  GpuChoice choice;
  choice.reason = fmt::format("--gpu {}", list);
  for (const std::string_view entry : entries(list)) {
    if (entry == "all") {
      for (std::size_t i = 0; i < gpus.size(); ++i) add(choice, {i, {}});
      continue;
    }
    const std::vector<Match> found = matches(entry, gpus);
    if (found.empty()) {
      return invalid(
          fmt::format("--gpu: there is no GPU '{}' here; {}", entry,
                      gpus.empty() ? "there is none at all" : fmt::format("indices go from 0 to {}", gpus.size() - 1)));
    }
    if (found.size() > 1)
      return invalid(fmt::format("--gpu: '{}' is the beginning of {} GPUs' ids", entry, found.size()));
    add(choice, found.front());
  }
  settle(choice);
  return choice;
}

// Of a list in CUDA_VISIBLE_DEVICES: its first entry says what all of them are. Empty: numbers.
std::string_view prefix_of(std::string_view list) {
  for (const std::string_view prefix : {"GPU-", "MIG-"}) {
    if (list.starts_with(prefix)) return prefix;
  }
  return {};
}

// As strtoul reads it: "1gpu2" begins with 1. Absent for what begins with no number, and for negative ones.
std::optional<std::size_t> number_at_begin(std::string_view entry) {
  if (entry.starts_with('+')) entry.remove_prefix(1);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

bool all_alike(const std::vector<GpuIdentity>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](const GpuIdentity& gpu) { return gpu.name == gpus.front().name; });
}

std::optional<Match> one_visible(std::string_view entry, std::string_view prefix,
                                 const std::vector<GpuIdentity>& gpus) {
  if (prefix.empty()) {
    const auto index = number_at_begin(entry);
    return index && *index < gpus.size() ? std::optional(Match{*index, {}}) : std::nullopt;
  }
  if (!entry.starts_with(prefix)) return std::nullopt;
  std::vector<Match> found = matches(entry, gpus);
  return found.size() == 1 ? std::optional(std::move(found.front())) : std::nullopt;
}

// In CUDA's order, as the program sees them. CUDA stops at the first entry that names nothing, and shows nothing at all
// where one GPU is named twice (torch.cuda's reader of the variable, which follows the driver's).
std::vector<Match> visible(const std::vector<GpuIdentity>& gpus, std::string_view list, GpuChoice& choice) {
  std::vector<Match> out;
  const std::string_view prefix = prefix_of(list);
  for (const std::string_view entry : entries(list)) {
    const auto found = one_visible(entry, prefix, gpus);
    if (!found) {
      if (!list.empty()) {
        choice.doubts.push_back(
            fmt::format("CUDA_VISIBLE_DEVICES ends, for CUDA, before '{}': it names no single GPU", entry));
      }
      break;
    }
    const bool twice = std::any_of(out.begin(), out.end(), [&](const Match& before) { return before == *found; });
    if (twice) {
      choice.doubts.push_back(
          fmt::format("CUDA_VISIBLE_DEVICES names '{}' twice: CUDA shows no GPU at all then", entry));
      return {};
    }
    out.push_back(*found);
  }
  return out;
}

std::vector<Match> whole(const std::vector<GpuIdentity>& gpus) {
  std::vector<Match> out(gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) out[i].gpu = i;
  return out;
}

// A rank that is alone on its machine is as free to use every GPU as a program without ranks.
bool take_own_of_rank(const Environment& environment, std::vector<Match>& seen, GpuChoice& choice) {
  const auto rank = local_rank(environment);
  if (!rank || seen.size() < 2 || rank->size == 1U) return false;
  const std::size_t ranks = std::max(rank->size.value_or(0), rank->local + 1);
  if (ranks > seen.size()) {
    choice.doubts.push_back(fmt::format(
        "{} ranks on this machine, and {} GPUs: ranks share them, and this one is taken to use number {} of "
        "those it sees; what the others draw there is in it; --gpu says otherwise",
        ranks, seen.size(), rank->local % seen.size()));
  } else if (rank->size && *rank->size < seen.size()) {
    choice.doubts.push_back(
        fmt::format("{} ranks on this machine, and {} GPUs: this one is taken to use one of them; --gpu says otherwise",
                    *rank->size, seen.size()));
  }
  choice.reason = fmt::format("{}={} of {}", rank->variable, rank->local, choice.reason);
  seen = {seen[rank->local % seen.size()]};
  return true;
}

}  // namespace

Result<GpuChoice> choose_gpus(const std::vector<GpuIdentity>& gpus, const std::optional<std::string>& asked,
                              const Environment& environment) {
  if (asked) return asked_for(gpus, *asked);
  GpuChoice choice = everything(gpus);
  const auto list = environment("CUDA_VISIBLE_DEVICES");
  const auto order = environment("CUDA_DEVICE_ORDER");
  std::vector<Match> seen = list ? visible(gpus, *list, choice) : whole(gpus);
  if (list) choice.reason = fmt::format("CUDA_VISIBLE_DEVICES={}", *list);
  const bool picks = take_own_of_rank(environment, seen, choice);
  const bool by_index = list ? prefix_of(*list).empty() : picks;
  if (by_index && seen.size() < gpus.size() && !all_alike(gpus) && order != "PCI_BUS_ID") {
    choice.doubts.emplace_back(
        "perhaps the wrong GPU: those here differ, CUDA numbers the fastest first, and nvidia-smi and joulecast by the "
        "bus; set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by UUID in CUDA_VISIBLE_DEVICES or --gpu");
  }
  choice.gpus.clear();
  for (const Match& match : seen) add(choice, match);
  settle(choice);
  return choice;
}

}  // namespace joulecast

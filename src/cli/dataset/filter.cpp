// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/dataset/commands.h"
#include "dataset/cautions.h"

namespace joulecast::cli {
namespace {

Outcome add_readings(const std::vector<std::string>& words, RowFilter& filter) {
  constexpr std::pair<std::string_view, Column> kReadings[] = {
      {"time", Column::kTime}, {"power", Column::kPower}, {"energy", Column::kEnergy}, {"memory", Column::kMemory}};
  for (const std::string& word : words) {
    const auto* found = std::find_if(std::begin(kReadings), std::end(kReadings),
                                     [&](const auto& reading) { return reading.first == word; });
    if (found == std::end(kReadings)) {
      return usage(fmt::format("--with: '{}' is none of time, power, energy, memory", word));
    }
    filter.with.push_back(found->second);
  }
  return {};
}

// The spellings in the store that mean the GPU asked for.
std::vector<std::string> spellings(const std::string& wanted, const std::vector<std::string>& stored,
                                   const Catalogue& catalogue) {
  std::vector<std::string> out;
  const auto gpu = catalogue.find(wanted);
  for (const std::string& name : stored) {
    const auto other = catalogue.find(name);
    if (name == wanted || (gpu && other && (*gpu)->id == (*other)->id)) out.push_back(name);
  }
  return out;
}

// A word that no row has chooses nothing, and was meant otherwise.
Outcome check_words(const char* option, const std::vector<std::string>& words,
                    Result<std::vector<std::string>> stored) {
  if (!stored) return tl::unexpected<Failure>(stored.error());
  for (const std::string& word : words) {
    if (std::find(stored->begin(), stored->end(), word) != stored->end()) continue;
    return tl::unexpected<Failure>(
        Failure{{ErrorCode::kNotFound, fmt::format("{}: no row has '{}'", option, printable(word))},
                fmt::format("the store has {}", fmt::join(*stored, ", "))});
  }
  return {};
}

Outcome check_words(const RowFilter& filter, Store& store) {
  JC_RETURN_IF_FAILURE(check_words("--layout", filter.layouts, store.layouts()));
  JC_RETURN_IF_FAILURE(check_words("--mode", filter.modes, store.modes()));
  JC_RETURN_IF_FAILURE(check_words("--precision", filter.precisions, store.precisions()));
  if (filter.without_cautions.empty()) return {};
  const auto stored = store.cautions();
  if (!stored) return tl::unexpected<Failure>(stored.error());
  for (const std::string& word : filter.without_cautions) {
    const auto has = [&](const std::string& list) { return has_caution(list, word); };
    if (find_caution(word) == nullptr && std::none_of(stored->begin(), stored->end(), has))
      return usage(fmt::format("--without: '{}' is no caution", printable(word)), "docs/formats/cautions.md has them");
  }
  return {};
}

}  // namespace

tl::expected<RowFilter, Failure> resolved_filter(const DatasetOptions& options, Store& store) {
  RowFilter out = options.filter;
  if (auto ok = add_readings(options.with, out); !ok) return tl::unexpected(std::move(ok).error());
  JC_RETURN_IF_FAILURE(check_words(out, store));
  if (out.gpus.empty()) return out;
  const auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(catalogue.error());
  const auto stored = store.gpus();
  if (!stored) return tl::unexpected<Failure>(stored.error());
  out.gpus.clear();
  for (const std::string& wanted : options.filter.gpus) {
    const auto found = spellings(wanted, *stored, *catalogue);
    if (found.empty()) {
      return tl::unexpected<Failure>(Failure{{ErrorCode::kNotFound, fmt::format("no rows of GPU '{}'", wanted)},
                                             fmt::format("the store has {}", fmt::join(*stored, ", "))});
    }
    out.gpus.insert(out.gpus.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace joulecast::cli

// SPDX-License-Identifier: Apache-2.0
#include "fit/rows.h"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <vector>

#include "base/mapped_file.h"
#include "dataset/store_place.h"
#include "joulecast/gpu.h"

namespace joulecast {
namespace {

// Rows that shall not be used.
struct LeftOut {
  std::set<std::string, std::less<>> keys;
  std::string gpu;
  [[nodiscard]] bool none() const { return keys.empty() && gpu.empty(); }
};

Result<LeftOut> left_out_by(const TrainOptions& options) {
  LeftOut out;
  if (!options.without.empty()) {
    JC_ASSIGN_OR_RETURN(const std::string text, text_of(options.without));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (!line.empty()) out.keys.insert(line);
    }
  }
  if (!options.without_gpu.empty()) {
    JC_ASSIGN_OR_RETURN(const Gpu* found, options.catalogue.find(options.without_gpu));
    out.gpu = found->id;
  }
  return out;
}

// Takes them out of the set, before anything is thinned: what is left is what would have been measured without them.
struct Left {
  std::size_t rows = 0, by_key = 0;
};
Left leave_out(const LeftOut& left_out, SampleSet& set) {
  Left out;
  for (std::vector<Sample>& samples : set.groups) {
    out.rows += std::erase_if(samples, [&](const Sample& s) {
      const bool named = left_out.keys.contains(s.key);
      if (s.gpu->id != left_out.gpu && !named) return false;
      out.by_key += named ? 1U : 0U;
      ++set.sources[s.table].left_out;
      return true;
    });
  }
  return out;
}

// What the sweeps used and refused, beside what the operations did.
void book_sweeps(Rows& rows, std::string_view without_gpu) {
  auto& sources = rows.samples.sources;
  for (const auto& [layout, used] : rows.sweeps.used) sources[layout].used += used;
  for (const auto& [layout, refused] : rows.sweeps.refused) sources[layout].refused.add(refused);
  std::erase_if(rows.sweeps.sweeps, [&](const settings::Sweep& sweep) {
    if (sweep.gpu->id != without_gpu) return false;
    sources[sweep.layout].used -= sweep.points.size();
    sources[sweep.layout].left_out += sweep.points.size();
    return true;
  });
}

}  // namespace

std::vector<std::string> refusal_lines(const Refusals& refused) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> out;
  if (refused.rows() > 0)
    out.push_back(fmt::format("{} row{} not used", refused.rows(), refused.rows() == 1 ? "" : "s"));
  const std::vector<Refusal> sorted = refused.by_frequency();
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i) out.push_back("  " + refusal_text(sorted[i]));
  if (sorted.size() > kShown) out.push_back(fmt::format("  and {} further reasons", sorted.size() - kShown));
  return out;
}

Result<Rows> read_tables(const TrainOptions& options, const Progress& progress) {
  Rows out;
  SampleSet& set = out.samples;
  for (const std::string& path : options.tables) {
    // A URL may hold a password.
    progress(is_database_url(path) ? "reading the database" : "reading " + path);
    JC_ASSIGN_OR_RETURN(const Refusals refused, add_table(path, options.layouts, options.catalogue, set));
    for (const std::string& line : refusal_lines(refused)) progress("  " + line);
  }
  JC_ASSIGN_OR_RETURN(const LeftOut left_out, left_out_by(options));
  const Left left = leave_out(left_out, set);
  if (!left_out.none()) progress(fmt::format("{} rows left out", left.rows));
  // Who leaves rows out judges by them later.
  if (!options.without.empty() && left.by_key == 0) {
    return invalid(
        fmt::format("{}: no line of it is an operation of the tables; they stand there as the column 'subject' "
                    "of evaluate --rows has them, without quotes, one a line",
                    options.without));
  }
  thin_out(set, options.stratum_rows);
  out.sweeps = set.sweeps.sweeps(options.catalogue);
  book_sweeps(out, left_out.gpu);
  return out;
}

Result<std::string> text_of(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  if (file.text().size() > kMaxTableBytes)
    return unsupported(fmt::format("{}: has {} bytes; at most {} are read", path, file.text().size(), kMaxTableBytes));
  return std::string(file.text());
}

}  // namespace joulecast

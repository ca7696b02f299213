// SPDX-License-Identifier: Apache-2.0
#include "cli/batch.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "joulecast/import.h"

namespace joulecast::cli {
namespace {

// What was found, and whether that is more than the one that was named.
struct Found {
  std::vector<std::string> models;
  bool several = false;
};

tl::expected<Found, Failure> found_in(const std::vector<std::string>& names) {
  Found out;
  for (const std::string& name : names) {
    JC_ASSIGN_OR_FAIL(const std::vector<std::string> models, find_models(name));
    out.models.insert(out.models.end(), models.begin(), models.end());
  }
  out.several = names.size() > 1 || out.models != names;
  return out;
}

void write_one(const Answer& answer, const Form& form, bool first, bool several, Output& output) {
  std::string text = form.json ? json_text(answer.json) : answer.text;
  if (form.csv && !first) text.erase(0, text.find('\n') + 1);
  if (several && !first && !form.csv) output.write("\n");
  output.write(text);
  for (const std::string& note : answer.notes) output.note(note);
}

Outcome all_failed(std::optional<Failure> last, std::size_t count) {
  if (count == 1) return tl::unexpected<Failure>(std::move(*last));
  return tl::unexpected<Failure>(
      Failure{{last->error.code(), fmt::format("none of {} models could be read", count)}, "", last->exit_code});
}

}  // namespace

Outcome answer_models(const std::vector<std::string>& names, const Form& form, Output& output, const Answerer& answer) {
  JC_ASSIGN_OR_FAIL(const Found found, found_in(names));
  Json answers = Json::array(), failed = Json::array();
  std::optional<Failure> failure;
  std::size_t good = 0;
  for (const std::string& model : found.models) {
    auto one = answer(model);
    if (!one) {
      failed.push_back({{"model", model}, {"message", one.error().error.text()}});
      if (found.several) output.note(one.error().error.text());
      failure = std::move(one).error();
      continue;
    }
    if (found.several && form.json) {
      answers.push_back(std::move(one->json));
    } else {
      write_one(*one, form, good == 0, found.several, output);
    }
    ++good;
  }
  if (good == 0) return all_failed(std::move(failure), found.models.size());
  if (found.several && form.json) {
    output.write(json_text({{"schema", "joulecast.batch/1"}, {"models", std::move(answers)}, {"failed", failed}}));
  }
  if (!failure) return {};
  return tl::unexpected<Failure>(Failure{
      {failure->error.code(), fmt::format("{} of {} models could not be read", failed.size(), found.models.size())},
      "the others are answered",
      kIncomplete});
}

}  // namespace joulecast::cli

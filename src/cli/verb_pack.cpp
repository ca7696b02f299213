// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/options.h"
#include "cli/pack_text.h"
#include "cli/verbs.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

struct PackVerb {
  std::string pack;
  Form form;
};

Outcome run_pack(const PackVerb& options, Output& output) {
  const auto path = options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack);
  if (!path) return tl::unexpected<Failure>(path.error());
  JC_ASSIGN_OR_RETURN(const Pack pack, Pack::open(*path));
  if (auto sound = pack.verify(); !sound) return tl::unexpected<Failure>(std::move(sound).error().in(*path));
  const auto text = options.form.json ? pack_json(pack) : options.form.csv ? pack_csv(pack) : pack_text(pack);
  if (!text) return tl::unexpected<Failure>(Error(text.error()).in(*path));
  output.write(*text);
  return {};
}

}  // namespace

Action define_pack(CLI::App& app) {
  auto options = std::make_shared<PackVerb>();
  app.add_option("PACK", options->pack, "predictor pack (default: the shipped one)")->type_name(kFile);
  add_form(app, options->form);
  add_examples(app, {"joulecast pack", "joulecast pack my.jcpack --json"});
  return [options](Output& output) { return run_pack(*options, output); };
}

}  // namespace joulecast::cli

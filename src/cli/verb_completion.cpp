// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/completion.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace joulecast::cli {

Action define_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  add_choice(app, "SHELL", *shell, "bash, zsh or fish", {"bash", "zsh", "fish"})->required()->option_text(" ");
  add_examples(app, {"source <(joulecast completion bash)", "source <(joulecast completion zsh)",
                     "joulecast completion fish | source"});
  return [shell](Output& output) -> Outcome {
    const auto verbs = completed_verbs();
    output.write(*shell == "bash"  ? bash_completion(verbs)
                 : *shell == "zsh" ? zsh_completion(verbs)
                                   : fish_completion(verbs));
    return {};
  };
}

}  // namespace joulecast::cli

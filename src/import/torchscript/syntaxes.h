// SPDX-License-Identifier: Apache-2.0
// What the texts of an archive say, parsed once for all that say the same: a traced module has a class for each of its
// layers, whose texts mostly differ in nothing but the numbers of names like ___torch_mangle_12.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/torchscript/syntax.h"
#include "import/zip.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

class Syntaxes {
 public:
  // Errors: those of parse(). The syntax is valid as long as this object, moved or not.
  Result<const Syntax*> add(ZipText text);

  Syntaxes() = default;
  Syntaxes(Syntaxes&&) = default;
  Syntaxes& operator=(Syntaxes&&) = delete;  // would free what the syntaxes lie in before them
  Syntaxes(const Syntaxes&) = delete;
  Syntaxes& operator=(const Syntaxes&) = delete;
  ~Syntaxes() = default;

 private:
  struct Parsed {
    std::string_view text;
    const Syntax* syntax = nullptr;
  };

  std::deque<ZipText> texts_;
  std::unique_ptr<SourceMemory> memory_ = std::make_unique<SourceMemory>();
  std::deque<Syntax> syntaxes_;
  std::unordered_map<std::string_view, std::vector<Parsed>> shared_;  // by the first line: "class Conv2d(Module):"
};

}  // namespace joulecast::torchscript

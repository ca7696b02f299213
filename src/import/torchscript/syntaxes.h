// SPDX-License-Identifier: Apache-2.0
// What the texts of an archive say, parsed once for all that say the same: a traced module has a class for each of its
// layers, whose texts mostly differ in nothing but the numbers of names like ___torch_mangle_12.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/torchscript/syntax.h"
#include "import/zip.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

class Syntaxes {
 public:
  // Of the module "__torch__.act.___torch_mangle_12". Errors: those of parse(). The syntax is valid as long as this
  // object, moved or not.
  Result<const Syntax*> add(std::string_view module, ZipText text);

  // What a member says without inflating it: a text of a module of another number, with the number changed, has its
  // size and checksum. nullptr where none has.
  [[nodiscard]] const Syntax* foreseen(std::string_view module, const ZipMember& member) const;

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
  struct Numbered {
    std::string module;
    std::string_view text;
    const Syntax* syntax = nullptr;
  };

  std::deque<ZipText> texts_;
  std::unique_ptr<SourceMemory> memory_ = std::make_unique<SourceMemory>();
  std::deque<Syntax> syntaxes_;
  std::unordered_map<std::string_view, std::vector<Parsed>> shared_;    // by the first line: "class Conv2d(Module):"
  std::map<std::string, std::vector<Numbered>, std::less<>> numbered_;  // by their name without its number
};

}  // namespace joulecast::torchscript

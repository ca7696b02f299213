// SPDX-License-Identifier: Apache-2.0
// The members of a TorchScript archive: pickles of the module's objects, and the code of its classes, parsed where it
// is first asked for. Weights are members of their own; only small integers are ever looked at.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "import/torchscript/pickle.h"
#include "import/torchscript/syntax.h"
#include "import/zip.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

// Which of the archive's pickles; their tensors lie in the folders of these names.
enum class PickleFile : std::uint8_t { kData, kConstants, kInputs };

struct ClassInFile {
  const Source* source = nullptr;
  const Class* type = nullptr;
};
struct FunctionInFile {
  const Source* source = nullptr;
  const Function* function = nullptr;
};

// Borrows the bytes it is opened on.
class Archive {
 public:
  // Errors: kUnsupported for archives without a module's data and code; those of the zip and of the pickles.
  static Result<Archive> open(std::string_view bytes);

  [[nodiscard]] const Pickle& pickle(PickleFile file) const { return pickles_[static_cast<std::size_t>(file)]; }
  // Example inputs, which traced modules have.
  [[nodiscard]] bool has_inputs() const { return has_inputs_; }

  // "__torch__.torch.nn.modules.conv.Conv2d". nullptrs where the member has no such class or function; kNotFound where
  // there is no such member.
  Result<ClassInFile> find_class(std::string_view qualified_name);
  Result<FunctionInFile> find_function(std::string_view qualified_name);

  // Of small tensors (raw_data.h) that lie in order; nothing where the archive has no bytes for them.
  [[nodiscard]] std::optional<Contents> contents(PickleFile file, const PickleTensor& tensor) const;

 private:
  explicit Archive(ZipArchive zip) : zip_(std::move(zip)) {}
  [[nodiscard]] const ZipMember* find(const std::string& name) const;
  Result<Pickle> read_pickle(std::string_view name);
  Result<const Source*> source(std::string_view module);

  ZipArchive zip_;
  std::unordered_map<std::string_view, const ZipMember*> members_;
  std::string prefix_;  // "resnet18/": the folder that all members are in
  std::deque<ZipText> texts_;
  std::map<std::string, Source, std::less<>> sources_;
  std::size_t source_bytes_ = 0;
  std::vector<Pickle> pickles_;
  bool has_inputs_ = false;
};

}  // namespace joulecast::torchscript

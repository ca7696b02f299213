// SPDX-License-Identifier: Apache-2.0
// The members of a TorchScript archive: pickles of the module's objects, and the code of its classes, parsed where it
// is first asked for. Weights are members of their own; only small integers are ever looked at.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/torchscript/pickle.h"
#include "import/torchscript/syntaxes.h"
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

  Archive(Archive&&) = default;
  Archive& operator=(Archive&&) = delete;  // its syntaxes cannot be assigned either
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() = default;

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
  struct Named {
    std::size_t hash = 0;
    std::string_view name;  // in the folder
    std::uint32_t member = 0;

    bool operator<(const Named& other) const;
  };

  explicit Archive(ZipArchive zip) : zip_(std::move(zip)) {}
  void index_members(std::string_view folder);
  [[nodiscard]] const ZipMember* find(std::string_view name) const;
  Result<Pickle> read_pickle(std::string_view name);
  Result<const Source*> source(std::string_view module);

  ZipArchive zip_;
  std::vector<Named> members_;  // in their order
  std::deque<ZipText> texts_;   // of the pickles
  Syntaxes syntaxes_;
  std::deque<Source> sources_;
  std::vector<const Source*> source_of_member_;  // nullptr where it was not parsed
  std::size_t source_bytes_ = 0;
  std::vector<Pickle> pickles_;
  bool has_inputs_ = false;
};

}  // namespace joulecast::torchscript

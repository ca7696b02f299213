// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "import/raw_data.h"
#include "import/text.h"

namespace joulecast::torchscript {
namespace {

constexpr std::size_t kMaxPickle = std::size_t{64} << 20U;
constexpr std::size_t kMaxSource = std::size_t{16} << 20U;
constexpr std::size_t kMaxSources = std::size_t{64} << 20U;
constexpr std::size_t kMostSources = 65'536;  // ResNet-50 has 150 of them; each takes some KiB when parsed

std::string_view folder_of(PickleFile file) {
  return file == PickleFile::kConstants ? "constants" : file == PickleFile::kInputs ? "traced_inputs" : "data";
}

// "a.b.Name" -> "a.b", "Name"
std::pair<std::string_view, std::string_view> split_name(std::string_view qualified) {
  const std::size_t dot = qualified.rfind('.');
  if (dot == std::string_view::npos) return {{}, qualified};
  return {qualified.substr(0, dot), qualified.substr(dot + 1)};
}

}  // namespace

Result<Archive> Archive::open(std::string_view bytes) {
  JC_ASSIGN_OR_RETURN(ZipArchive zip, ZipArchive::open(bytes));
  Archive out(std::move(zip));
  const ZipMember* data = out.zip_.find_ending("/data.pkl");
  if (data == nullptr) return unsupported("is no TorchScript archive: it has no data.pkl");
  out.index_members(data->name.substr(0, data->name.size() - std::string_view("data.pkl").size()));
  for (const std::string_view name : {"data.pkl", "constants.pkl"}) {
    JC_ASSIGN_OR_RETURN(Pickle pickle, out.read_pickle(name));
    out.pickles_.push_back(std::move(pickle));
  }
  out.has_inputs_ = out.find("traced_inputs.pkl") != nullptr;
  if (out.has_inputs_) {
    JC_ASSIGN_OR_RETURN(Pickle pickle, out.read_pickle("traced_inputs.pkl"));
    out.pickles_.push_back(std::move(pickle));
  }
  return out;
}

bool Archive::Named::operator<(const Named& other) const {
  return hash != other.hash ? hash < other.hash : name < other.name;
}

// `folder`: "resnet18/", that all members are in.
void Archive::index_members(std::string_view folder) {
  const std::span<const ZipMember> all = zip_.members();
  members_.reserve(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!all[i].name.starts_with(folder)) continue;
    const std::string_view name = all[i].name.substr(folder.size());
    members_.push_back({std::hash<std::string_view>()(name), name, i});
  }
  // Of members of one name the first counts.
  std::sort(members_.begin(), members_.end(), [](const Named& a, const Named& b) {
    return a < b || (a.hash == b.hash && a.name == b.name && a.member < b.member);
  });
}

const ZipMember* Archive::find(std::string_view name) const {
  const Named wanted{std::hash<std::string_view>()(name), name, 0};
  const auto found = std::lower_bound(members_.begin(), members_.end(), wanted);
  return found != members_.end() && found->name == name ? &zip_.members()[found->member] : nullptr;
}

Result<Pickle> Archive::read_pickle(std::string_view name) {
  const ZipMember* member = find(name);
  if (member == nullptr) return unsupported(fmt::format("is no TorchScript archive: it has no {}", name));
  JC_ASSIGN_OR_RETURN(ZipText text, ZipArchive::read(*member, kMaxPickle));
  texts_.push_back(std::move(text));
  auto pickle = Pickle::read(texts_.back().view());
  if (!pickle) return tl::unexpected(std::move(pickle).error().in(printable(name)));
  return pickle;
}

// "__torch__.torch.nn" is code/__torch__/torch/nn.py
Result<const Source*> Archive::source(std::string_view module) {
  std::string path;
  path.reserve(module.size() + 8);
  path.append("code/").append(module).append(".py");
  std::replace(path.begin(), path.end() - 3, '.', '/');
  const ZipMember* member = find(path);
  if (member == nullptr) return not_found(fmt::format("the archive has no {}", printable(path)));
  source_of_member_.resize(zip_.members().size());
  const Source*& known = source_of_member_[static_cast<std::size_t>(member - zip_.members().data())];
  if (known != nullptr) return known;
  if (sources_.size() >= kMostSources) return unsupported(fmt::format("more than {} files of code", kMostSources));
  if (const Syntax* foreseen = syntaxes_.foreseen(module, *member); foreseen != nullptr)
    return known = &sources_.emplace_back(Source{std::move(path), foreseen});
  auto text = ZipArchive::read(*member, std::min(kMaxSource, kMaxSources - source_bytes_));
  if (!text) return tl::unexpected(std::move(text).error().in(printable(path)));
  source_bytes_ += text->view().size();
  auto syntax = syntaxes_.add(module, *std::move(text));
  if (!syntax) return tl::unexpected(std::move(syntax).error().in(printable(path)));
  known = &sources_.emplace_back(Source{std::move(path), *syntax});
  return known;
}

Result<ClassInFile> Archive::find_class(std::string_view qualified_name) {
  const auto [module, name] = split_name(qualified_name);
  JC_ASSIGN_OR_RETURN(const Source* in, source(module));
  const auto found = in->syntax->classes.find(name);
  return ClassInFile{in, found == in->syntax->classes.end() ? nullptr : &found->second};
}

Result<FunctionInFile> Archive::find_function(std::string_view qualified_name) {
  const auto [module, name] = split_name(qualified_name);
  JC_ASSIGN_OR_RETURN(const Source* in, source(module));
  const auto found = in->syntax->functions.find(name);
  return FunctionInFile{in, found == in->syntax->functions.end() ? nullptr : &found->second};
}

namespace {

bool lies_in_order(const PickleTensor& tensor) {
  std::int64_t stride = 1;
  for (std::size_t axis = tensor.strides.size(); axis-- > 0;) {
    if (tensor.type.shape[axis] != 1 && tensor.strides[axis] != stride) return false;
    stride *= tensor.type.shape[axis];
  }
  return true;
}

}  // namespace

std::optional<Contents> Archive::contents(PickleFile file, const PickleTensor& tensor) const {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
  const auto elements = static_cast<std::size_t>(tensor.type.elements());
  if (!is_kept(tensor.type.element, elements) || tensor.offset < 0 || !lies_in_order(tensor)) return {};
  const ZipMember* member = find(fmt::format("{}/{}", folder_of(file), tensor.storage));
  if (member == nullptr) return {};
  const auto text = ZipArchive::read(*member, kMaxBytes);
  const auto width = static_cast<std::size_t>(bit_width(tensor.type.element)) / 8;
  const auto begin = static_cast<std::uint64_t>(tensor.offset);
  if (!text || text->view().size() / width < elements || begin > text->view().size() / width - elements) return {};
  return read_raw(tensor.type.element, text->view().substr(begin * width), elements);
}

}  // namespace joulecast::torchscript

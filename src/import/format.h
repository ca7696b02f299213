// SPDX-License-Identifier: Apache-2.0
// The forms of model files that are read: how each is told from the others, and what reads it.
// Adding one: a folder with its reader, and a line in formats.cpp.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/import.h"
#include "joulecast/result.h"

namespace joulecast {

struct Format {
  std::string_view framework;  // as --framework has it
  std::string_view files;      // for people: "ONNX (.onnx)"
  std::string_view in_folder;  // a folder with a file of this name is one model: that file. May be empty.
  // By the first bytes, or what else costs next to nothing; may be wrong about broken files only.
  bool (*recognises)(std::string_view bytes);
  // `path` is for files beside this one and for the graph's name; errors do not repeat it.
  Result<Graph> (*read)(std::string_view bytes, const std::string& path);
  // The same of a format whose files may not tell the shapes of their inputs, where somebody else does.
  Result<Graph> (*read_with)(std::string_view bytes, const std::string& path, const InputShapes& shapes) = nullptr;
};

// In the order in which they are asked.
std::span<const Format> formats();

// Bytes of much else could be ONNX: there the name tells, and what has it and is none will be told.
bool is_model_file(const std::filesystem::path& path);

// "supported are ONNX (.onnx) and ...", as the end of an error.
std::string supported_formats();

// Nothing that a terminal would not show in the first bytes.
bool is_printable(std::string_view bytes);

// What a file is that people point at by mistake, with what to do instead where that can be said; empty otherwise.
std::string foreign_format(std::string_view bytes);

}  // namespace joulecast

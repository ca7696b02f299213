// SPDX-License-Identifier: Apache-2.0
#include "dataset/store_place.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace joulecast {

bool is_database_url(std::string_view place) {
  return place.starts_with("postgresql://") || place.starts_with("postgres://");
}

std::string shown_place(std::string_view place) {
  if (!is_database_url(place)) return std::string(place);
  const std::size_t begin = place.find("//") + 2;
  std::string out(place);
  const std::size_t at = out.rfind('@');  // a password may hold one, and what else a URL has
  const std::size_t colon = out.find(':', begin);
  if (at != std::string::npos && at > begin && colon < at) out.erase(colon, at - colon);
  return out.substr(0, out.find('?'));
}

bool is_store(const std::string& place) {
  if (is_database_url(place)) return true;
  std::error_code none;
  if (!std::filesystem::is_regular_file(place, none)) return false;  // reading from a pipe would wait for its writer
  // "SQLite format 3" and a zero byte (https://www.sqlite.org/fileformat2.html#magic_header_string).
  std::array<char, 16> head{};
  std::ifstream file(place, std::ios::binary);
  file.read(head.data(), head.size());
  return file && std::string_view(head.data(), head.size()) == std::string_view("SQLite format 3\0", 16);
}

}  // namespace joulecast

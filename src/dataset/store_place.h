// SPDX-License-Identifier: Apache-2.0
// Tells the store's own places from those of tables, without opening either.
#pragma once

#include <string>
#include <string_view>

namespace joulecast {

// postgresql://... or postgres://...
bool is_database_url(std::string_view place);
// As it may be printed and kept: without the password of postgresql://user:password@host, and without its parameters,
// which may hold one too. Paths as they are.
std::string shown_place(std::string_view place);
// A URL of PostgreSQL, or a file that begins as SQLite's do.
bool is_store(const std::string& place);

}  // namespace joulecast

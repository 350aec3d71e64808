// Whole files into memory. Read, not mapped: a file that somebody shortens meanwhile is then a short file and no SIGBUS.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

/// Regular files of at most `most` bytes; others are refused before anything is read. Errors name the file.
Result<std::vector<std::byte>> read_file(const std::string& path, size_t most);

/// The lines of a small text file, without their ends; no line for an empty rest after the last newline.
Result<std::vector<std::string>> read_lines(const std::string& path, size_t most = size_t{1} << 20);

}  // namespace svengine

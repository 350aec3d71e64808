// Files below data/ that scripts of backend/ have written: a record a line, fields between bars, comments behind #.
#pragma once
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace svengine::tests {

/// An empty part at the end is left out.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// The fields of each record; the test fails where the file cannot be read.
inline std::vector<std::vector<std::string>> recorded_fields(const char* path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with("#")) out.push_back(split(line, '|'));
  return out;
}

}  // namespace svengine::tests

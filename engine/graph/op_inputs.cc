#include "engine/graph/op_inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace svengine {

std::string_view OpInputs::name(size_t input) const {
  std::string_view left = names_;
  for (size_t i = listed(input); i > 0 && !left.empty(); --i)
    left.remove_prefix(std::min(left.size(), left.find(", ") == left.npos ? left.size() : left.find(", ") + 2));
  return left.substr(0, left.find_first_of(",?."));
}

std::string OpInputs::described(size_t input) const {
  const std::string_view own = name(input);
  return own.empty() ? fmt::format("input {}", input) : fmt::format("input {} ({})", input, own);
}

}  // namespace svengine

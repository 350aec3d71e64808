#include "tools/emit/loops.h"

namespace svengine::tool::emit {

Strides dense_strides(const Dims& dims) {
  Strides out(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) out[i] = stride;
  return out;
}

Nest merged(Nest nest) {
  Nest out{{}, std::vector<Strides>(nest.operands.size())};
  for (size_t d = 0; d < nest.sizes.size(); ++d) {
    if (nest.sizes[d] == 1) continue;
    bool even = !out.sizes.empty();
    for (size_t o = 0; even && o < nest.operands.size(); ++o) even = out.operands[o].back() == nest.operands[o][d] * nest.sizes[d];
    if (even) out.sizes.back() *= nest.sizes[d];
    else out.sizes.push_back(nest.sizes[d]);
    for (size_t o = 0; o < nest.operands.size(); ++o) {
      if (even) out.operands[o].back() = nest.operands[o][d];
      else out.operands[o].push_back(nest.operands[o][d]);
    }
  }
  return out;
}

std::string element_of(const Strides& strides, int64_t offset, std::string_view name) {
  std::string out = offset ? fmt::format("{}", offset) : "";
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == 0) continue;
    if (!out.empty()) out += strides[d] < 0 ? " - " : " + ";
    else if (strides[d] < 0) out += "-";
    out += fmt::format("{}{}", name, d);
    if (const int64_t times = strides[d] < 0 ? -strides[d] : strides[d]; times != 1) out += fmt::format(" * {}", times);
  }
  return out.empty() ? "0" : out;
}

void open_loops(Code& code, const Dims& sizes, std::string_view name) {
  for (size_t d = 0; d < sizes.size(); ++d) code.loop(fmt::format("{}{}", name, d), sizes[d]);
}

}  // namespace svengine::tool::emit

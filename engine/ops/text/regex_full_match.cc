// RegexFullMatch: whether all of a string matches a pattern, in RE2's syntax and by RE2 itself, whose time is linear in the
// string's length.
#include <re2/re2.h>

#include "engine/ops/text/text_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kPatternMemory = int64_t{8} << 20;  // bytes of a compiled pattern, RE2's default: beyond, it is refused

Result<std::unique_ptr<RE2>> full_match_pattern(const Attributes& attributes) {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kPatternMemory);
  auto pattern = std::make_unique<RE2>(attributes.get_string("pattern"), options);
  if (!pattern->ok()) return error("pattern is not RE2's syntax: {}", pattern->error());
  return pattern;
}

Status infer_regex_full_match(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kStringType));
  SV_TRY(table_of<full_match_pattern>(c.attributes()));
  c.set(0, DType::boolean, c.shape(0));
  return {};
}

Status evaluate_regex_full_match(EvaluateContext& c) {
  SV_ASSIGN(const auto pattern, table_of<full_match_pattern>(c.attributes()));
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::boolean, c.input(0).dims()));
  const auto x = c.input(0).strings();
  for (size_t i = 0; i < x.size(); ++i) out.data<uint8_t>()[i] = RE2::FullMatch(x[i], **pattern);
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_regex_full_match() {
  return {
      .name = "RegexFullMatch",
      .since = 20,
      .inputs = "X",
      .attributes = {{"pattern", AttributeKind::kString}},
      .infer = infer_regex_full_match,
      .evaluate = evaluate_regex_full_match,
  };
}

}  // namespace svengine::ops

// com.microsoft.BifurcationDetector, of aggressive decoding: where an output copies its source, a model predicts many tokens at once, and those up
// to the first that differs from the source are taken. Then the end of what there is now is looked for in the source, to go on copying from there.
#include <algorithm>
#include <span>

#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

using Tokens = std::span<const int64_t>;

Status infer_bifurcation(InferContext& c) {
  const int64_t least = c.attributes().get_int("min_ngram_size", 1), most = c.attributes().get_int("max_ngram_size", 3);
  if (least < 1 || most < least) return error("n-grams are from {} to {} tokens: must be positive, and in this order", least, most);
  for (const size_t i : {size_t{0}, size_t{1}, size_t{3}}) SV_TRY(require_rank(c, i, 1));
  SV_TRY(require_single(c, 2));
  c.set(0, DType::i64, c.has_input(3) ? unknown_dims(1) : c.shape(1));
  c.set(1, DType::i64, Shape{Dim(1)});
  return {};
}

/// The predicted tokens that are taken: those that the source has from `first` on, and the one behind them.
Result<Tokens> taken(Tokens source, Tokens predicted, int64_t first) {
  if (first < 0 || first > static_cast<int64_t>(source.size()))
    return error("prev_suffix_match_idx is {}, but src_tokens has {}", first, source.size());
  const Tokens rest = source.subspan(static_cast<size_t>(first));
  if (predicted.size() != rest.size() + 1)
    return error("pred_tokens has {} tokens, needs {}: one more than src_tokens has from {} on", predicted.size(), rest.size() + 1, first);
  const auto same = std::mismatch(rest.begin(), rest.end(), predicted.begin()).first - rest.begin();
  return predicted.first(static_cast<size_t>(same) + 1);
}

/// Where the source goes on behind the last tokens, of which the fewest are taken that are in it once; -1: nowhere.
int64_t suffix_match(Tokens source, Tokens tokens, int64_t least, int64_t most) {
  for (int64_t n = least; n <= std::min<int64_t>(most, static_cast<int64_t>(tokens.size())); ++n) {
    const Tokens last = tokens.last(static_cast<size_t>(n));
    const auto at = std::search(source.begin(), source.end(), last.begin(), last.end());
    if (at == source.end()) return -1;
    const int64_t behind = at - source.begin() + n;
    if (behind >= static_cast<int64_t>(source.size()) || std::search(at + 1, source.end(), last.begin(), last.end()) == source.end()) return behind;
  }
  return -1;
}

Status evaluate_bifurcation(EvaluateContext& c) {
  const Tokens source = c.input(0).data<int64_t>(), current = c.input(1).data<int64_t>();
  std::vector<int64_t> tokens(current.begin(), current.end());
  if (c.has_input(3)) {
    SV_ASSIGN(const Tokens more, taken(source, c.input(3).data<int64_t>(), c.input(2).data<int64_t>()[0]));
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  const int64_t match = suffix_match(source, tokens, c.attributes().get_int("min_ngram_size", 1), c.attributes().get_int("max_ngram_size", 3));
  c.set(0, Tensor::of<int64_t>({static_cast<int64_t>(tokens.size())}, Tokens(tokens)));
  c.set(1, Tensor::of<int64_t>({1}, {match}));
  return {};
}

}  // namespace

OpDef define_microsoft_bifurcation_detector() {
  return {
      .name = "BifurcationDetector",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "src_tokens, cur_tokens, prev_suffix_match_idx, pred_tokens?",
      .outputs = {2, 2},
      .attributes = {{"min_ngram_size", AttributeKind::kInt, false, 1}, {"max_ngram_size", AttributeKind::kInt, false, 3}},
      .infer = infer_bifurcation,
      .evaluate = evaluate_bifurcation,
      .types = {{"T", {DType::i64}, {0, 1, 2, 3}}},
      .samples = "(int64[6] 0 to 3, int64[3] 0 to 3, int64[1]{2}, int64[5] 0 to 3) 2"
                 "(int64[5] 0 to 3, int64[3] 0 to 3, int64[1]{0}) {min_ngram_size = 2} 2",
  };
}

}  // namespace svengine::ops

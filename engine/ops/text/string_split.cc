// StringSplit: each string cut at a delimiter, or where none is given at runs of ASCII white space; the pieces of all are padded
// with "" to as many as the most have. At most `maxsplit` cuts; what is left then is one piece.
#include <algorithm>
#include <string_view>

#include "engine/ops/host_tensor.h"
#include "engine/ops/text/text_common.h"

namespace svengine::ops {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

Status infer_string_split(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kStringType));
  Shape pieces = c.shape(0);
  if (pieces.has_rank()) {
    std::vector<Dim> dims = pieces.dims();
    dims.push_back(Dim());
    pieces = Shape(std::move(dims));
  }
  c.set(0, DType::string, std::move(pieces));
  c.set(1, DType::i64, c.shape(0));
  return {};
}

/// `most` cuts, or any number where it is negative.
std::vector<std::string_view> split_at(std::string_view text, std::string_view delimiter, int64_t most) {
  std::vector<std::string_view> pieces;
  for (int64_t cuts = 0; most < 0 || cuts < most; ++cuts) {
    const size_t at = text.find(delimiter);
    if (at == text.npos) break;
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  pieces.push_back(text);
  return pieces;
}

std::vector<std::string_view> split_at_space(std::string_view text, int64_t most) {
  std::vector<std::string_view> pieces;
  text = text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
  for (int64_t cuts = 0;; ++cuts) {
    const size_t begin = text.find_first_not_of(kWhiteSpace);
    if (begin == text.npos) return pieces;
    text.remove_prefix(begin);
    const size_t end = text.find_first_of(kWhiteSpace);
    if (end == text.npos || (most >= 0 && cuts >= most)) {
      pieces.push_back(text);
      return pieces;
    }
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Status evaluate_string_split(EvaluateContext& c) {
  const Tensor& x = c.input(0);
  const std::string delimiter = c.attributes().get_string("delimiter");
  const int64_t most = c.attributes().get_int("maxsplit", -1);
  std::vector<std::vector<std::string_view>> all;
  std::vector<int64_t> counts;
  size_t longest = 0;
  for (const std::string& text : x.strings()) {
    all.push_back(delimiter.empty() ? split_at_space(text, most) : split_at(text, delimiter, most));
    counts.push_back(static_cast<int64_t>(all.back().size()));
    longest = std::max(longest, all.back().size());
  }
  Dims dims = x.dims();
  dims.push_back(static_cast<int64_t>(longest));
  SV_TRY(check_room_for_strings(dims));
  std::vector<std::string> pieces(all.size() * longest);
  for (size_t i = 0; i < all.size(); ++i)
    std::copy(all[i].begin(), all[i].end(), pieces.begin() + static_cast<std::ptrdiff_t>(i * longest));
  c.set(0, Tensor::of_strings(std::move(dims), std::move(pieces)));
  c.set(1, Tensor::of<int64_t>(x.dims(), std::span<const int64_t>(counts)));
  return {};
}

}  // namespace

OpDef define_string_split() {
  return {
      .name = "StringSplit",
      .since = 20,
      .inputs = "X",
      .outputs = {1, 2},
      .attributes = {{"delimiter", AttributeKind::kString}, {"maxsplit", AttributeKind::kInt}},
      .infer = infer_string_split,
      .evaluate = evaluate_string_split,
  };
}

}  // namespace svengine::ops

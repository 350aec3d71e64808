// NonMaxSuppression: of every class of every image the boxes with the highest scores, none of which overlaps a better one by more
// than a threshold. How many these are follows from values: evaluated on the host.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

enum NmsInput : size_t { kBoxes, kScores, kMostBoxes, kIouThreshold, kScoreThreshold };

Status infer_non_max_suppression(InferContext& c) {
  SV_TRY(require_dtype(c, kBoxes, {DType::f32}));
  SV_TRY(require_dtype(c, kScores, {DType::f32}));
  SV_TRY(require_dtype(c, kMostBoxes, {DType::i64}));
  SV_TRY(require_dtype(c, kIouThreshold, {DType::f32}));
  SV_TRY(require_dtype(c, kScoreThreshold, {DType::f32}));
  SV_TRY(require_rank(c, kBoxes, 3));
  SV_TRY(require_rank(c, kScores, 3));
  for (const NmsInput one : {kMostBoxes, kIouThreshold, kScoreThreshold}) SV_TRY(require_single(c, one));
  const Shape &boxes = c.shape(kBoxes), &scores = c.shape(kScores);
  if (boxes.has_rank() && known_different(boxes[2], 4)) return error("boxes {} need 4 coordinates each", to_string(boxes));
  if (boxes.has_rank() && scores.has_rank() && (known_different(boxes[0], scores[0]) || known_different(boxes[1], scores[2])))
    return error("boxes {} and scores {} do not belong together: images, or boxes, differ", to_string(boxes), to_string(scores));
  if (const int64_t center = c.attributes().get_int("center_point_box"); center != 0 && center != 1)
    return error("center_point_box is {}, needs 0 or 1", center);
  c.set(0, DType::i64, Shape{Dim(), 3});
  return {};
}

struct Box {
  float left, top, right, bottom;
  float area;  // 0 of what overlaps nothing: without area, with more than float32 holds, or with a coordinate that is no number
};

/// Corners may come in any order; or centre, width and height.
Box box_of(const float* from, bool center) {
  Box box;
  if (center) {
    const float half_width = from[2] / 2, half_height = from[3] / 2;
    box = {from[0] - half_width, from[1] - half_height, from[0] + half_width, from[1] + half_height, 0};
  } else {
    box = {std::min(from[1], from[3]), std::min(from[0], from[2]), std::max(from[1], from[3]), std::max(from[0], from[2]), 0};
  }
  const float area = (box.right - box.left) * (box.bottom - box.top);
  if (area > 0 && std::isfinite(area)) box.area = area;
  return box;
}

/// Intersection over union is above the threshold. Both have areas.
bool overlaps(const Box& a, const Box& b, float threshold) {
  const float left = std::max(a.left, b.left), right = std::min(a.right, b.right), top = std::max(a.top, b.top),
              bottom = std::min(a.bottom, b.bottom);
  if (!(right > left) || !(bottom > top)) return false;
  const float both = (right - left) * (bottom - top), either = a.area + b.area - both;
  return both > 0 && either > 0 && both / either > threshold;
}

struct NmsRules {
  bool center = false;
  int64_t most = 0;
  float overlap = 0;
  std::optional<float> score;
};

/// Boxes of one class that count, best first; of equal scores the one that comes first. Only as many are put in order as are asked for.
class BoxesByScore {
 public:
  /// `first`: so many will be asked for at least.
  BoxesByScore(const NmsRules& rules, const float* scores, int64_t count, int64_t first)
      : keys_(static_cast<size_t>(count)), first_(static_cast<size_t>(first)) {
    size_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {  // without a branch that scores decide
      keys_[kept] = uint64_t{descending_bits(scores[i])} << 32 | static_cast<uint32_t>(i);
      kept += rules.score ? scores[i] > *rules.score : scores[i] == scores[i];
    }
    keys_.resize(kept);
  }

  size_t size() const { return keys_.size(); }
  /// In no order but that those that were asked for are in front.
  uint32_t any(size_t i) const { return static_cast<uint32_t>(keys_[i]); }
  /// The box in place i. Places are asked for one after the other.
  uint32_t best(size_t i) {
    if (i == sorted_) sort_more();
    return any(i);
  }

 private:
  /// Falls as a number rises. -0 is 0.
  static uint32_t descending_bits(float x) {
    const auto bits = std::bit_cast<uint32_t>(x + 0.0f);
    return bits >> 31 ? bits : ~bits & 0x7fffffff;
  }

  void sort_more() {
    const auto at = [&](size_t i) { return keys_.begin() + static_cast<std::ptrdiff_t>(i); };
    const size_t end = std::min(keys_.size(), std::max(first_ + first_ / 4, 2 * sorted_) + 16);
    if (end < keys_.size()) std::nth_element(at(sorted_), at(end), keys_.end());
    std::sort(at(sorted_), at(end));
    sorted_ = end;
  }

  std::vector<uint64_t> keys_;  // scores, then places
  size_t first_, sorted_ = 0;
};

/// Boxes that were kept: the first ones in a list, those behind in columns by their left edges. A box is compared only with those of columns that
/// begin left of its right edge and reach beyond its left one. PyTorch's exports move every class (or pyramid level) to a place of its own, so
/// that one NonMaxSuppression does all: of tens of thousands of boxes, few are then ever compared.
class KeptBoxes {
 public:
  /// At most so many.
  explicit KeptBoxes(size_t most) { first_.reserve(std::min(most, kFirst)); }

  bool overlap(const Box& box, float threshold) const {
    if (any_overlaps(first_, box, threshold)) return true;
    const size_t last = columns_.empty() ? 0 : column_of(box.right) + 1;
    for (size_t i = 0; i < last; ++i)
      if (columns_[i].right > box.left && any_overlaps(columns_[i].boxes, box, threshold)) return true;
    return false;
  }

  /// `all`: the boxes among which those are that are added.
  void add(const Box& box, const std::vector<Box>& boxes, const BoxesByScore& all) {
    if (first_.size() < kFirst) return first_.push_back(box);
    if (columns_.empty()) make_columns(boxes, all);
    Column& column = columns_[column_of(box.left)];
    column.boxes.push_back(box);
    column.right = std::max(column.right, box.right);
  }

 private:
  static constexpr size_t kFirst = 128, kColumns = 256;
  struct Column {
    float right = -std::numeric_limits<float>::infinity();  // how far its boxes reach
    std::vector<Box> boxes;
  };

  static bool any_overlaps(const std::vector<Box>& boxes, const Box& box, float threshold) {
    return std::any_of(boxes.begin(), boxes.end(), [&](const Box& b) { return overlaps(b, box, threshold); });
  }

  void make_columns(const std::vector<Box>& boxes, const BoxesByScore& all) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (size_t i = 0; i < all.size(); ++i)
      if (const Box& box = boxes[all.any(i)]; box.area > 0) low = std::min(low, box.left), high = std::max(high, box.left);
    low_ = low;
    scale_ = static_cast<float>(kColumns) / (high - low);
    if (!std::isfinite(scale_)) scale_ = 0;
    columns_.resize(kColumns);
  }

  /// Never falls as x rises, roundings included. (What is too far apart for float32 has scale 0, and may give NaN.)
  size_t column_of(float x) const {
    const float place = (x - low_) * scale_;
    return place > 0 ? static_cast<size_t>(std::min(place, static_cast<float>(kColumns - 1))) : 0;
  }

  std::vector<Box> first_;
  float low_ = 0, scale_ = 0;
  std::vector<Column> columns_;
};

/// Chosen boxes of one class, best first.
std::vector<int64_t> best_boxes(const NmsRules& rules, const std::vector<Box>& boxes, const float* scores) {
  const auto count = static_cast<int64_t>(boxes.size());
  const int64_t most = std::min(rules.most, count);
  BoxesByScore order(rules, scores, count, most);
  std::vector<int64_t> chosen;
  chosen.reserve(std::min(order.size(), static_cast<size_t>(most)));
  KeptBoxes kept(chosen.capacity());
  for (size_t i = 0; i < order.size() && static_cast<int64_t>(chosen.size()) < rules.most; ++i) {
    const uint32_t at = order.best(i);
    const Box& box = boxes[at];
    if (box.area > 0 && kept.overlap(box, rules.overlap)) continue;
    if (box.area > 0) kept.add(box, boxes, order);
    chosen.push_back(at);
  }
  return chosen;
}

Status evaluate_non_max_suppression(EvaluateContext& c) {
  NmsRules rules;
  rules.center = c.attributes().get_int("center_point_box") != 0;
  if (c.has_input(kMostBoxes)) rules.most = c.input(kMostBoxes).data<int64_t>()[0];
  if (c.has_input(kIouThreshold)) rules.overlap = c.input(kIouThreshold).data<float>()[0];
  if (c.has_input(kScoreThreshold)) rules.score = c.input(kScoreThreshold).data<float>()[0];
  if (!(rules.overlap >= 0 && rules.overlap <= 1)) return error("iou_threshold is {}, needs 0 to 1", rules.overlap);
  const Dims &boxes = c.input(kBoxes).dims(), &scores = c.input(kScores).dims();
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] || boxes[1] != scores[2])
    return error("boxes {} and scores {} do not belong together, need images x boxes x 4 and images x classes x boxes",
                 svengine::to_string(boxes), svengine::to_string(scores));
  std::vector<int64_t> selected;
  if (boxes[1] > std::numeric_limits<uint32_t>::max()) return unimplemented("{} boxes, at most 2^32 - 1 are taken", boxes[1]);
  std::vector<Box> prepared(static_cast<size_t>(boxes[1]));
  for (int64_t image = 0; image < scores[0] && rules.most > 0; ++image) {
    const float* corners = c.input(kBoxes).data<float>().data() + image * boxes[1] * 4;
    for (Box& box : prepared) box = box_of(corners, rules.center), corners += 4;
    for (int64_t type = 0; type < scores[1]; ++type)
      for (const int64_t box : best_boxes(rules, prepared, c.input(kScores).data<float>().data() + (image * scores[1] + type) * scores[2]))
        selected.insert(selected.end(), {image, type, box});
  }
  const auto rows = static_cast<int64_t>(selected.size() / 3);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i64, {rows, 3}));
  std::copy(selected.begin(), selected.end(), out.data<int64_t>().begin());
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_non_max_suppression() {
  return {
      .name = "NonMaxSuppression",
      .since = 10,
      .inputs = "boxes, scores, max_output_boxes_per_class?, iou_threshold?, score_threshold?",
      .attributes = {{"center_point_box", AttributeKind::kInt, false, 0}},
      .infer = infer_non_max_suppression,
      .evaluate = evaluate_non_max_suppression,
      .samples = "(float32[2, 9, 4] 0 to 10, float32[2, 3, 9] 0 to 1, int64[1]{3}, float32[1]{0.3}, float32[1]{0.2})"
                 "(float32[1, 20, 4] 0 to 10, float32[1, 2, 20] 0 to 1, int64[1]{3}, float32[1]{0.3}) {center_point_box = 1}"
                 "(float32[1, 1, 4], float32[1, 1, 1])",
  };
}

}  // namespace svengine::ops

// NonMaxSuppression: of every class of every image the boxes with the highest scores, none of which overlaps a better one by more
// than a threshold. How many these are follows from values: evaluated on the host.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

enum NmsInput : size_t { kBoxes, kScores, kMostBoxes, kIouThreshold, kScoreThreshold };

Status infer_non_max_suppression(InferContext& c) {
  SV_TRY(require_dtype(c, kBoxes, "boxes", {DType::f32}));
  SV_TRY(require_dtype(c, kScores, "scores", {DType::f32}));
  SV_TRY(require_dtype(c, kMostBoxes, "max_output_boxes_per_class", {DType::i64}));
  SV_TRY(require_dtype(c, kIouThreshold, "iou_threshold", {DType::f32}));
  SV_TRY(require_dtype(c, kScoreThreshold, "score_threshold", {DType::f32}));
  SV_TRY(require_rank(c, kBoxes, "boxes", 3));
  SV_TRY(require_rank(c, kScores, "scores", 3));
  for (const auto& [input, what] : {std::pair(kMostBoxes, "max_output_boxes_per_class"),
                                    {kIouThreshold, "iou_threshold"},
                                    {kScoreThreshold, "score_threshold"}})
    SV_TRY(require_single(c, input, what));
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
  float area() const { return (right - left) * (bottom - top); }
};

/// Corners may come in any order; or centre, width and height.
Box box_of(const float* from, bool center) {
  if (!center)
    return {std::min(from[1], from[3]), std::min(from[0], from[2]), std::max(from[1], from[3]), std::max(from[0], from[2])};
  const float half_width = from[2] / 2, half_height = from[3] / 2;
  return {from[0] - half_width, from[1] - half_height, from[0] + half_width, from[1] + half_height};
}

/// Intersection over union is above the threshold; boxes without area overlap nothing.
bool overlaps(const Box& a, const Box& b, float threshold) {
  const float left = std::max(a.left, b.left), right = std::min(a.right, b.right), top = std::max(a.top, b.top),
              bottom = std::min(a.bottom, b.bottom);
  if (!(right > left) || !(bottom > top)) return false;
  const float both = (right - left) * (bottom - top), area_a = a.area(), area_b = b.area(), either = area_a + area_b - both;
  return both > 0 && area_a > 0 && area_b > 0 && either > 0 && both / either > threshold;
}

struct NmsRules {
  bool center = false;
  int64_t most = 0;
  float overlap = 0;
  std::optional<float> score;
};

/// Boxes that were kept, in columns by their left edges. A box is compared only with those of columns that begin left of its right
/// edge and reach beyond its left one. PyTorch's exports move every class (or pyramid level) to a place of its own, so that one
/// NonMaxSuppression does all: of tens of thousands of boxes, few are then ever compared.
class KeptBoxes {
 public:
  /// Of boxes whose left edges, as far as they can overlap anything, lie between these.
  KeptBoxes(float low, float high) : low_(low) {
    const float scale = static_cast<float>(kColumns) / (high - low);
    scale_ = std::isfinite(scale) ? scale : 0;
  }

  /// What has no area, a coordinate that is no number, or more area than float32 holds, overlaps nothing.
  static bool can_overlap(const Box& box) { return box.area() > 0 && std::isfinite(box.area()); }

  bool overlap(const Box& box, float threshold) const {
    const size_t last = column_of(box.right);
    for (size_t i = 0; i <= last; ++i) {
      const Column& column = columns_[i];
      if (column.right > box.left &&
          std::any_of(column.boxes.begin(), column.boxes.end(), [&](const Box& b) { return overlaps(b, box, threshold); }))
        return true;
    }
    return false;
  }

  void add(const Box& box) {
    Column& column = columns_[column_of(box.left)];
    column.boxes.push_back(box);
    column.right = std::max(column.right, box.right);
  }

 private:
  static constexpr size_t kColumns = 256;
  struct Column {
    float right = -std::numeric_limits<float>::infinity();  // how far its boxes reach
    std::vector<Box> boxes;
  };

  /// Never falls as x rises, roundings included. (What is too far apart for float32 has scale 0, and may give NaN.)
  size_t column_of(float x) const {
    const float place = (x - low_) * scale_;
    return place > 0 ? static_cast<size_t>(std::min(place, static_cast<float>(kColumns - 1))) : 0;
  }

  float low_, scale_;
  std::array<Column, kColumns> columns_;
};

/// Boxes that count, best first; of equal scores the one that comes first.
std::vector<std::pair<float, int64_t>> by_score(const NmsRules& rules, const float* scores, int64_t count) {
  std::vector<std::pair<float, int64_t>> order;
  for (int64_t i = 0; i < count; ++i)
    if (rules.score ? scores[i] > *rules.score : !std::isnan(scores[i])) order.emplace_back(scores[i], i);
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  return order;
}

/// Chosen boxes of one class, best first.
std::vector<int64_t> best_boxes(const NmsRules& rules, const float* boxes, const float* scores, int64_t count) {
  const auto order = by_score(rules, scores, count);
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const auto& [score, i] : order)
    if (const Box box = box_of(boxes + i * 4, rules.center); KeptBoxes::can_overlap(box))
      low = std::min(low, box.left), high = std::max(high, box.left);
  std::vector<int64_t> chosen;
  KeptBoxes kept(low, high);
  for (const auto& [score, i] : order) {
    if (static_cast<int64_t>(chosen.size()) >= rules.most) break;
    const Box box = box_of(boxes + i * 4, rules.center);
    const bool can_overlap = KeptBoxes::can_overlap(box);
    if (can_overlap && kept.overlap(box, rules.overlap)) continue;
    if (can_overlap) kept.add(box);
    chosen.push_back(i);
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
  for (int64_t image = 0; image < scores[0] && rules.most > 0; ++image)
    for (int64_t type = 0; type < scores[1]; ++type)
      for (const int64_t box :
           best_boxes(rules, c.input(kBoxes).data<float>().data() + image * boxes[1] * 4,
                      c.input(kScores).data<float>().data() + (image * scores[1] + type) * scores[2], scores[2]))
        selected.insert(selected.end(), {image, type, box});
  const auto rows = static_cast<int64_t>(selected.size() / 3);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i64, {rows, 3}));
  std::copy(selected.begin(), selected.end(), out.data<int64_t>().begin());
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_non_max_suppression() {
  const SampleInput most = ints({3}), overlap = fixed(Tensor::of<float>({1}, {0.3f})),
                    score = fixed(Tensor::of<float>({1}, {0.2f}));
  return {
      .name = "NonMaxSuppression",
      .since = 10,
      .inputs = {2, 5},
      .attributes = {{"center_point_box", AttributeKind::kInt, false, integer(0)}},
      .infer = infer_non_max_suppression,
      .evaluate = evaluate_non_max_suppression,
      .samples = {{.inputs = {f32({2, 9, 4}, 0, 10), f32({2, 3, 9}, 0, 1), most, overlap, score}},
                  {.inputs = {f32({1, 20, 4}, 0, 10), f32({1, 2, 20}, 0, 1), most, overlap},
                   .attributes = {{"center_point_box", integer(1)}}},
                  {.inputs = {f32({1, 1, 4}), f32({1, 1, 1})}}},
  };
}

}  // namespace svengine::ops

// com.microsoft.DynamicTimeWarping: the cheapest way through a matrix of costs from its first element to its last, a step going a row on, a
// column on, or both. It gives the rows and columns of the way; how long that is depends on the costs.
#include <algorithm>
#include <limits>

#include "engine/graph/evaluate_context.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

Status infer_time_warping(InferContext& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank() && x.rank() != 2 && (x.rank() != 3 || known_different(x[0], Dim(1))))
    return error("input is {}, needs [rows, columns]", to_string(x));
  if (x.has_rank())
    for (const Dim& d : x.dims())
      if (d.is_static() && d.value() < 1) return error("input is {}, which has no way through it", to_string(x));
  c.set(0, DType::i32, Shape{Dim(2), Dim()});
  return {};
}

enum class Step : uint8_t { both, row, column };

/// How the cheapest way comes to each element: of equal ones that of a column alone, then of a row alone, as ONNX Runtime decides.
std::vector<Step> cheapest_steps(std::span<const float> costs, size_t rows, size_t columns) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  std::vector<Step> steps(rows * columns);
  std::vector<float> before(columns + 1, kNone), now(columns + 1, kNone);  // the sums of a row, behind a column that is not there
  before[0] = 0;
  for (size_t i = 0; i < rows; ++i) {
    now[0] = kNone;
    for (size_t j = 0; j < columns; ++j) {
      const float both = before[j], row = before[j + 1], column = now[j];
      const Step step = both < row && both < column ? Step::both : row < both && row < column ? Step::row : Step::column;
      steps[i * columns + j] = step;
      now[j + 1] = costs[i * columns + j] + (step == Step::both ? both : step == Step::row ? row : column);
    }
    before.swap(now);
  }
  return steps;
}

Status evaluate_time_warping(EvaluateContext& c) {
  const Dims& dims = c.input(0).dims();
  const auto rows = static_cast<size_t>(dims[dims.size() - 2]), columns = static_cast<size_t>(dims.back());
  if (rows == 0 || columns == 0) return error("the input has no elements, and no way through it");
  const std::vector<Step> steps = cheapest_steps(c.input(0).data<float>(), rows, columns);
  std::vector<int32_t> way_rows, way_columns;
  size_t i = rows, j = columns;
  while (i > 0 && j > 0) {
    way_rows.push_back(static_cast<int32_t>(i - 1)), way_columns.push_back(static_cast<int32_t>(j - 1));
    const Step step = i == 1 ? Step::column : j == 1 ? Step::row : steps[(i - 1) * columns + j - 1];
    if (i == 1 && j == 1) break;
    if (step != Step::column) --i;
    if (step != Step::row) --j;
  }
  std::vector<int32_t> way(way_rows.rbegin(), way_rows.rend());
  way.insert(way.end(), way_columns.rbegin(), way_columns.rend());
  c.set(0, Tensor::of<int32_t>({2, static_cast<int64_t>(way_rows.size())}, std::span<const int32_t>(way)));
  return {};
}

}  // namespace

OpDef define_microsoft_dynamic_time_warping() {
  return {
      .name = "DynamicTimeWarping",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input",
      .infer = infer_time_warping,
      .evaluate = evaluate_time_warping,
      .types = {{"F", {DType::f32}, {0}}},
      .samples = "(float32[4, 6] 0 to 9) (float32[1, 5, 3]) (float32[1, 1])",
  };
}

}  // namespace svengine::ops

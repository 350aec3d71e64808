// svengine.ClassNames: class numbers as strings, beside the scores, which pass through: how classifiers of ai.onnx.ml give labels
// that are strings (canonicalize_class_labels).
#include "engine/graph/evaluate_context.h"
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {
namespace {

Status infer_class_names(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::i64}));
  c.set(0, DType::string, c.shape(0));
  c.set(1, c.type(1));
  return {};
}

Status evaluate_class_names(EvaluateContext& c) {
  const std::vector<std::string>& names = *c.attributes().get<std::vector<std::string>>("names");
  std::vector<std::string> labels;
  labels.reserve(static_cast<size_t>(c.input(0).count()));
  for (const int64_t i : c.input(0).data<int64_t>()) {
    if (i < 0 || i >= static_cast<int64_t>(names.size())) return error("class {} of {}", i, names.size());
    labels.push_back(names[static_cast<size_t>(i)]);
  }
  c.set(0, Tensor::of_strings(c.input(0).dims(), std::move(labels)));
  c.set(1, c.input(1));
  return {};
}

}  // namespace

OpDef define_class_names() {
  return {
      .name = "ClassNames",
      .domain = kInternalDomain,
      .inputs = "numbers, scores",
      .outputs = {1, 2},
      .attributes = {{"names", AttributeKind::kStrings, true}},
      .infer = infer_class_names,
      .evaluate = evaluate_class_names,
  };
}

}  // namespace svengine::ops

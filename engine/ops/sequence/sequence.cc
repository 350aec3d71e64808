// SequenceEmpty, SequenceConstruct, SequenceAt, SequenceErase, SequenceInsert, SequenceLength.
#include "engine/ops/sequence/sequence_common.h"

namespace svengine::ops {
namespace {

Status infer_sequence_empty(InferContext& c) {
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "dtype", DType::f32, kAllTypes));
  c.set(0, handle_type(DType::sequence, {type, Shape()}));
  return {};
}

Status evaluate_sequence_empty(EvaluateContext& c) {
  c.set(0, Tensor::of_items(DType::sequence, {}));
  return {};
}

Status infer_sequence_construct(InferContext& c) {
  Type element;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (i == 0) {
      element = c.type(0);
      continue;
    }
    SV_ASSIGN(element, common_element(element, c.type(i)));
  }
  element.block = 0;
  c.set(0, handle_type(DType::sequence, std::move(element)));
  return {};
}

Status evaluate_sequence_construct(EvaluateContext& c) {
  std::vector<Tensor> items;
  for (size_t i = 0; i < c.input_count(); ++i) {
    SV_TRY(check_item(items, c.input(i)));
    items.push_back(c.input(i));
  }
  c.set(0, Tensor::of_items(DType::sequence, std::move(items)));
  return {};
}

Status require_position(const InferContext& c, size_t i) {
  SV_TRY(require_dtype(c, i, kIndexTypes));
  return require_single(c, i);
}

Status infer_sequence_at(InferContext& c) {
  SV_TRY(require_sequence(c, 0));
  SV_TRY(require_position(c, 1));
  c.set(0, element_type(c.type(0)));
  return {};
}

Status evaluate_sequence_at(EvaluateContext& c) {
  const std::vector<Tensor>& items = sequence_items(c, 0);
  const auto count = static_cast<int64_t>(items.size());
  SV_ASSIGN(const size_t at, sequence_position(c, 1, count, count));
  c.set(0, items[at]);
  return {};
}

Status infer_sequence_erase(InferContext& c) {
  SV_TRY(require_sequence(c, 0));
  SV_TRY(require_position(c, 1));
  c.set(0, c.type(0));
  return {};
}

Status evaluate_sequence_erase(EvaluateContext& c) {
  std::vector<Tensor> items = sequence_items(c, 0);
  const auto count = static_cast<int64_t>(items.size());
  if (items.empty()) return error("the sequence is empty, nothing can be erased");
  size_t at = items.size() - 1;
  if (c.has_input(1)) {
    SV_ASSIGN(at, sequence_position(c, 1, count, count));
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  c.set(0, Tensor::of_items(DType::sequence, std::move(items)));
  return {};
}

Status infer_sequence_insert(InferContext& c) {
  SV_TRY(require_sequence(c, 0));
  SV_TRY(require_position(c, 2));
  SV_ASSIGN(Type element, common_element(element_type(c.type(0)), c.type(1)));
  c.set(0, handle_type(DType::sequence, std::move(element)));
  return {};
}

Status evaluate_sequence_insert(EvaluateContext& c) {
  std::vector<Tensor> items = sequence_items(c, 0);
  SV_TRY(check_item(items, c.input(1)));
  const auto count = static_cast<int64_t>(items.size());
  size_t at = items.size();
  if (c.has_input(2)) {
    SV_ASSIGN(at, sequence_position(c, 2, count, count + 1));
  }
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), c.input(1));
  c.set(0, Tensor::of_items(DType::sequence, std::move(items)));
  return {};
}

Status infer_sequence_length(InferContext& c) {
  SV_TRY(require_sequence(c, 0));
  c.set(0, DType::i64, Shape(std::vector<Dim>{}));
  return {};
}

Status evaluate_sequence_length(EvaluateContext& c) {
  c.set(0, Tensor::scalar(static_cast<int64_t>(sequence_items(c, 0).size())));
  return {};
}

OpDef sequence_op(const char* name, OpInputs inputs, Status (*infer)(InferContext&), Status (*evaluate)(EvaluateContext&)) {
  return {.name = name, .since = 11, .inputs = inputs, .infer = infer, .evaluate = evaluate};
}

}  // namespace

OpDef define_sequence_empty() {
  OpDef op = sequence_op("SequenceEmpty", "", infer_sequence_empty, evaluate_sequence_empty);
  op.attributes = {{"dtype", AttributeKind::kInt, false, 1}};
  return op;
}

OpDef define_sequence_construct() {
  return sequence_op("SequenceConstruct", "inputs...", infer_sequence_construct, evaluate_sequence_construct);
}

OpDef define_sequence_at() { return sequence_op("SequenceAt", "input_sequence, position", infer_sequence_at, evaluate_sequence_at); }

OpDef define_sequence_erase() { return sequence_op("SequenceErase", "input_sequence, position?", infer_sequence_erase, evaluate_sequence_erase); }

OpDef define_sequence_insert() {
  return sequence_op("SequenceInsert", "input_sequence, tensor, position?", infer_sequence_insert, evaluate_sequence_insert);
}

OpDef define_sequence_length() { return sequence_op("SequenceLength", "input_sequence", infer_sequence_length, evaluate_sequence_length); }

}  // namespace svengine::ops

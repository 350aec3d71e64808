// Products of matrices as ONNX Runtime fuses them: FusedMatMul (of old TransposeMatMul), FusedMatMulActivation, FusedGemm.
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

/// Dimensions as transBatch has them before the last two are swapped: the first one goes to the last but one place.
std::vector<int64_t> batch_transposed(int64_t rank) {
  std::vector<int64_t> perm;
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  perm.push_back(0), perm.push_back(rank - 1);
  return perm;
}

bool transposes_batch(const Attributes& attributes, size_t operand, const Shape& shape) {
  return attributes.get_int(operand == 0 ? "transBatchA" : "transBatchB", 0) != 0 && shape.rank() > 2;
}

bool transposes_matrix(const Attributes& attributes, size_t operand, const Shape& shape) {
  return attributes.get_int(operand == 0 ? "transA" : "transB", 0) != 0 && shape.rank() > 1;
}

Result<Shape> runtime_product_shape(const InferContext& c) {
  Shape shapes[2];
  for (size_t i = 0; i < 2; ++i) {
    shapes[i] = c.shape(i);
    if (!shapes[i].has_rank() || !transposes_batch(c.attributes(), i, shapes[i])) continue;
    std::vector<Dim> dims;
    for (const int64_t d : batch_transposed(shapes[i].rank())) dims.push_back(shapes[i][static_cast<size_t>(d)]);
    shapes[i] = Shape(std::move(dims));
  }
  return matmul_shape(shapes[0], shapes[1], shapes[0].has_rank() && transposes_matrix(c.attributes(), 0, shapes[0]),
                      shapes[1].has_rank() && transposes_matrix(c.attributes(), 1, shapes[1]));
}

Status infer_runtime_product(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_TRY(check_runtime_activation(c.attributes().get_string("activation", "")));
  SV_ASSIGN(Shape shape, runtime_product_shape(c));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Value* runtime_operand(ExpandContext& c, size_t i) {
  Value* v = c.input(i);
  const int64_t rank = v->type.shape.rank();
  if (transposes_batch(c.attributes(), i, v->type.shape)) v = c.transpose(v, batch_transposed(rank));
  if (!transposes_matrix(c.attributes(), i, c.shape(i))) return v;
  std::vector<int64_t> perm;
  for (int64_t d = 0; d < rank - 2; ++d) perm.push_back(d);
  perm.push_back(rank - 1), perm.push_back(rank - 2);
  return c.transpose(v, std::move(perm));
}

std::vector<float> activation_parameters(const Attributes& attributes) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (attributes.has(name)) parameters.push_back(attributes.get_float(name, 0));
  if (attributes.has("activation_gamma")) parameters.push_back(attributes.get_float("activation_gamma", 0));
  return parameters;
}

Status expand_runtime_product(ExpandContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return {};
  Value* y = c.op("MatMul", {runtime_operand(c, 0), runtime_operand(c, 1)});
  const float alpha = c.attributes().get_float("alpha", 1);
  if (alpha != 1) y = c.op("Mul", {y, c.number(alpha, c.dtype(0))});
  c.set(0, y ? runtime_activation(c, y, c.attributes().get_string("activation", ""), activation_parameters(c.attributes()))
             : nullptr);
  return {};
}

Status infer_runtime_gemm(InferContext& c) {
  for (size_t i = 0; i < 2; ++i) SV_TRY(require_rank(c, i, 2));
  return infer_runtime_product(c);
}

Status expand_runtime_gemm(ExpandContext& c) {
  std::vector<Value*> inputs{c.input(0), c.input(1)};
  if (c.has_input(2)) inputs.push_back(c.input(2));
  Attributes gemm;
  for (const char* name : {"alpha", "beta"}) gemm.set(name, c.attributes().get_float(name, 1));
  for (const char* name : {"transA", "transB"}) gemm.set(name, c.attributes().get_int(name, 0));
  Value* y = c.op("Gemm", std::move(inputs), std::move(gemm));
  c.set(0, y ? runtime_activation(c, y, c.attributes().get_string("activation", ""), activation_parameters(c.attributes()))
             : nullptr);
  return {};
}

std::vector<AttributeDef> product_attributes(bool batch) {
  std::vector<AttributeDef> list{{"transA", AttributeKind::kInt, false, 0},
                                 {"transB", AttributeKind::kInt, false, 0},
                                 {"alpha", AttributeKind::kFloat, false, 1.0f}};
  if (batch)
    list.push_back({"transBatchA", AttributeKind::kInt, false, 0}),
        list.push_back({"transBatchB", AttributeKind::kInt, false, 0});
  return list;
}

void add_activation(std::vector<AttributeDef>& list, bool required) {
  list.push_back({"activation", AttributeKind::kString, required});
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    list.push_back({name, AttributeKind::kFloat});
}

OpDef runtime_product(const char* name, bool batch) {
  return {
      .name = name,
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B",
      .attributes = product_attributes(batch),
      .expand = expand_runtime_product,
      .infer = infer_runtime_product,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 5, 4], float32[2, 3, 5, 7]) {transA = 1, alpha = 0.5}"
                 "(float32[1, 1], float32[1, 1])"
                 "(float32[3, 4], float32[2, 4]) {transB = 1}",
  };
}

}  // namespace

OpDef define_microsoft_fused_mat_mul() {
  OpDef op = runtime_product("FusedMatMul", true);
  op.samples += "(float32[5, 2, 3, 4], float32[2, 3, 4, 6]) {transBatchA = 1}";
  op.samples += "(float32[2, 19, 3], float32[2, 21, 19]) {transA = 1, transB = 1}";
  return op;
}

OpDef define_microsoft_transpose_mat_mul() { return runtime_product("TransposeMatMul", false); }

OpDef define_microsoft_fused_mat_mul_activation() {
  OpDef op = runtime_product("FusedMatMulActivation", true);
  add_activation(op.attributes, true);
  op.attributes.push_back({"activation_axis", AttributeKind::kInt});
  op.samples = R"((float32[2, 3, 5, 4], float32[2, 3, 5, 7]) {transA = 1, alpha = 0.5, activation = "Relu"})"
               R"((float32[3, 4], float32[4, 2]) {activation = "LeakyRelu", activation_alpha = 0.2})";
  return op;
}

OpDef define_microsoft_fused_gemm() {
  std::vector<AttributeDef> attributes = product_attributes(false);
  add_activation(attributes, false);
  attributes.push_back({"beta", AttributeKind::kFloat, false, 1.0f});
  return {
      .name = "FusedGemm",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B, C?",
      .attributes = std::move(attributes),
      .expand = expand_runtime_gemm,
      .infer = infer_runtime_gemm,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[5, 9], float32[7, 9], float32[7]) {transB = 1, activation = "Relu"})"
                 R"((float32[1, 2], float32[2, 1]) {alpha = 0.5, activation = "LeakyRelu", activation_alpha = 0.1})",
  };
}

}  // namespace svengine::ops

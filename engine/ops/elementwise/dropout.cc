// Dropout: at inference the input and a mask that is true everywhere; in training mode elements are dropped at random and the
// others scaled by 1 / (1 - ratio). Without the attribute `seed` the seed is 0: a run can be repeated. Before opset 10 the mask had
// the data's type, which canonical nodes say by attribute `mask_type`.
#include <algorithm>
#include <cstring>
#include <random>

#include "engine/graph/gradient.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/dropout_common.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

constexpr const char* kMaskType = "mask_type";  // the number of a DType; absent: bool
constexpr int kBoolMaskOpset = 10;

DType mask_type(const Attributes& attributes) {
  return attributes.get_dtype(kMaskType, DType::boolean);
}

/// Before opset 12 the ratio was an attribute, and until opset 6 so was the mode.
Status canonicalize_dropout(CanonicalizeContext& c) {
  const Value* x = c.node().input(0);
  if (const float* ratio = c.attributes().get<float>("ratio"); ratio && x) {
    c.set_input(1, c.graph().add_constant(c.node().name() + ".ratio", scalar_of(DType::f32, *ratio)));
    c.attributes().erase("ratio");
  }
  if (c.opset() < kBoolMaskOpset && c.node().output(1) && x) c.attributes().set(kMaskType, static_cast<int64_t>(x->type.dtype));
  if (c.opset() < 7 && c.attributes().get_int("is_test") == 0)
    return error("attribute is_test is 0: training is not expressed by this operator here; export the model for inference");
  c.attributes().erase("is_test");
  return {};
}

Status infer_dropout(InferContext& c) {
  SV_TRY(require_rank(c, 1, 0));
  SV_TRY(require_rank(c, 2, 0));
  c.set(0, c.type(0));
  c.set(1, mask_type(c.attributes()), c.shape(0));
  return {};
}

/// keep[i] = u_i >= ratio, u being numpy.random.seed(seed); numpy.random.uniform(0, 1): the generator of ONNX's own tests.
/// One task, because each number of the Mersenne twister follows from the ones before.
void draw(const DropoutMode& mode, uint32_t seed, int64_t count, uint8_t* keep) {
  std::mt19937 twister(seed);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t high = twister() >> 5, low = twister() >> 6;
    const double u = (high * 67108864.0 + low) / 9007199254740992.0;  // 53 bits: (high * 2^26 + low) / 2^53
    keep[i] = !mode.training || mode.ratio == 0 || u >= mode.ratio;
  }
}

Status lower_training(LowerContext& c, int64_t count) {
  const Buffer x = c.in(0), y = c.out(), ratio = c.in(1), training = c.in(2);
  const Buffer keep = c.has_output(1) ? c.out(1) : c.temporary(count);
  const DType ratio_type = ratio ? c.in_type(1).dtype : DType::f32;
  const auto seed = static_cast<uint32_t>(c.attributes().get_int("seed", 0));
  c.emit("dropout_draw", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    draw(dropout_mode(run, ratio, ratio_type, training), seed, count, run.get<uint8_t>(keep));
    return nullptr;
  });
  emit_dropout_apply(c, x, keep, ratio, ratio_type, training, y, count);
  return {};
}

Status lower_dropout(LowerContext& c) {
  const int64_t count = element_count(c.in_dims(0));
  const Tensor* training = c.constant(2);
  if (c.has_input(2) && !(training && training->data<uint8_t>()[0] == 0)) return lower_training(c, count);
  emit_copy(c, "copy", flat_view(count));
  if (!c.has_output(1)) return {};
  const Tensor one = scalar_of(mask_type(c.attributes()), 1);
  uint64_t bits = 0;
  std::memcpy(&bits, one.raw(), one.byte_size());
  emit_fill(c, c.out(1), count, one.byte_size(), bits);
  return {};
}

/// training_mode is absent or known to be false.
bool is_inference(const Node& node) {
  const Value* training = node.input(2);
  return !training || (training->is_constant() && *training->constant().raw() == std::byte{0});
}

/// At inference nothing; in training the mask decides as it did in the forward pass.
Status dropout_gradient(GradientContext& c) {
  if (is_inference(c.node())) {
    c.set(0, c.dy());
    return {};
  }
  c.set(0, c.internal("DropoutGrad", {c.dy(), c.output(1), c.input(2), c.input(1)}));
  return {};
}

/// Also in training mode with a ratio of 0, as torchvision's Swin transformers are exported.
bool drops_nothing(const Node& node) {
  const Value* ratio = node.input(1);
  return is_inference(node) || (ratio && ratio->is_constant() && ratio->type.dtype == DType::f32 && ratio->constant().count() == 1 &&
                                ratio->constant().data<float>()[0] == 0);
}

}  // namespace

OpDef define_dropout() {
  OpDef op = unary_op("Dropout", "data, ratio?, training_mode?", infer_dropout, lower_dropout, false);
  op.traits.transposed = nullptr;  // the mask is drawn by position
  op.outputs = {1, 2};
  op.attributes = {{"seed", AttributeKind::kInt}, internal_attribute(kMaskType, AttributeKind::kInt)};
  op.canonicalize = canonicalize_dropout;
  op.traits.is_identity = drops_nothing;
  op.traits.may_overwrite = false;
  op.gradient = dropout_gradient;
  op.samples = "(float32[3, 21])"
               "(float32[3, 21]) 2"
               "(float32[3, 21], float32[]{0.25}, bool[]{1}) {seed = 7}";
  op.types = {{"T", kRealTypes | kFloat8Types, {0}}, {"T1", kRealTypes | kFloat8Types, {1}}, {"T2", kBool, {2}}};
  return op;
}

}  // namespace svengine::ops

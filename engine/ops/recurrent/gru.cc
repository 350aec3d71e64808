// GRU: one layer of gated recurrent units.
#include "engine/ops/recurrent/recurrent_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {

OpDef define_gru() {
  OpDef op = recurrent_op("GRU", 3);
  op.attributes.push_back({"linear_before_reset", AttributeKind::kInt, false, int64_t{0}});
  const SampleInput lengths = fixed(Tensor::of<int32_t>({3}, {2, 5, 3}));
  op.samples = {
      {.inputs = {f32({5, 3, 7}), f32({1, 57, 7}), f32({1, 57, 19}, -0.5, 0.5), f32({1, 114})},
       .attributes = {{"hidden_size", integer(19)}, {"linear_before_reset", integer(1)}},
       .outputs = 2},
      {.inputs = {f32({3, 5, 4}), f32({2, 18, 4}), f32({2, 18, 6}), f32({2, 36}), lengths, f32({3, 2, 6})},
       .attributes = {{"direction", text("bidirectional")}, {"layout", integer(1)}},
       .outputs = 2},
      {.inputs = {f32({2, 9, 5}), f32({1, 120, 5}), f32({1, 120, 40}, -0.5, 0.5), f32({1, 240})}, .outputs = 2},
      {.inputs = {f32({1, 1, 1}), f32({1, 3, 1}), f32({1, 3, 1})},
       .attributes = {{"direction", text("reverse")}, {"activations", std::vector<std::string>{"HardSigmoid", "Softsign"}}}},
      {.inputs = {any(DType::f64, {4, 2, 3}), any(DType::f64, {1, 15, 3}), any(DType::f64, {1, 15, 5}), any(DType::f64, {1, 30})},
       .attributes = {{"linear_before_reset", integer(1)}, {"clip", real(0.75f)}},
       .outputs = 2},
      {.inputs = {any(DType::f64, {5, 3, 4}), any(DType::f64, {2, 33, 4}), any(DType::f64, {2, 33, 11}), any(DType::f64, {2, 66}),
                  lengths, any(DType::f64, {2, 3, 11})},
       .attributes = {{"direction", text("bidirectional")}},
       .outputs = 2},
      {.inputs = {any(DType::bf16, {2, 2, 3}), any(DType::bf16, {1, 6, 3}), any(DType::bf16, {1, 6, 2})}, .outputs = 2},
  };
  return op;
}

}  // namespace svengine::ops

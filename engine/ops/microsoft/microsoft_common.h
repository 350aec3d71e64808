// What operators of domain com.microsoft share. They are those that ONNX Runtime's optimiser writes into files; each is made of
// ai.onnx's operators, so that the engine's own passes fuse them, as far as it has kernels that do.
#pragma once
#include <string>

#include "engine/graph/expand.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/language/attention_common.h"
#include "engine/ops/like.h"

namespace svengine::ops {

/// An operator of version 1 that is made of others and has one output.
OpDef composite_op(const char* name, OpInputs inputs, std::vector<AttributeDef> attributes, Status (*infer)(InferContext&),
                   Status (*expand)(ExpandContext&), std::string samples);

/// Output 0 has the type and shape of input 0, a floating-point one; all inputs have that type.
Status infer_as_first(InferContext& c);

/// The activation that ONNX Runtime's fused operators name, with its parameters in the order of the operator's attributes.
Status check_runtime_activation(const std::string& name);
Value* runtime_activation(ExpandContext& c, Value* v, const std::string& name, const std::vector<float>& parameters);

/// A vector with an element for each of the last dimension of input `of`.
Status require_last(const InferContext& c, size_t input, size_t of = 0);

/// Numbers of 2 or 4 bits, `packed` to a byte, as bytes of their own along the last dimension, the first in the low bits; no more than
/// `most` of them. Whole bytes (1 in one) are given as they are.
Value* unpacked_bytes(ExpandContext& c, Value* v, int64_t packed, int64_t most);

/// What embeddings say of their mask [batch, tokens]: how many of each row are 1, as ONNX Runtime counts; without a mask zeros of the shape of
/// `words`, [batch].
Value* mask_index(ExpandContext& c, Value* mask, Value* words);

}  // namespace svengine::ops

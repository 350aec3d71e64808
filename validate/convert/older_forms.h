// Nodes that an opset of ai.onnx has not, by nodes that it has.
//
//   opset 13:   LayerNormalization ──> ReduceMean, Sub, Mul, ReduceMean, Add, Sqrt, Reciprocal, Mul, Mul, Add
//               x: bf16 ── Elu     ──> x ── Cast f32 ── Elu ── Cast bf16
//
// What has no older equal stays as it is, for the export to refuse and check to tell.
#pragma once
#include "engine/graph/graph.h"
#include "engine/graph/passes/pass.h"

namespace svengine::validate {

/// ONNX's functions that are younger than the opset become what they are made of, forms with younger attributes and inputs older ones
/// that say the same, younger operators of constants their values (window functions). Within bodies, too.
Status make_older(Graph& graph, int opset, const PassContext& context);

/// Around nodes whose operator takes the element types of its inputs only in younger opsets: Casts to a type that it takes and that holds
/// every value, and back.
Status widen_young_types(Graph& graph, int opset, const OpRegistry& ops);

}  // namespace svengine::validate

// Which operators become C, and by which function.
#pragma once
#include <string>

#include "tools/emit/context.h"

namespace svengine::tool::emit {

struct Emitter {
  const char* domain;
  const char* op;
  /// Of inputs and outputs, but for inputs that only decide shapes.
  DTypeSet types;
  /// Writes the body of the node's function. Null: the output is the input's memory, read as another shape.
  Status (*emit)(NodeContext&);
  /// Why a node of the operator cannot be written, or null; the absence of the function: every one can.
  const char* (*refuse)(const Node&) = nullptr;
};

const std::vector<Emitter>& emitters();
/// Null where there is none.
const Emitter* find_emitter(const OpDef& op);

/// Why the node cannot be written: "operator Loop", "operator Conv of bfloat16"; empty: it can.
std::string refusal(const Node& node);

// One function for each operator or family, in the file of its name.
Status emit_unary(NodeContext& c);
Status emit_variadic(NodeContext& c);
Status emit_where(NodeContext& c);
Status emit_clip(NodeContext& c);
Status emit_cast(NodeContext& c);
Status emit_product(NodeContext& c);
Status emit_n_bits_product(NodeContext& c);
Status emit_conv(NodeContext& c);
Status emit_conv_transpose(NodeContext& c);
Status emit_pool(NodeContext& c);
Status emit_softmax(NodeContext& c);
Status emit_recurrent(NodeContext& c);
Status emit_reduce(NodeContext& c);
Status emit_arg_reduce(NodeContext& c);
Status emit_row_norm(NodeContext& c);
Status emit_group_norm(NodeContext& c);
Status emit_batch_norm(NodeContext& c);
Status emit_concat(NodeContext& c);
Status emit_split(NodeContext& c);
Status emit_slice(NodeContext& c);
Status emit_transpose(NodeContext& c);
Status emit_expand(NodeContext& c);
Status emit_tile_op(NodeContext& c);
Status emit_depth_to_space(NodeContext& c);
Status emit_space_to_depth(NodeContext& c);
Status emit_pad(NodeContext& c);
Status emit_resize(NodeContext& c);
Status emit_gather(NodeContext& c);
Status emit_gather_elements(NodeContext& c);

}  // namespace svengine::tool::emit

// The activation that a fused operator applies to its result, as attributes: "activation" (a name) and its two numbers.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "engine/graph/op_def.h"
#include "engine/kernels/activation.h"

namespace svengine::ops {

/// The three attributes, for an OpDef's list.
std::vector<AttributeDef> with_activation_attributes(std::vector<AttributeDef> attributes);

/// A name of a fused activation in kernels/activation.inc; absent: none.
kernels::ActivationArgs activation_of(const Attributes& attributes);
void set_activation(Attributes& attributes, const kernels::ActivationArgs& activation);
std::string_view name_of(kernels::Activation activation);

/// Refuses a name that is none of these, and a type whose products end in none.
Status check_activation(const Attributes& attributes, DType type);

/// For OpTraits::activation: the attributes that stand for a node which is an activation itself (Relu, Clip with known bounds,
/// Gelu, ...); nothing when its parameters are not known, or no product of its type ends in one.
std::optional<Attributes> activation_of_node(const Node& node);

}  // namespace svengine::ops

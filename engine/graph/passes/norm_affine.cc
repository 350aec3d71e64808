#include "engine/graph/passes/norm_affine.h"

#include <cmath>

#include "engine/graph/passes/match.h"

namespace svengine {

std::optional<NormAffine> known_norm(const Node& norm) {
  if (!is_op(&norm, "BatchNormalization") || norm.outputs().size() != 1 || norm.attributes.get_int("training_mode")) return {};
  for (size_t i = 1; i <= 4; ++i) {
    if (!norm.input(i)->is_constant() || norm.input(i)->type.dtype != DType::f32) return {};
    if (norm.input(i)->constant().dims() != Dims{norm.input(1)->constant().count()}) return {};
  }
  NormAffine affine{as_doubles(norm.input(1)->constant()), as_doubles(norm.input(2)->constant())};
  const auto mean = as_doubles(norm.input(3)->constant()), variance = as_doubles(norm.input(4)->constant());
  const double epsilon = norm.attributes.get_float("epsilon", 1e-5f);
  for (size_t i = 0; i < affine.scale.size(); ++i) {
    affine.scale[i] /= std::sqrt(variance[i] + epsilon);
    affine.shift[i] -= mean[i] * affine.scale[i];
  }
  return affine;
}

Status make_channel_affine(Graph& graph, Node& node, const NormAffine& affine, const OpDef& op) {
  const auto channels = static_cast<int64_t>(affine.scale.size());
  SV_ASSIGN(MutableTensor scale, Tensor::allocate(DType::f32, {channels}));
  SV_ASSIGN(MutableTensor shift, Tensor::allocate(DType::f32, {channels}));
  for (size_t i = 0; i < affine.scale.size(); ++i) {
    scale.data<float>()[i] = static_cast<float>(affine.scale[i]);
    shift.data<float>()[i] = static_cast<float>(affine.shift[i]);
  }
  graph.resize_inputs(&node, 3);
  graph.set_input(&node, 1, graph.add_constant(node.name() + ".scale", std::move(scale)));
  graph.set_input(&node, 2, graph.add_constant(node.name() + ".shift", std::move(shift)));
  node.attributes = {};
  graph.set_op(&node, op);
  return {};
}

}  // namespace svengine

// Dense layers one after the other become one node, whose rows go through all of them block by block, so that what lies between
// stays in cache; so do branches side by side that read one value and end in one Concat:
//
//   FusedMatMul ─> FusedMatMul ─> ...                       =>   DenseChain
//
//        ┌─> FusedMatMul ─> FusedMatMul ─┐
//   x ───┼─> FusedMatMul ─> FusedMatMul ─┼─> Concat         =>   x ─> DenseChain: the branches' first layers as one, then layers
//        └─> ...                         ┘                            of as many groups as there are branches
//
// Only where there are rows enough for the lanes, and weights that are known and so narrow that a block of rows fits the caches.
#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr int64_t kLeastRows = 32;     // two panels of AVX2's floats: fewer leave lanes without work
constexpr int64_t kMostWidth = 2048;   // of a layer: a panel of 32 such samples is 256 KiB
constexpr size_t kMostLayers = 16;     // of a chain, as the operator has it

/// A layer of a DenseChain: weights [groups, outputs, inputs] or [outputs, inputs].
struct Layer {
  Value* weights;
  Value* bias;
  std::string activation;
  float alpha, beta;
};

bool is_matrix_product(const Node& node) {
  if (!is_op(&node, "FusedMatMul") && !is_op(&node, "MatMul")) return false;
  const Attributes& a = node.attributes;
  const Value *x = node.input(0), *w = node.input(1);
  const Value* bias = node.inputs().size() > 2 ? node.input(2) : nullptr;
  if (x->type.dtype != DType::f32 && x->type.dtype != DType::f64) return false;
  if (node.outputs().size() != 1 || (node.inputs().size() > 3 && node.input(3))) return false;
  if (a.get_int("transpose_a") || a.get_float("alpha", 1.0f) != 1.0f || x->type.shape.rank() != 2) return false;
  if (!w->is_constant() || w->type.shape.rank() != 2 || (bias && !bias->is_constant())) return false;
  const Dims dims = w->constant().dims();
  return *std::max_element(dims.begin(), dims.end()) <= kMostWidth && *std::min_element(dims.begin(), dims.end()) > 0;
}

bool has_rows(const Value* x) {
  const Shape& shape = x->type.shape;
  return shape.rank() == 2 && shape[0].is_static() && shape[0].value() >= kLeastRows;
}

/// [rows, columns] as [columns, rows].
Result<Tensor> turned(const Tensor& matrix) {
  const int64_t rows = matrix.dims()[0], columns = matrix.dims()[1];
  const size_t size = size_of(matrix.type());
  SV_ASSIGN(MutableTensor out, Tensor::allocate(matrix.type(), {columns, rows}));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      std::memcpy(out.raw() + static_cast<size_t>(j * rows + i) * size, matrix.raw() + static_cast<size_t>(i * columns + j) * size, size);
  return Tensor(std::move(out));
}

/// Tensors of one type one after the other, as one of shape `dims`.
Result<Tensor> joined(const std::vector<Tensor>& parts, Dims dims) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(parts[0].type(), std::move(dims)));
  std::byte* to = out.raw();
  for (const Tensor& part : parts) {
    const size_t bytes = static_cast<size_t>(part.count()) * size_of(part.type());
    std::memcpy(to, part.raw(), bytes);
    to += bytes;
  }
  return Tensor(std::move(out));
}

Result<Layer> layer_of(Graph& graph, const Node& product) {
  Value* weights = product.input(1);
  if (!product.attributes.get_int("transpose_b")) {
    SV_ASSIGN(Tensor other, turned(weights->constant()));
    weights = graph.add_constant(weights->name() + ".turned", std::move(other));
  }
  Value* bias = product.inputs().size() > 2 ? product.input(2) : nullptr;
  if (!bias) {
    const Tensor& w = weights->constant();
    SV_ASSIGN(MutableTensor zeros, Tensor::allocate(w.type(), {w.dims()[0]}));
    std::memset(zeros.raw(), 0, static_cast<size_t>(w.dims()[0]) * size_of(w.type()));
    bias = graph.add_constant(product.name() + ".zeros", std::move(zeros));
  }
  const Attributes& a = product.attributes;
  return Layer{weights, bias, a.get_string("activation"), a.get_float("activation_alpha"), a.get_float("activation_beta")};
}

/// The layers of a node that is one, or a chain already.
Result<std::vector<Layer>> layers_of(Graph& graph, const Node& node) {
  std::vector<Layer> layers;
  if (!is_op(&node, "DenseChain")) {
    SV_ASSIGN(Layer layer, layer_of(graph, node));
    layers.push_back(std::move(layer));
    return layers;
  }
  const auto* names = node.attributes.get<std::vector<std::string>>("activations");
  const auto* alphas = node.attributes.get<std::vector<float>>("activation_alphas");
  const auto* betas = node.attributes.get<std::vector<float>>("activation_betas");
  for (size_t l = 0; l < names->size(); ++l)
    layers.push_back({node.input(1 + 2 * l), node.input(2 + 2 * l), (*names)[l], (*alphas)[l], (*betas)[l]});
  return layers;
}

/// A DenseChain of x in front of `before`.
Result<Node*> add_chain(Graph& graph, const OpDef& op, const std::string& name, Value* x, const std::vector<Layer>& layers, Node* before) {
  std::vector<Value*> inputs{x};
  std::vector<std::string> names;
  std::vector<float> alphas, betas;
  for (const Layer& layer : layers) {
    inputs.insert(inputs.end(), {layer.weights, layer.bias});
    names.push_back(layer.activation), alphas.push_back(layer.alpha), betas.push_back(layer.beta);
  }
  Attributes attributes;
  attributes.set("activations", std::move(names));
  attributes.set("activation_alphas", std::move(alphas));
  attributes.set("activation_betas", std::move(betas));
  Node* node = graph.add_node(op, name, std::move(inputs), 1, std::move(attributes), before);
  SV_TRY(infer_types(*node));
  return node;
}

/// The products that lead from a value to `end`, each read by the next alone; the first one first. Empty: none.
std::vector<Node*> branch_to(const Graph& graph, Value* end) {
  std::vector<Node*> branch;
  for (Node* node = end->producer(); node && branch.size() < kMostLayers; node = node->input(0)->producer()) {
    if (!is_matrix_product(*node) || !only_used_once(graph, node->output())) break;
    branch.insert(branch.begin(), node);
  }
  return branch;
}

bool same_layers(const Node& a, const Node& b) {
  for (const char* number : {"activation_alpha", "activation_beta"})
    if (a.attributes.get_float(number) != b.attributes.get_float(number)) return false;
  return a.attributes.get_string("activation") == b.attributes.get_string("activation") &&
         a.attributes.get_int("transpose_b") == b.attributes.get_int("transpose_b") &&
         a.input(1)->type == b.input(1)->type;
}

/// The branches that `concat` joins along columns, if they are alike and read one value; else empty. All are as long as the shortest.
std::vector<std::vector<Node*>> alike_branches(const Graph& graph, const Node& concat) {
  const int64_t axis = concat.attributes.get_int("axis");
  if (!is_op(&concat, "Concat") || concat.inputs().size() < 2 || concat.output()->type.shape.rank() != 2 || (axis != 1 && axis != -1)) return {};
  std::vector<std::vector<Node*>> branches;
  size_t shortest = kMostLayers;
  for (Value* part : concat.inputs()) {
    branches.push_back(branch_to(graph, part));
    shortest = std::min(shortest, branches.back().size());
  }
  for (auto& branch : branches) branch.erase(branch.begin(), branch.end() - static_cast<int64_t>(shortest));
  if (shortest == 0) return {};
  for (const auto& branch : branches) {
    if (branch[0]->input(0) != branches[0][0]->input(0)) return {};
    for (size_t l = 0; l < shortest; ++l)
      if (!same_layers(*branch[l], *branches[0][l])) return {};
  }
  return branches;
}

/// Layer l of all branches as one: side by side where they read the same values, in groups behind that.
Result<Layer> merged_layer(Graph& graph, const std::vector<std::vector<Node*>>& branches, size_t l) {
  std::vector<Tensor> weights, biases;
  Layer merged{};
  for (const auto& branch : branches) {
    SV_ASSIGN(merged, layer_of(graph, *branch[l]));
    weights.push_back(merged.weights->constant());
    biases.push_back(merged.bias->constant());
  }
  const auto groups = static_cast<int64_t>(branches.size());
  const int64_t outputs = weights[0].dims()[0], inputs = weights[0].dims()[1];
  const std::string name = branches[0][l]->name();
  SV_ASSIGN(Tensor all, joined(weights, l == 0 ? Dims{groups * outputs, inputs} : Dims{groups, outputs, inputs}));
  merged.weights = graph.add_constant(name + ".merged", std::move(all));
  SV_ASSIGN(Tensor bias, joined(biases, {groups * outputs}));
  merged.bias = graph.add_constant(name + ".merged_bias", std::move(bias));
  return merged;
}

Status merge_branches(Graph& graph, Node& concat, const OpDef& op) {
  const auto branches = alike_branches(graph, concat);
  if (branches.empty() || !has_rows(branches[0][0]->input(0))) return {};
  if (static_cast<int64_t>(branches.size()) * branches[0][0]->output()->type.shape[1].value() > kMostWidth) return {};
  std::vector<Layer> layers;
  for (size_t l = 0; l < branches[0].size(); ++l) {
    SV_ASSIGN(Layer layer, merged_layer(graph, branches, l));
    layers.push_back(std::move(layer));
  }
  SV_ASSIGN(Node * chain, add_chain(graph, op, concat.name(), branches[0][0]->input(0), layers, &concat));
  graph.replace_uses(concat.output(), chain->output());
  graph.erase(&concat);
  for (const auto& branch : branches)
    for (size_t l = branch.size(); l-- > 0;) graph.erase(branch[l]);
  return {};
}

bool is_link(const Node* node) { return node && (is_matrix_product(*node) || is_op(node, "DenseChain")); }

size_t layer_count(const Node& link) { return is_op(&link, "DenseChain") ? (link.inputs().size() - 1) / 2 : 1; }

/// The nodes from `last` back through values that only the next one reads, the first one first.
std::vector<Node*> links_to(const Graph& graph, Node* last) {
  std::vector<Node*> links{last};
  size_t layers = layer_count(*last);
  for (Node* node = last->input(0)->producer(); is_link(node) && only_used_once(graph, node->output()); node = node->input(0)->producer()) {
    layers += layer_count(*node);
    if (layers > kMostLayers) break;
    links.insert(links.begin(), node);
  }
  return links;
}

Status fuse_links(Graph& graph, const std::vector<Node*>& links, const OpDef& op) {
  std::vector<Layer> layers;
  for (const Node* link : links) {
    SV_ASSIGN(const std::vector<Layer> more, layers_of(graph, *link));
    layers.insert(layers.end(), more.begin(), more.end());
  }
  Node* last = links.back();
  SV_ASSIGN(Node * chain, add_chain(graph, op, last->name(), links[0]->input(0), layers, last));
  graph.replace_uses(last->output(), chain->output());
  for (size_t i = links.size(); i-- > 0;) graph.erase(links[i]);
  return {};
}

}  // namespace

Status fuse_dense_chain(Graph& graph, const PassContext& context) {
  const OpDef* op = context.ops.find(kInternalDomain, "DenseChain");
  if (!op) return {};
  std::vector<Node*> concats;  // apart, because merging erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (is_op(node.get(), "Concat")) concats.push_back(node.get());
  for (Node* concat : concats) SV_TRY(merge_branches(graph, *concat, *op));
  std::vector<std::vector<Node*>> chains;
  for (const auto& node : graph.nodes()) {
    if (!is_link(node.get()) || !has_rows(node->input(0))) continue;
    const bool goes_on = only_used_once(graph, node->output()) && is_link(node->output()->users()[0]) &&
                         node->output()->users()[0]->input(0) == node->output();
    if (goes_on) continue;
    if (std::vector<Node*> links = links_to(graph, node.get()); links.size() > 1) chains.push_back(std::move(links));
  }
  for (const auto& links : chains) SV_TRY(fuse_links(graph, links, *op));
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine

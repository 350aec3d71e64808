// Functions of one quantised value, element by element, are tables of 256 bytes:
//
//   x ─> DequantizeLinear ─┬───────────────────────> Mul ─> QuantizeLinear ─> y      =>      x, table ─> ByteTable ─> y
//                          └> Sigmoid ─> .. ─> .. ─┘
//
// whatever stands between: functions, sums and products with numbers, values that are quantised on the way. The table is computed by the same
// nodes, of all bytes, and folded, so that it holds what they would give.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"
#include "engine/graph/passes/quantized.h"
#include "engine/graph/transposed_node.h"

namespace svengine {
namespace {

constexpr int64_t kBytes = 256;
constexpr size_t kMostNodes = 24;  // of a function: what is behind a value is looked at again for every QuantizeLinear

/// What a value of bytes is a function of.
struct ByteFunction {
  Value* of;
  Value* table;  // all results, as a node gives them
};
using ByteFunctions = std::unordered_map<const Value*, ByteFunction>;

bool is_elementwise(const Node& node) {
  const OpDef& op = node.op();
  return op.traits.transposed == transposed_elementwise && op.lower && node.outputs().size() == 1 && !is_random(node);
}

/// One number, a constant or dequantised from one, which broadcasts to anything of x's rank.
bool is_number(const Value* v, const Shape& x) {
  const Shape& shape = v->type.shape;
  if (!shape.is_static() || element_count(*shape.concrete()) != 1 || shape.rank() > x.rank() || is_handle(v->type.dtype)) return false;
  const Node* node = producer_if(v, "DequantizeLinear");
  const auto known = [](const Value* input) { return !input || input->is_constant(); };
  return v->is_constant() || (node && std::all_of(node->inputs().begin(), node->inputs().end(), known));
}

/// The nodes from some bytes to a QuantizeLinear.
struct Chain {
  std::vector<Node*> nodes;     // inputs first
  std::vector<Value*> sources;  // bytes that DequantizeLinears of it read
  const Shape* shape = nullptr;  // of all of them
  size_t visited = 0;
};

bool holds(const std::vector<Node*>& nodes, const Node* node) { return std::find(nodes.begin(), nodes.end(), node) != nodes.end(); }

bool collect(Value* value, Chain& chain);

/// Inputs that are no numbers are parts of the chain, too.
bool collect_inputs(const Node& node, Chain& chain) {
  bool depends = false;
  for (Value* input : node.inputs()) {
    if (!input || is_number(input, *chain.shape)) continue;
    if (!collect(input, chain)) return false;
    depends = true;
  }
  return depends;
}

bool collect(Value* value, Chain& chain) {
  Node* node = value->producer();
  if (!node || !same_shape(value->type.shape, *chain.shape)) return false;
  if (holds(chain.nodes, node)) return true;
  if (chain.visited++ == kMostNodes) return false;
  if (const auto x = dequantized(value)) {
    if (!x->is_single() || x->value->is_constant() || x->scale->type.shape.rank() > 1) return false;
    if (std::find(chain.sources.begin(), chain.sources.end(), x->value) == chain.sources.end()) chain.sources.push_back(x->value);
  } else if (!is_elementwise(*node) || !collect_inputs(*node, chain)) {
    return false;
  }
  chain.nodes.push_back(node);
  return true;
}

/// The chain that `node` quantises, or nothing.
std::optional<Chain> chain_of(const Node& node) {
  const auto y = quantized(node);
  const Shape& shape = node.output()->type.shape;
  if (!y || !shape.has_rank() || shape.rank() == 0) return std::nullopt;
  Chain chain{.nodes = {}, .sources = {}, .shape = &shape};
  if (!collect(node.input(0), chain)) return std::nullopt;
  const auto x = dequantized(node.input(0));
  return x && same_quantization(*x, *y) ? std::nullopt : std::optional(std::move(chain));
}

/// All bytes, in a shape of that rank, so that what broadcasts to x broadcasts to it.
Tensor all_bytes(DType type, int64_t rank) {
  auto bytes = std::make_shared<std::array<uint8_t, kBytes>>();
  std::iota(bytes->begin(), bytes->end(), uint8_t{0});
  Dims dims(static_cast<size_t>(rank), 1);
  dims.back() = kBytes;
  return Tensor::wrap(type, std::move(dims), bytes->data(), bytes);
}

/// What all sources are functions of; nothing where they differ.
Value* origin_of(const Chain& chain, const ByteFunctions& known) {
  Value* origin = nullptr;
  for (Value* source : chain.sources) {
    const auto found = known.find(source);
    Value* of = found == known.end() ? source : found->second.of;
    if (origin && of != origin) return nullptr;
    origin = of;
  }
  return origin;
}

/// The chain and `last`, which quantises it, on tables: what `last` gives for all bytes of what the sources are functions of.
Value* table_of(Builder& builder, const Chain& chain, Node* last, const ByteFunctions& known) {
  std::unordered_map<const Value*, Value*> stands;
  const auto source = [&](Value* v) {
    const auto found = known.find(v);
    return found != known.end() ? found->second.table : builder.constant(all_bytes(v->type.dtype, chain.shape->rank()), "bytes");
  };
  for (Value* v : chain.sources) stands[v] = source(v);
  std::vector<Node*> nodes = chain.nodes;
  nodes.push_back(last);
  Value* result = nullptr;
  for (const Node* node : nodes) {
    std::vector<Value*> inputs;
    for (Value* v : node->inputs()) {
      const auto found = stands.find(v);
      inputs.push_back(found == stands.end() ? v : found->second);
    }
    const Node* made = builder.node(node->op().domain, node->op().name, std::move(inputs), 1, node->attributes);
    if (!made) return nullptr;
    stands[node->output()] = result = made->output();
  }
  return result;
}

}  // namespace

Status byte_tables(Graph& graph, const PassContext& context) {
  ByteFunctions known;
  for (Node* node : graph.snapshot()) {
    const std::optional<Chain> chain = chain_of(*node);
    Value* origin = chain ? origin_of(*chain, known) : nullptr;
    if (!origin) continue;
    Builder builder(graph, context.ops);
    builder.set_position(node);
    builder.set_node_name(node->name());
    Value* table = table_of(builder, *chain, node, known);
    const Node* made = builder.node(kInternalDomain, "ByteTable", {origin, table}, 1);
    SV_TRY(builder.status());
    known[made->output()] = {origin, table};
    graph.replace_uses(node->output(), made->output());
    graph.erase(node);
  }
  return remove_dead_nodes(graph, context);
}

}  // namespace svengine

#include "validate/inputs/random_inputs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string_view>

#include "engine/base/narrow_float.h"
#include "engine/graph/passes/match.h"
#include "importers/io/names.h"
#include "validate/inputs/random.h"

namespace svengine::validate {
namespace {

bool is_mask(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name.find("mask") != name.npos;
}

Error no_random_values(const std::string& name, DType type) {
  return error("there are no random values of type {}: input '{}' must be given", name_of(type), printable(name));
}

Result<Dims> dims_of(const Value& input, const std::map<std::string, int64_t>& sizes) {
  const Shape& shape = input.type.shape;
  if (!shape.has_rank()) return error("input '{}': its rank is not known", printable(input.name()));
  Dims out;
  for (const Dim& d : shape.dims()) {
    const auto size = d.is_symbolic() ? sizes.find(d.symbol()) : sizes.end();
    out.push_back(d.is_static() ? d.value() : size == sizes.end() ? 1 : size->second);
  }
  SV_TRY(check_dims(out));
  return out;
}

}  // namespace

IndexBounds find_index_bounds(const Graph& graph) {
  IndexBounds bounds;
  for (const auto& node : graph.nodes()) {
    if (!is_op(node.get(), "Gather") || !node->input(1)) continue;
    const Value* indices = node->input(1);
    while (const Node* cast = producer_if(indices, "Cast")) indices = cast->input(0);
    const Shape& table = node->input(0)->type.shape;
    if (!indices->is_input() || table.rank() < 1) continue;
    int64_t axis = node->attributes.get_int("axis");
    if (axis < 0) axis += table.rank();
    if (axis < 0 || axis >= table.rank() || !table[static_cast<size_t>(axis)].is_static()) continue;
    const int64_t rows = table[static_cast<size_t>(axis)].value();
    const auto [it, fresh] = bounds.emplace(indices->name(), rows);
    if (!fresh) it->second = std::min(it->second, rows);
  }
  return bounds;
}

Result<Tensor> random_input(const std::string& name, DType type, const Dims& dims, uint64_t seed, uint64_t stream, const IndexBounds& bounds) {
  if (is_handle(type)) return no_random_values(name, type);
  SV_ASSIGN(MutableTensor tensor, Tensor::allocate(type, dims));
  const Random random(seed, stream);
  const auto bound = bounds.find(name);
  const int64_t below = bound == bounds.end() ? 0 : bound->second, otherwise = is_mask(name) ? 1 : 0;
  const auto fill = [&]<class T>(const auto& element) {
    const std::span<T> to(reinterpret_cast<T*>(tensor.raw()), static_cast<size_t>(tensor.count()));
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(element(i));
  };
  const auto real = [&](size_t i) { return random.uniform(i) - 0.5f; };
  const auto integer = [&](size_t i) { return below > 0 ? random.below(i, below) : otherwise; };
  // Bytes and less are pixels and quantised numbers.
  const auto narrow_integer = [&](size_t i) {
    return static_cast<int64_t>(below > 0 || otherwise == 1 ? static_cast<uint8_t>(integer(i))
                                                            : unpacked(type, static_cast<uint8_t>(random.bits(i) >> 56)));
  };
  switch (type) {
    case DType::f32: return fill.operator()<float>(real), tensor;
    case DType::f64: return fill.operator()<double>(real), tensor;
    case DType::f16: return fill.operator()<uint16_t>([&](size_t i) { return float_to_half(real(i)); }), tensor;
    case DType::bf16: return fill.operator()<uint16_t>([&](size_t i) { return float_to_bfloat(real(i)); }), tensor;
    case DType::i64: case DType::u64: return fill.operator()<int64_t>(integer), tensor;
    case DType::i32: case DType::u32: return fill.operator()<int32_t>(integer), tensor;
    case DType::i16: case DType::u16: return fill.operator()<int16_t>(integer), tensor;
    case DType::boolean: return fill.operator()<uint8_t>(integer), tensor;
    case DType::f8e8m0: return fill.operator()<uint8_t>([&](size_t i) { return to_byte_float(type, std::abs(real(i))); }), tensor;
    default: break;
  }
  if (is_byte_float(type)) fill.operator()<uint8_t>([&](size_t i) { return to_byte_float(type, static_cast<double>(real(i))); });
  else fill.operator()<uint8_t>(narrow_integer);
  return tensor;
}

Result<std::vector<Tensor>> random_inputs(const Graph& graph, const std::map<std::string, int64_t>& sizes, uint64_t seed) {
  std::set<std::string> symbols;
  for (const Value* v : graph.inputs())
    for (const Dim& d : v->type.shape.has_rank() ? v->type.shape.dims() : std::vector<Dim>())
      if (d.is_symbolic()) symbols.insert(d.symbol());
  for (const auto& [symbol, size] : sizes)
    if (!symbols.contains(symbol)) return error("the inputs have no dimension '{}'", printable(symbol));
  const IndexBounds bounds = find_index_bounds(graph);
  std::vector<Tensor> out;
  for (const Value* v : graph.inputs()) {
    if (is_handle(v->type.dtype)) return no_random_values(v->name(), v->type.dtype);
    SV_ASSIGN(const Dims dims, dims_of(*v, sizes));
    SV_ASSIGN(Tensor tensor, random_input(v->name(), v->type.dtype, dims, seed, out.size(), bounds));
    out.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace svengine::validate

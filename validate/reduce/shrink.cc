#include "validate/reduce/shrink.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/dtype_set.h"
#include "importers/onnx/export_node.h"
#include "importers/onnx/support_check.h"
#include "validate/reduce/ddmin.h"
#include "validate/reduce/edit_graph.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto, onnx_proto::GraphProto, onnx_proto::NodeProto, onnx_proto::TensorProto;

TensorProto to_proto(const Tensor& tensor, const std::string& name) {
  TensorProto out = onnx::export_tensor_header(tensor, name);
  std::string packed;
  const auto data = onnx::raw_data_of(tensor, packed);
  out.set_raw_data(data.data(), data.size());
  return out;
}

/// The first `to` of every dimension of length `from`.
Result<Tensor> leading_part(const Tensor& tensor, int64_t from, int64_t to) {
  Dims dims = tensor.dims();
  std::replace(dims.begin(), dims.end(), from, to);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(tensor.type(), dims));
  const size_t size = size_of(tensor.type()), rank = dims.size();
  const int64_t row = rank ? dims[rank - 1] : 1, old_row = rank ? tensor.dims()[rank - 1] : 1;
  for (int64_t r = 0; r < (row ? out.count() / row : 0); ++r) {
    int64_t place = 0, rest = r, stride = 1;
    for (size_t d = rank ? rank - 1 : 0; d-- > 0;) {
      place += rest % dims[d] * stride;
      rest /= dims[d], stride *= tensor.dims()[d];
    }
    std::memcpy(out.raw() + static_cast<size_t>(r * row) * size, tensor.raw() + static_cast<size_t>(place * old_row) * size,
                static_cast<size_t>(row) * size);
  }
  return Tensor(std::move(out));
}

/// Weights, and the values of Constant nodes, everywhere in a model.
void for_each_weight(GraphProto& graph, const std::function<void(TensorProto&)>& visit) {
  for_each_graph(graph, [&](GraphProto& g) {
    for (TensorProto& weight : *g.mutable_initializer()) visit(weight);
    for (NodeProto& node : *g.mutable_node())
      if (node.op_type() == "Constant")
        for (AttributeProto& a : *node.mutable_attribute())
          if (a.has_t()) visit(*a.mutable_t());
  });
}

/// Attributes that say lengths of dimensions.
void replace_in_attributes(GraphProto& graph, int64_t from, int64_t to) {
  constexpr std::string_view kLists[] = {"kernel_shape", "output_shape", "shape", "split"};
  constexpr std::string_view kNumbers[] = {"hidden_size", "num_heads", "q_num_heads", "kv_num_heads", "group"};
  const auto has = [](const auto& names, const std::string& name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  for_each_graph(graph, [&](GraphProto& g) {
    for (NodeProto& node : *g.mutable_node())
      for (AttributeProto& a : *node.mutable_attribute()) {
        if (has(kLists, a.name())) std::replace(a.mutable_ints()->begin(), a.mutable_ints()->end(), from, to);
        if (has(kNumbers, a.name()) && a.i() == from) a.set_i(to);
      }
  });
}

class Shrinker {
 public:
  Shrinker(Variant& best, const ShrinkContext& context) : best_(best), context_(context) {}

  Result<ShrinkReport> run() {
    SV_TRY(inline_bodies());
    for (int g = 0; g < graph_count(best_); ++g) SV_TRY(bypass_nodes(g));
    SV_TRY(shrink_sizes());
    SV_TRY(shrink_weights());
    return report_;
  }

 private:
  static int graph_count(Variant& variant) {
    int count = 0;
    for_each_graph(*variant.model.mutable_graph(), [&](GraphProto&) { ++count; });
    return count;
  }

  static GraphProto& graph_at(Variant& variant, int index) {
    GraphProto* out = nullptr;
    for_each_graph(*variant.model.mutable_graph(), [&](GraphProto& graph) {
      if (index-- == 0) out = &graph;
    });
    return *out;
  }

  /// Whether the variant has the fault; it is the best one then.
  Result<bool> attempt(Variant variant) {
    GraphProto& graph = *variant.model.mutable_graph();
    drop_unread(graph);
    for_each_graph(graph, [](GraphProto& g) { g.clear_value_info(); });
    std::set<std::string_view> declared;
    for (const auto& input : graph.input()) declared.insert(input.name());
    std::erase_if(variant.inputs, [&](const std::string& name) { return !declared.contains(name); });
    if (graph.node_size() == 0) return false;
    variant.outputs.clear();
    for (const auto& output : graph.output()) variant.outputs.push_back(output.name());
    SV_ASSIGN(const bool faulty, context_.test(variant));
    if (faulty) best_ = std::move(variant);
    return faulty;
  }

  /// Every one that works uncovers nodes, which may have bodies in turn.
  Status inline_bodies() {
    const int opset = onnx::opset_of(best_.model, "");
    for (bool again = true; again;) {
      again = false;
      for (int g = 0; g < graph_count(best_) && !again; ++g)
        for (int n = 0; n < graph_at(best_, g).node_size() && !again; ++n) {
          const NodeProto node = graph_at(best_, g).node(n);
          for (const AttributeProto& attribute : node.attribute()) {
            if (again || !attribute.has_g()) continue;
            Variant variant = best_;
            if (!inline_body(graph_at(variant, g), n, attribute.name(), opset)) continue;
            SV_ASSIGN(again, attempt(std::move(variant)));
          }
        }
      report_.inlined_bodies += again;
    }
    return {};
  }

  Status bypass_nodes(int g) {
    const Variant before = best_;
    const int count = graph_at(best_, g).node_size();
    std::vector<int> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    if (count == 0 || count > context_.most) return {};
    const auto with_nodes = [&](const std::vector<int>& kept) -> Result<bool> {
      Variant variant = before;
      if (!bypass(graph_at(variant, g), kept)) return false;
      return attempt(std::move(variant));
    };
    const auto nodes_now = [&] { return g < graph_count(best_) ? graph_at(best_, g).node_size() : 0; };
    if (g > 0) {  // a body may be empty
      SV_ASSIGN(const bool empty, with_nodes({}));
      if (empty) return report_.bypassed_nodes += count - nodes_now(), Status();
    }
    const Result<std::vector<int>> done = ddmin(all, with_nodes);
    if (!done.ok()) return Error(done.error());
    report_.bypassed_nodes += count - nodes_now();
    return {};
  }

  /// Null where a tensor of that size cannot be cut.
  Result<bool> resize(Variant& variant, int64_t from, int64_t to, bool numbers) const {
    Status status;
    bool can = true;
    for_each_weight(*variant.model.mutable_graph(), [&](TensorProto& proto) {
      Result<Tensor> tensor = context_.file.tensor(proto);
      if (!tensor.ok()) return void(can = false);
      if (std::count(tensor->dims().begin(), tensor->dims().end(), from)) {
        if (!kDenseTypes.has(tensor->type())) return void(can = false);
        Result<Tensor> part = leading_part(*tensor, from, to);
        if (!part.ok()) return void(status = std::move(part).error());
        tensor = std::move(part);
        proto = to_proto(*tensor, proto.name());
      }
      if (!numbers || tensor->type() != DType::i64 || tensor->dims().size() > 1 || tensor->count() > 8) return;
      std::vector<int64_t> values = tensor->as_int64s();
      if (!std::count(values.begin(), values.end(), from)) return;
      std::replace(values.begin(), values.end(), from, to);
      proto = to_proto(Tensor::of<int64_t>(tensor->dims(), std::span<const int64_t>(values)), proto.name());
    });
    SV_TRY(status);
    if (numbers) replace_in_attributes(*variant.model.mutable_graph(), from, to);
    for (auto& input : *variant.model.mutable_graph()->mutable_input()) {
      if (!input.type().has_tensor_type()) continue;
      for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (dim.has_dim_value() && dim.dim_value() == from) dim.set_dim_value(to);
      if (!variant.data.has(input.name())) continue;
      SV_ASSIGN(const Tensor value, variant.data.tensor(input.name()));
      if (!std::count(value.dims().begin(), value.dims().end(), from)) continue;
      if (!kDenseTypes.has(value.type())) return false;
      SV_ASSIGN(const Tensor part, leading_part(value, from, to));
      SV_TRY(variant.data.add(input.name(), part));
    }
    return can;
  }

  /// A length may also stand among the numbers that nodes read as shapes; or these may mean something else.
  Result<bool> try_size(int64_t from, int64_t to) {
    for (const bool numbers : {true, false}) {
      Variant variant = best_;
      SV_ASSIGN(const bool can, resize(variant, from, to, numbers));
      if (!can) continue;
      SV_ASSIGN(const bool done, attempt(std::move(variant)));
      if (done) return true;
    }
    return false;
  }

  std::set<int64_t, std::greater<>> sizes() {
    std::set<int64_t, std::greater<>> out;
    for_each_weight(*best_.model.mutable_graph(), [&](TensorProto& proto) {
      if (const Result<Tensor> tensor = context_.file.tensor(proto); tensor.ok()) out.insert(tensor->dims().begin(), tensor->dims().end());
    });
    for (const auto& input : best_.model.graph().input())
      for (const auto& dim : input.type().tensor_type().shape().dim()) out.insert(dim.dim_value());
    std::erase_if(out, [](int64_t size) { return size < 2; });
    return out;
  }

  Status shrink_sizes() {
    int left = context_.most;
    for (const int64_t size : sizes()) {
      if (left-- == 0) return {};
      SV_ASSIGN(bool done, try_size(size, 1));
      report_.shrunk_sizes += done;
      if (done) continue;
      int64_t now = size;
      for (; now >= 4; now /= 2) {
        SV_ASSIGN(done, try_size(now, now / 2));
        if (!done) break;
      }
      report_.shrunk_sizes += now < size;
    }
    return {};
  }

  Status shrink_weights() {
    int count = 0;
    for_each_weight(*best_.model.mutable_graph(), [&](TensorProto&) { ++count; });
    for (int i = std::min(count, context_.most); i-- > 0;) {  // backwards: one that is not read any more is gone then
      SV_ASSIGN(const bool shrunk, try_weight(i, false));
      report_.shrunk_weights += shrunk;
      if (shrunk) continue;
      SV_ASSIGN(const bool zeroed, try_weight(i, true));
      report_.zeroed_weights += zeroed;
    }
    return {};
  }

  Result<bool> try_weight(int index, bool zeros) {
    Variant variant = best_;
    TensorProto* proto = nullptr;
    for_each_weight(*variant.model.mutable_graph(), [&](TensorProto& weight) {
      if (index-- == 0) proto = &weight;
    });
    if (!proto) return false;
    const Result<Tensor> tensor = context_.file.tensor(*proto);
    if (!tensor.ok() || !kDenseTypes.has(tensor->type()) || tensor->count() < 2) return false;
    if (zeros && !is_float(tensor->type())) return false;
    SV_ASSIGN(MutableTensor made, Tensor::allocate(tensor->type(), zeros ? tensor->dims() : Dims(tensor->dims().size(), 1)));
    if (zeros) std::memset(made.raw(), 0, made.byte_size());
    else std::memcpy(made.raw(), tensor->raw(), made.byte_size());
    if (zeros && std::memcmp(made.raw(), tensor->raw(), made.byte_size()) == 0) return false;
    *proto = to_proto(made, proto->name());
    return attempt(std::move(variant));
  }

  Variant& best_;
  const ShrinkContext& context_;
  ShrinkReport report_;
};

}  // namespace

Result<ShrinkReport> shrink(Variant& variant, const ShrinkContext& context) { return Shrinker(variant, context).run(); }

}  // namespace svengine::validate

#include "validate/diff/fingerprint.h"

#include <algorithm>

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto, onnx_proto::GraphProto, onnx_proto::NodeProto;

uint64_t mix(uint64_t seed, uint64_t value) { return hash64(std::as_bytes(std::span(&value, 1)), seed); }

template <class T>
uint64_t mix_all(uint64_t seed, const T& list) {
  return hash64(std::as_bytes(std::span(list.data(), static_cast<size_t>(list.size()))), seed);
}

/// Names of a scope and what stands for them.
struct Env {
  const std::function<uint64_t(std::string_view)>& around;
  std::unordered_map<std::string_view, uint64_t> values = {};

  uint64_t find(std::string_view name) const {
    const auto at = values.find(name);
    return at == values.end() ? around(name) : at->second;
  }
};

class NodeHasher {
 public:
  NodeHasher(TensorReader& tensors, bool contents) : tensors_(tensors), contents_(contents) {}

  Result<uint64_t> tensor(const onnx_proto::TensorProto& proto) {
    return contents_ ? tensors_.content_hash(proto) : tensors_.shape_hash(proto);
  }

  Result<uint64_t> sparse(const onnx_proto::SparseTensorProto& proto) {
    SV_ASSIGN(const uint64_t values, tensor(proto.values()));
    SV_ASSIGN(const uint64_t indices, tensor(proto.indices()));
    return mix_all(mix(values, indices), proto.dims());
  }

  Result<uint64_t> weight(const DiffWeight& weight) { return weight.dense ? tensor(*weight.dense) : sparse(*weight.sparse); }

  /// Operator and attributes; bodies with what they capture.
  Result<uint64_t> core(const NodeProto& node, const std::function<uint64_t(std::string_view)>& around) {
    std::vector<uint64_t> attributes;
    for (const AttributeProto& proto : node.attribute()) {
      SV_ASSIGN(const uint64_t hash, attribute(proto, around));
      attributes.push_back(hash);
    }
    std::sort(attributes.begin(), attributes.end());
    return mix_all(hash64(operator_key(node)), attributes);
  }

 private:
  Result<uint64_t> attribute(const AttributeProto& proto, const std::function<uint64_t(std::string_view)>& around) {
    uint64_t hash = mix(hash64(proto.name()), hash64(proto.ref_attr_name(), static_cast<uint64_t>(proto.type())));
    if (proto.has_f()) hash = hash64(fmt::format("{}", proto.f()), hash);
    if (proto.has_i()) hash = mix(hash, static_cast<uint64_t>(proto.i()));
    if (proto.has_s()) hash = hash64(proto.s(), hash);
    hash = mix_all(mix_all(hash, proto.floats()), proto.ints());
    for (const std::string& text : proto.strings()) hash = hash64(text, mix(hash, text.size()));
    if (proto.has_tp()) hash = hash64(proto.tp().SerializeAsString(), hash);
    for (const auto& type : proto.type_protos()) hash = hash64(type.SerializeAsString(), hash);
    const auto add = [&](const Result<uint64_t>& part) -> Status {
      if (!part.ok()) return Error(part.error());
      hash = mix(hash, *part);
      return {};
    };
    if (proto.has_t()) SV_TRY(add(tensor(proto.t())));
    for (const auto& one : proto.tensors()) SV_TRY(add(tensor(one)));
    if (proto.has_sparse_tensor()) SV_TRY(add(sparse(proto.sparse_tensor())));
    for (const auto& one : proto.sparse_tensors()) SV_TRY(add(sparse(one)));
    if (proto.has_g()) SV_TRY(add(body(proto.g(), around)));
    for (const auto& one : proto.graphs()) SV_TRY(add(body(one, around)));
    return hash;
  }

  /// The hashes of its outputs, forwards. Depth is bounded by what OnnxFile reads.
  Result<uint64_t> body(const GraphProto& graph, const std::function<uint64_t(std::string_view)>& around) {
    Env env{around};
    for (int i = 0; i < graph.input_size(); ++i) env.values[graph.input(i).name()] = mix(1, static_cast<uint64_t>(i));
    for (const auto& one : graph.initializer()) {
      SV_ASSIGN(env.values[one.name()], tensor(one));
    }
    for (const auto& one : graph.sparse_initializer()) {
      SV_ASSIGN(env.values[one.values().name()], sparse(one));
    }
    const std::function<uint64_t(std::string_view)> find = [&](std::string_view name) { return env.find(name); };
    for (const NodeProto& node : graph.node()) {
      SV_ASSIGN(uint64_t hash, core(node, find));
      for (const std::string& name : node.input()) hash = mix(hash, name.empty() ? 0 : env.find(name));
      for (int i = 0; i < node.output_size(); ++i) env.values[node.output(i)] = mix(hash, static_cast<uint64_t>(i));
    }
    uint64_t hash = static_cast<uint64_t>(graph.output_size());
    for (const auto& output : graph.output()) hash = mix(hash, env.find(output.name()));
    return hash;
  }

  TensorReader& tensors_;
  bool contents_;
};

struct Hashes {
  std::vector<uint64_t> local, forward, backward, values;
};

class GraphHasher {
 public:
  GraphHasher(const DiffGraph& graph, const Anchors& anchors, TensorReader& tensors, bool contents)
      : graph_(graph), anchors_(anchors), nodes_(tensors, contents) {}

  Result<Hashes> run() {
    SV_TRY(leaves());
    SV_TRY(forward());
    local();
    backward();
    out_.values = std::move(values_);
    return std::move(out_);
  }

 private:
  Status leaves() {
    values_.resize(graph_.values.size());
    for (size_t v = 0; v < values_.size(); ++v)
      if (graph_.values[v].origin == Origin::outer) values_[v] = anchors_.outer(graph_.values[v].name);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) values_[static_cast<size_t>(graph_.inputs[i])] = anchors_.inputs[i];
    for (size_t w = 0; w < graph_.weights.size(); ++w) {
      SV_ASSIGN(values_[static_cast<size_t>(graph_.weight_values[w])], nodes_.weight(graph_.weights[w]));
    }
    return {};
  }

  Status forward() {
    const std::function<uint64_t(std::string_view)> find = [&](std::string_view name) {
      const int v = graph_.find(name);
      return v < 0 ? uint64_t{0} : values_[static_cast<size_t>(v)];
    };
    // Bodies as such, for local and backward hashes: what they capture is an input of the node.
    const std::function<uint64_t(std::string_view)> nothing = [](std::string_view) { return uint64_t{0}; };
    for (const DiffNode& node : graph_.nodes) {
      SV_ASSIGN(uint64_t hash, nodes_.core(*node.proto, find));
      bool has_bodies = false;
      for (const AttributeProto& a : node.proto->attribute()) has_bodies = has_bodies || a.has_g() || a.graphs_size() > 0;
      cores_.push_back(hash);
      if (has_bodies) {
        SV_ASSIGN(cores_.back(), nodes_.core(*node.proto, nothing));
      }
      for (int i = 0; i < node.proto->input_size(); ++i) {
        const int v = node.inputs[static_cast<size_t>(i)];
        hash = mix(hash, v < 0 ? 0 : values_[static_cast<size_t>(v)]);
      }
      out_.forward.push_back(hash);
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] >= 0) values_[static_cast<size_t>(node.outputs[i])] = mix(hash, i);
    }
    return {};
  }

  void local() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      uint64_t hash = cores_[n];
      bool weights = false;
      for (size_t i = 0; i < graph_.nodes[n].inputs.size(); ++i) {
        const int v = graph_.nodes[n].inputs[i];
        if (v < 0 || graph_.values[static_cast<size_t>(v)].origin != Origin::weight) continue;
        hash = mix(mix(hash, i), values_[static_cast<size_t>(v)]);
        weights = true;
      }
      cores_[n] = hash;
      out_.local.push_back(weights || graph_.nodes[n].proto->input_size() == 0 ? hash : 0);
    }
  }

  void backward() {
    out_.backward.resize(graph_.nodes.size());
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      uint64_t hash = cores_[n];
      for (const int v : graph_.nodes[n].outputs) {
        std::vector<uint64_t> uses;
        if (v >= 0) {
          const DiffValue& value = graph_.values[static_cast<size_t>(v)];
          for (const int o : value.outputs) uses.push_back(mix(2, anchors_.outputs[static_cast<size_t>(o)]));
          for (const Use& use : value.uses)
            uses.push_back(mix(out_.backward[static_cast<size_t>(use.node)], static_cast<uint64_t>(use.slot)));
        }
        std::sort(uses.begin(), uses.end());
        hash = mix_all(mix(hash, uses.size()), uses);
      }
      out_.backward[n] = hash;
    }
  }

  const DiffGraph& graph_;
  const Anchors& anchors_;
  NodeHasher nodes_;
  std::vector<uint64_t> values_, cores_;
  Hashes out_;
};

}  // namespace

Result<Fingerprints> fingerprints_of(const DiffGraph& graph, const Anchors& anchors, TensorReader& tensors, bool contents) {
  Fingerprints out;
  SV_ASSIGN(Hashes loose, GraphHasher(graph, anchors, tensors, false).run());
  Hashes exact = loose;
  if (contents) {
    SV_ASSIGN(exact, GraphHasher(graph, anchors, tensors, true).run());
  }
  out.values_loose = std::move(loose.values);
  out.local = std::move(exact.local);
  out.forward_exact = std::move(exact.forward), out.forward_loose = std::move(loose.forward);
  out.backward_exact = std::move(exact.backward), out.backward_loose = std::move(loose.backward);
  return out;
}

}  // namespace svengine::validate

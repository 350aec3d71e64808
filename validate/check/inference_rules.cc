// Types and shapes: what follows from the inputs through the nodes, by the importer and the operators themselves, against what operators
// take and what the file declares. Behind a node that is refused types are unknown, or as declared, so that it hides nothing of others.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "engine/graph/expand.h"
#include "importers/io/names.h"
#include "importers/onnx/node_importer.h"
#include "importers/onnx/support_check.h"
#include "importers/onnx/value_type.h"
#include "validate/check/context.h"
#include "validate/check/tensor_data.h"
#include "validate/check/type_constraints.h"

namespace svengine::validate {
namespace {

using onnx::Scope;
using onnx_proto::NodeProto;
using onnx_proto::ValueInfoProto;

/// The importer's "node 'x' (Op): " in front of a message says what the finding's place says.
std::string without_node(const std::string& message) {
  const size_t end = message.find("): ");
  return message.starts_with("node '") && end != std::string::npos ? message.substr(end + 3) : message;
}

/// What symbolic dimensions of the graph stand for, as far as numbers tell.
class Symbols {
 public:
  explicit Symbols(Context& context) : c_(context) {}

  void compare(const std::string& value, const Shape& declared, const Shape& inferred) {
    if (!declared.has_rank() || !inferred.has_rank() || declared.rank() != inferred.rank()) return;
    for (size_t i = 0; i < declared.dims().size(); ++i) {
      if (declared[i].is_symbolic() && inferred[i].is_static()) bind(declared[i].symbol(), inferred[i].value(), value);
      if (declared[i].is_static() && inferred[i].is_symbolic()) bind(inferred[i].symbol(), declared[i].value(), value);
    }
  }

 private:
  void bind(const std::string& symbol, int64_t size, const std::string& value) {
    const auto [known, is_new] = sizes_.try_emplace(symbol, size, value);
    if (is_new || known->second.first == size || !told_.insert(symbol).second) return;
    c_.found.add("symbol-conflict", "",
                 fmt::format("dimension '{}' is {} in value '{}' and {} in value '{}'", printable(symbol, 60), known->second.first,
                             printable(known->second.second, 60), size, printable(value, 60)));
  }

  Context& c_;
  std::unordered_map<std::string, std::pair<int64_t, std::string>> sizes_;  // and the value in which it was seen first
  std::unordered_set<std::string> told_;
};

class InferenceRules final : public onnx::NodeWatcher {
 public:
  explicit InferenceRules(Context& context) : c_(context), symbols_(context), tensors_(context.file.source()) {
    for (size_t b = 0; b < c_.bodies.size(); ++b) {
      const Body& body = c_.bodies[b];
      for (int i = 0; i < body.nodes->size(); ++i) places_[&body.nodes->Get(i)] = {b, i};
    }
  }

  void run() {
    Graph graph;
    Scope scope{graph};
    const onnx_proto::GraphProto& proto = c_.model().graph();
    std::unordered_map<std::string_view, const ValueInfoProto*> inputs;
    for (const auto& info : proto.input()) {
      inputs.emplace(info.name(), &info);
      if (std::string type = foreign_type(info); !type.empty()) foreign_.emplace(info.name(), std::move(type));
    }
    for (const auto& tensor : proto.initializer()) add_initializer(scope, tensor, inputs);
    for (const auto& sparse : proto.sparse_initializer()) add_sparse(scope, sparse);
    for (const auto& info : proto.input()) {
      const Result<Type> type = onnx::declared_type(info);
      if (!scope.values.count(info.name())) scope.values[info.name()] = graph.add_input(info.name(), type.ok() ? *type : Type{});
    }
    onnx::NodeImporter importer(c_.model(), c_.ops, tensors_, this, true);  // strict: what others run and ONNX does not allow is told
    // With a watcher nothing ends the import: what is wrong has been told.
    for (int i = 0; i < proto.node_size(); ++i) (void)importer.add(scope, proto.node(i), i);
    for (const auto& info : proto.output()) compare_given(scope, info);
  }

  bool leaves_out(const Scope& scope, const NodeProto& node) override {
    const auto [b, index] = places_.at(&node);
    const Body& body = c_.bodies[b];
    if (c_.refused.count(&node) || node.op_type().empty()) return true;
    if (c_.functions.find(node)) return false;
    const OpDef* def = canonical_domain(node.domain()) == kInternalDomain ? nullptr : c_.ops.find(node.domain(), node.op_type());
    const int64_t opset = c_.opset_of(body, node.domain());
    if (!def || opset < def->since || std::min<int64_t>(opset, std::max(c_.ops.newest_opset(def->domain), 1)) > def->until)
      return true;
    const Schema* schema = c_.schema_of(body, node);
    if (!schema) return false;
    pass_on_foreign_types(*schema, node);
    std::string problem = broken_constraint(c_.schemas, *schema, node, [&](const std::string& name) { return type_of(scope, name); });
    if (problem.empty()) return false;
    if (told_.insert(&node).second) tell(scope, body, index, "type-constraint", std::move(problem));
    return true;
  }

  void refused(const Scope& scope, const NodeProto& node, const Error& problem) override {
    if (!told_.insert(&node).second) return;
    const auto [b, index] = places_.at(&node);
    const std::string message = without_node(problem.message());
    if (problem.code() == ErrorCode::invalid_argument)
      tell(scope, c_.bodies[b], index, "inference", message);
    else
      c_.add("engine-limit", c_.bodies[b], index, message);
  }

  void added(Scope& scope, const NodeProto& node) override {
    check_parts(scope, node);
    if (scope.call) return;  // types within a function are those of a call
    const auto& infos = infos_of(places_.at(&node).first);
    compare_outputs_with_schema(scope, node, infos);
    if (const Node* made = producer_of(scope, node)) {
      if (made->op().name == node.op_type()) compare_body_inputs(scope, *made, node);
      const auto& [b, index] = places_.at(&node);
      if (node.op_type() == "Resize" || node.op_type() == "Upsample") check_resize(c_, c_.bodies[b], index, *made);
    }
    for (const std::string& name : node.output()) {
      const auto info = infos.find(name);
      const auto value = scope.values.find(name);  // an output without a name has none, whatever the graph's outputs are called
      if (info != infos.end() && value != scope.values.end()) compare(scope, node, *info->second, value->second);
    }
  }

 private:
  using Infos = std::unordered_map<std::string_view, const ValueInfoProto*>;

  /// As schema_type() writes it; empty: not known.
  std::string type_of(const Scope& scope, const std::string& name) const {
    for (const Scope* at = &scope; at; at = at->outer) {
      const auto found = at->values.find(name);
      if (found == at->values.end()) continue;
      std::string type = found->second ? schema_type(found->second->type) : std::string();
      const auto foreign = type.empty() ? foreign_.find(name) : foreign_.end();
      return foreign == foreign_.end() ? type : foreign->second;
    }
    return {};
  }

  /// The name of a declared element type that ONNX has and the engine has not; empty: it is another.
  static std::string foreign_type(const ValueInfoProto& info) {
    const int32_t type = info.type().tensor_type().elem_type();
    return element_bits(type) && !onnx::dtype_from_onnx(type).ok() ? element_name(type) : std::string();
  }

  /// What an operator gives of the type parameter of an input is of that input's type: Identity of complex64 is complex64.
  void pass_on_foreign_types(const Schema& schema, const NodeProto& node) {
    if (foreign_.empty()) return;
    for (int i = 0; i < std::min<int>(node.input_size(), static_cast<int>(schema.inputs.size())); ++i) {
      const auto foreign = foreign_.find(node.input(i));
      if (foreign == foreign_.end()) continue;
      const std::string type = foreign->second;
      for (int o = 0; o < std::min<int>(node.output_size(), static_cast<int>(schema.outputs.size())); ++o)
        if (schema.outputs[static_cast<size_t>(o)].type == schema.inputs[static_cast<size_t>(i)].type) foreign_.emplace(node.output(o), type);
    }
  }

  /// Declared ones only, as the ONNX checker does: PyTorch's oldest exports have Constants of int64 before there were any.
  void compare_outputs_with_schema(const Scope& scope, const NodeProto& node, const Infos& declared) {
    const auto [b, index] = places_.at(&node);
    const Schema* schema = c_.schema_of(c_.bodies[b], node);
    if (!schema) return;
    std::string problem = broken_output(c_.schemas, *schema, node, [&](const std::string& name) {
      return declared.count(name) ? type_of(scope, name) : std::string();
    });
    if (!problem.empty() && told_.insert(&node).second) tell(scope, c_.bodies[b], index, "type-constraint", std::move(problem));
  }

  void tell(const Scope& scope, const Body& body, int index, RuleName rule, std::string message) {
    if (scope.in_branch)
      c_.add("inference-in-branch", body, index, std::move(message));
    else
      c_.add(rule, body, index, std::move(message));
  }

  const Infos& infos_of(size_t body) {
    const auto [at, is_new] = infos_.try_emplace(body);
    const onnx_proto::GraphProto* graph = c_.bodies[body].graph;
    if (!is_new || !graph) return at->second;
    for (const auto& info : graph->value_info()) at->second.emplace(info.name(), &info);
    for (const auto& info : graph->output()) at->second.insert_or_assign(info.name(), &info);
    return at->second;
  }

  void compare(const Scope& scope, const NodeProto& node, const ValueInfoProto& info, Value* value) {
    const Result<Type> declared = onnx::declared_type(info);
    compare_foreign(scope, node, info, value);
    if (!value || !declared.ok()) return;
    if (!scope.outer) symbols_.compare(info.name(), declared->shape, value->type.shape);
    const auto& place = places_.at(&node);
    if (!agrees(*declared, value->type, [&](RuleName rule, std::string message) {
          if (told_.insert(&node).second)
            tell(scope, c_.bodies[place.first], place.second, rule, fmt::format("output '{}' {}", printable(info.name(), 60), message));
        }))
      return;
    if (!value->is_constant()) onnx::refine(value->type, *declared);
  }

  /// One of the two types, declared or inferred, is one that the engine has not.
  void compare_foreign(const Scope& scope, const NodeProto& node, const ValueInfoProto& info, const Value* value) {
    if (!value) return;
    const Result<Type> known = onnx::declared_type(info);
    const std::string declared = known.ok() ? schema_type(*known) : foreign_type(info), actual = type_of(scope, info.name());
    const bool foreign = !foreign_type(info).empty() || (value->type.dtype == DType::undefined && !actual.empty());
    if (!foreign || declared.empty() || actual.empty() || declared == actual || !told_.insert(&node).second) return;
    const auto& [b, index] = places_.at(&node);
    tell(scope, c_.bodies[b], index, "declared-type",
         fmt::format("output '{}' is declared as {}, but is {}", printable(info.name(), 60), declared, actual));
  }

  /// What a node of the file has become, perhaps another operator.
  static const Node* producer_of(const Scope& scope, const NodeProto& node) {
    const auto made = node.output_size() > 0 ? scope.values.find(node.output(0)) : scope.values.end();
    return made == scope.values.end() || !made->second ? nullptr : made->second->producer();
  }

  /// What a composite operator is made of may refuse more than its own rule. Weights that are not read here (add_initializer) are no
  /// constants for it.
  void check_parts(const Scope& scope, const NodeProto& node) {
    const Node* made = producer_of(scope, node);
    if (!made || told_.count(&node)) return;
    for (const std::vector<Value*>* values : {&made->inputs(), &made->outputs()})
      for (const Value* v : *values)
        if (v && v->type.dtype == DType::undefined) return;
    const Status status = check_expansion(*made, c_.ops);
    if (!status.ok() && status.error().code() != ErrorCode::needs_constant) refused(scope, node, status.error());
  }

  /// What the bodies of a Loop, Scan or SequenceMap declare their inputs as, against what the operator gives them.
  void compare_body_inputs(const Scope& scope, const Node& producer, const NodeProto& node) {
    const auto [b, index] = places_.at(&node);
    for (const auto& attribute : node.attribute()) {
      const Subgraph* body = attribute.has_g() ? producer.attributes.get<Subgraph>(attribute.name()) : nullptr;
      if (!body) continue;
      const size_t count = std::min(static_cast<size_t>(attribute.g().input_size()), (*body)->inputs().size());
      for (size_t i = 0; i < count; ++i) {
        const ValueInfoProto& info = attribute.g().input(static_cast<int>(i));
        const Result<Type> declared = onnx::declared_type(info);
        if (!declared.ok()) continue;
        agrees(*declared, (*body)->inputs()[i]->type, [&, place = b, at = index](RuleName rule, std::string message) {
          if (told_.insert(&node).second)
            tell(scope, c_.bodies[place], at, rule,
                 fmt::format("input '{}' of {} {}", printable(info.name(), 60), printable(attribute.name(), 60), message));
        });
      }
    }
  }

  /// An output of the graph that is an input or initializer.
  void compare_given(const Scope& scope, const ValueInfoProto& info) {
    const auto value = scope.values.find(info.name());
    const Result<Type> declared = onnx::declared_type(info);
    if (value == scope.values.end() || !value->second || value->second->producer() || !declared.ok()) return;
    symbols_.compare(info.name(), declared->shape, value->second->type.shape);
    agrees(*declared, value->second->type, [&](RuleName rule, std::string message) {
      c_.found.add(rule, "", fmt::format("output '{}' {}", printable(info.name(), 60), message));
    });
  }

  template <class Tell>
  static bool agrees(const Type& declared, const Type& actual, const Tell& told) {
    const Status status = onnx::check_agrees(declared, actual);
    if (status.ok()) return true;
    const bool shape = declared.dtype == actual.dtype &&
                       !(declared.element && actual.element && !onnx::check_agrees(*declared.element, *actual.element).ok());
    told(shape ? RuleName("declared-shape") : RuleName("declared-type"), status.error().message());
    return false;
  }

  /// Small ones with their values, on which shapes may depend, others by their type alone.
  void add_initializer(Scope& scope, const onnx_proto::TensorProto& proto,
                       const std::unordered_map<std::string_view, const ValueInfoProto*>& inputs) {
    constexpr int64_t kMostElements = 1024;
    if (proto.name().empty() || scope.values.count(proto.name())) return;
    const Result<onnx::TensorRecord> record = c_.file.record(proto);
    Type type;
    if (record.ok() && check_dims(record->dims).ok()) {
      if (const Result<DType> dtype = onnx::dtype_from_onnx(record->data_type); dtype.ok()) type = {*dtype, Shape::of(record->dims)};
    }
    if (const auto input = inputs.find(proto.name()); input != inputs.end() && type.dtype != DType::undefined) {
      const Result<Type> declared = onnx::declared_type(*input->second);
      if (const std::string foreign = foreign_type(*input->second); !foreign.empty())
        c_.found.add("declared-type", "",
                     fmt::format("initializer '{}' is declared as {}, but is {}", printable(proto.name(), 60), foreign, to_string(type)));
      if (declared.ok())
        agrees(*declared, type, [&](RuleName rule, std::string message) {
          c_.found.add(rule, "", fmt::format("initializer '{}' {}", printable(proto.name(), 60), message));
        });
    }
    Value*& value = scope.values[proto.name()];
    if (type.dtype != DType::undefined && element_count(record->dims) <= kMostElements) {
      if (Result<Tensor> tensor = c_.file.tensor(proto); tensor.ok()) {
        value = scope.graph.add_constant(proto.name(), std::move(*tensor));
        return;
      }
    }
    value = scope.graph.add_input(proto.name(), type);
  }

  void add_sparse(Scope& scope, const onnx_proto::SparseTensorProto& sparse) {
    const std::string& name = sparse.values().name();
    const Result<onnx::TensorRecord> values = c_.file.record(sparse.values());
    const Dims dims(sparse.dims().begin(), sparse.dims().end());
    Type type;
    if (values.ok() && check_dims(dims).ok()) {
      if (const Result<DType> dtype = onnx::dtype_from_onnx(values->data_type); dtype.ok()) type = {*dtype, Shape::of(dims)};
    }
    if (!name.empty() && !scope.values.count(name)) scope.values[name] = scope.graph.add_input(name, type);
  }

  Context& c_;
  Symbols symbols_;
  const onnx::TensorSource tensors_;
  std::unordered_map<const NodeProto*, std::pair<size_t, int>> places_;  // body, index
  std::unordered_map<size_t, Infos> infos_;
  std::unordered_map<std::string, std::string> foreign_;  // the graph's inputs of types that the engine has not
  std::unordered_set<const NodeProto*> told_;  // once of every node, however often its function is called
};

}  // namespace

void check_inference(Context& c) {
  constexpr int kMostImports = 1000;  // the importer looks through them for every node
  int imports = c.model().opset_import_size();
  for (const auto& f : c.model().functions()) imports = std::max(imports, f.opset_import_size());
  if (imports > kMostImports)
    c.found.add("engine-limit", "", fmt::format("{} opset imports: types and shapes are not looked at", imports));
  else
    InferenceRules(c).run();
}

}  // namespace svengine::validate

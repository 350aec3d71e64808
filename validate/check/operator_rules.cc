// Operators: known in their opset, with as many inputs and outputs as they take.
#include <algorithm>
#include <map>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

using onnx_proto::NodeProto;

std::string shown(const std::string& domain, const std::string& name) {
  const std::string of(canonical_domain(domain));
  return printable(of.empty() ? name : of + "." + name, 100);
}

std::string range_text(int least, int most) {
  if (least == most) return std::to_string(least);
  return most > kVariadic ? fmt::format("at least {}", least) : fmt::format("{} to {}", least, most);
}

/// What holds of every node of an operator is told once, with the nodes.
class Uses {
 public:
  void add(const Context& c, const Body& body, int node, const std::string& what) {
    if (uses_.size() >= static_cast<size_t>(Findings::kMostOfRule) && !uses_.count(what)) {
      ++others_;
      return;
    }
    Use& use = uses_[what];
    if (use.count++ == 0) use.where = c.where(body, node);
    if (use.nodes.size() < Findings::kMostNodes) use.nodes.push_back(printable(onnx::node_name(body.nodes->Get(node), node), 60));
  }
  void tell(Context& c, RuleName rule) {
    for (auto& [what, use] : uses_)
      c.found.add(rule, use.where, fmt::format("{} ({} node{})", what, use.count, use.count == 1 ? "" : "s"), std::move(use.nodes));
    for (; others_ > 0; --others_) c.found.add(rule, {}, {});  // counted, not kept
  }

 private:
  struct Use {
    std::string where;  // of the first
    std::vector<std::string> nodes;
    size_t count = 0;
  };
  std::map<std::string, Use> uses_;
  int64_t others_ = 0;
};

class OperatorRules {
 public:
  explicit OperatorRules(Context& context) : c_(context) {}

  void run() {
    for (const Body& body : c_.bodies)
      for (int i = 0; i < body.nodes->size(); ++i) check(body, i), check_engine(body, i);
    foreign_.tell(c_, "operator-foreign"), lacking_.tell(c_, "engine-operator");
    lacking_there_.tell(c_, "opset-lacks"), differing_.tell(c_, "opset-differs");
  }

 private:
  void check(const Body& body, int index) {
    const NodeProto& node = body.nodes->Get(index);
    if (node.op_type().empty()) {
      c_.add("operator-name", body, index, "names no operator");
      return;
    }
    if (node.input_size() == 0 && node.output_size() == 0) c_.add("node-empty", body, index, "has neither inputs nor outputs");
    if (c_.functions.find(node)) return;
    const int64_t opset = c_.opset_of(body, node.domain());
    const Schema* schema = c_.schemas.find(node.domain(), node.op_type(), opset);
    if (!schema)
      unknown(body, index, node, opset);
    else if (schema->deprecated)
      c_.add("operator-deprecated", body, index, fmt::format("{} is deprecated since opset {}", node.op_type(), schema->since));
    else
      check_arity(body, index, node, *schema);
    if (schema) check_asked(body, index, node, *schema);
  }

  void unknown(const Body& body, int index, const NodeProto& node, int64_t opset) {
    if (opset == 0) return;  // said already: the domain is not imported
    if (const Schema* later = c_.schemas.first(node.domain(), node.op_type())) {
      c_.add("operator-unknown", body, index,
             fmt::format("{} came in opset {}, the model imports {}", shown(node.domain(), node.op_type()), later->since, opset));
    } else if (c_.schemas.has_whole_domain(node.domain())) {
      c_.add("operator-unknown", body, index, fmt::format("{} is no operator of opset {}", shown(node.domain(), node.op_type()), opset));
    } else if (!c_.ops.find(node.domain(), node.op_type())) {
      foreign_.add(c_, body, index, fmt::format("{} is not known here, nor a function of the model", shown(node.domain(), node.op_type())));
    }
  }

  void check_arity(const Body& body, int index, const NodeProto& node, const Schema& s) {
    if (node.input_size() < s.least_inputs || node.input_size() > s.most_inputs)
      c_.add("input-count", body, index,
             fmt::format("has {} inputs, {} of opset {} takes {}", node.input_size(), node.op_type(), s.since,
                         range_text(s.least_inputs, s.most_inputs)));
    const bool refused = std::find(s.refused_outputs.begin(), s.refused_outputs.end(), node.output_size()) != s.refused_outputs.end();
    if (node.output_size() < s.least_outputs || node.output_size() > s.most_outputs || refused)
      c_.add("output-count", body, index,
             refused ? fmt::format("has {} outputs, which {} of opset {} does not give: either fewer or more", node.output_size(),
                                   node.op_type(), s.since)
                     : fmt::format("has {} outputs, {} of opset {} gives {}", node.output_size(), node.op_type(), s.since,
                                   range_text(s.least_outputs, s.most_outputs)));
    if (s.name == "BatchNormalization" && s.since >= 14) check_training_outputs(body, index, node);
    for (int i = 0; i < std::min(node.input_size(), static_cast<int>(s.inputs.size())); ++i) {
      const SchemaValue& v = s.inputs[static_cast<size_t>(i)];
      if (v.presence == Presence::single && node.input(i).empty())
        c_.add("input-missing", body, index, fmt::format("input {} ({}) must be there", i, v.name));
    }
    for (int i = 0; i < std::min(node.output_size(), static_cast<int>(s.outputs.size())); ++i) {
      const SchemaValue& v = s.outputs[static_cast<size_t>(i)];
      if (v.presence == Presence::single && node.output(i).empty())
        c_.add("output-missing", body, index, fmt::format("output {} ({}) must be there", i, v.name));
    }
  }

  /// Which case of outputs it is the mode says; ONNX's inference refuses others.
  void check_training_outputs(const Body& body, int index, const NodeProto& node) {
    int64_t mode = 0;
    for (const auto& a : node.attribute())
      if (a.name() == "training_mode") mode = a.i();
    const int needed = mode != 0 ? 3 : 1;
    if (node.output_size() != needed)
      c_.add("training-outputs", body, index,
             fmt::format("has {} outputs, needs {} where training_mode is {}", node.output_size(), needed, mode));
  }

  /// Against the opset that the user asks for.
  void check_asked(const Body& body, int index, const NodeProto& node, const Schema& here) {
    const int asked = c_.options.opset;
    if (asked == 0 || !here.domain.empty()) return;
    const Schema* there = c_.schemas.find("", node.op_type(), asked);
    if (!there)
      lacking_there_.add(c_, body, index, fmt::format("{} came in opset {}", node.op_type(), c_.schemas.first("", node.op_type())->since));
    else if (there->deprecated)
      lacking_there_.add(c_, body, index, fmt::format("{} is deprecated since opset {}", node.op_type(), there->since));
    else if (there->since != here.since)
      differing_.add(c_, body, index, fmt::format("{} changed in opset {}", node.op_type(), std::max(there->since, here.since)));
  }

  /// What the engine lacks for a node: the operator, or its form in this opset. Empty: nothing, or there is no such operator.
  std::string lacking(const Body& body, const NodeProto& node) const {
    const int64_t opset = c_.opset_of(body, node.domain());
    if (opset == 0 || node.op_type().empty() || c_.functions.find(node)) return {};
    const OpDef* def = node.domain() == kInternalDomain ? nullptr : c_.ops.find(node.domain(), node.op_type());
    const std::string name = shown(node.domain(), node.op_type());
    if (c_.schemas.has_whole_domain(node.domain()) && !c_.schemas.find(node.domain(), node.op_type(), opset)) return {};
    if (!def) return name;
    // A newer opset is taken as the newest known one.
    const int64_t taken = std::min<int64_t>(opset, std::max(c_.ops.newest_opset(def->domain), 1));
    return taken >= def->since && taken <= def->until ? std::string() : fmt::format("{} of opset {}", name, opset);
  }

  void check_engine(const Body& body, int index) {
    const std::string what = lacking(body, body.nodes->Get(index));
    if (!what.empty()) lacking_.add(c_, body, index, fmt::format("this engine lacks {}", what));
  }

  Uses foreign_, lacking_, lacking_there_, differing_;
  Context& c_;
};

}  // namespace

void check_operators(Context& c) { OperatorRules(c).run(); }

}  // namespace svengine::validate

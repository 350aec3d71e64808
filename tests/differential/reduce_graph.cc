#include "tests/differential/reduce_graph.h"

namespace svengine::differential {
namespace {

class Reducer {
 public:
  Reducer(const RandomGraph& whole, const Part& part) : whole_(whole), part_(part) {
    out_.graph.name = whole.graph.name;
    out_.special = whole.special, out_.loose = whole.loose, out_.trained = whole.trained;
  }

  RandomGraph run() {
    size_t at = 0;
    for (const auto& node : whole_.graph.nodes())
      if (part_.nodes[at++]) copy(*node);
    for (size_t i = 0; i < whole_.graph.outputs().size(); ++i) {
      const Value* v = whole_.graph.outputs()[i];
      if (part_.outputs[i] && map_.count(v)) out_.graph.add_output(map_.at(v));
    }
    if (Status s = infer_anew(out_.graph); !s.ok()) out_.complaint = s.error().message();
    return std::move(out_);
  }

 private:
  Value* leaf(const Value* v) {
    const Tensor& t = v->is_constant() ? v->constant() : whole_.values.at(v);
    Value* made;
    if (v->is_constant()) {
      made = out_.graph.add_constant(v->name(), t);
    } else {
      made = out_.graph.add_input(v->name(), v->producer() && !is_container(t.type()) ? Type{t.type(), Shape::of(t.dims())} : v->type);
      out_.inputs.push_back(t);
    }
    out_.values[made] = t;
    return made;
  }

  void copy(const Node& node) {
    std::vector<Value*> inputs;
    for (const Value* v : node.inputs()) {
      if (v && !map_.count(v)) map_[v] = leaf(v);
      inputs.push_back(v ? map_.at(v) : nullptr);
    }
    std::vector<std::string> names;
    for (const Value* v : node.outputs()) names.push_back(v->name());
    Node* made =
        out_.graph.add_node(node.op(), node.name(), std::move(inputs), node.outputs().size(), node.attributes, nullptr, names);
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      made->output(i)->type = node.output(i)->type;
      map_[node.output(i)] = made->output(i);
      out_.values[made->output(i)] = whole_.values.at(node.output(i));
    }
  }

  const RandomGraph& whole_;
  const Part& part_;
  RandomGraph out_;
  std::unordered_map<const Value*, Value*> map_;
};

}  // namespace

RandomGraph part_of(const RandomGraph& whole, const Part& part) { return Reducer(whole, part).run(); }

}  // namespace svengine::differential

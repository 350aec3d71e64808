// Nets and their values.
#include "api/convert.h"
#include "api/guard.h"
#include "api/nn_run.h"
#include "api/nn_state.h"
#include "engine/graph/autodiff.h"
#include "importers/onnx/export.h"
#include "runtime/session.h"

namespace svengine::nn {
namespace {

/// f(), or `otherwise` where there is no net or something is thrown, which the net then keeps.
template <class T, class F>
T guarded(NetState* net, T default_value, const F& f) noexcept {
  try {
    if (net) return f();
  } catch (...) {
    net->builder.note(Error(message_of_caught()));
  }
  return default_value;
}

Var binary(const char* op, const Var& a, const Var& b) noexcept {
  NetState* net = NetState::net_of(a);
  return guarded(net, Var(), [&] { return net->wrap(net->builder.add(op, net->values_of({a, b}))); });
}

Var with_number(const char* op, const Var& a, float number, bool number_first = false) noexcept {
  NetState* net = NetState::net_of(a);
  return guarded(net, Var(), [&] {
    Value* c = net->builder.constant(Tensor::scalar(number));
    const std::vector<Value*> values = net->values_of({a});
    return net->wrap(net->builder.add(op, number_first ? std::vector<Value*>{c, values[0]} : std::vector<Value*>{values[0], c}));
  });
}

Var reduced(const char* op, const Var& a) noexcept {
  NetState* net = NetState::net_of(a);
  return guarded(net, Var(), [&] {
    return net->wrap(net->builder.add(op, net->values_of({a}), make_attributes({{"keepdims", int64_t{0}}})));
  });
}

/// The sizes that runs decide are an input's own, but for the batch, which all inputs share.
Shape shape_of(const std::string& name, const std::vector<int64_t>& dims) {
  std::vector<Dim> out;
  for (size_t i = 0; i < dims.size(); ++i)
    out.push_back(dims[i] >= 0 ? Dim(dims[i]) : Dim(i == 0 ? std::string("batch") : name + "." + std::to_string(i)));
  return Shape(std::move(out));
}

Result<Tensor> float_tensor(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  SV_TRY(check_dims(shape));
  if (element_count(shape) != static_cast<int64_t>(values.size()))
    return error("{} values for the shape [{}]", values.size(), to_string(shape));
  return Tensor::of<float>(shape, std::span<const float>(values));
}

/// The value of that name in a copy of the graph.
Value* named(const Graph& graph, const std::string& name) {
  Value* found = nullptr;
  graph.for_each_value([&](Value& v) {
    if (v.name() == name) found = &v;
  });
  return found;
}

std::vector<float> floats_of(const Tensor& tensor) { return {tensor.data<float>().begin(), tensor.data<float>().end()}; }

/// What does not depend on an input can be computed alone.
Result<std::vector<Tensor>> run_alone(Graph graph, const std::vector<Tensor>& inputs) {
  SV_ASSIGN(SessionOptions options, session_options({}));
  SV_ASSIGN(const std::unique_ptr<Session> session, Session::create(std::move(graph), std::move(options)));
  return session->run(inputs);
}

Status check_alone(const NetState& net, const Value* value) {
  SV_TRY(net.builder.status());
  if (!value) return error("the value could not be made");
  if (!net.graph.inputs().empty())
    return error("the net has inputs ('{}'), so it is run by a Trainer or, once saved, by Network", net.graph.inputs()[0]->name());
  if (value->type.dtype != DType::f32) return error("'{}' is {}, not float32", value->name(), to_string(value->type));
  return {};
}

Result<std::vector<float>> evaluate(const NetState& net, const Value* value) {
  SV_TRY(check_alone(net, value));
  Graph graph = net.graph.clone();
  graph.add_output(named(graph, value->name()));
  SV_ASSIGN(const std::vector<Tensor> outputs, run_alone(std::move(graph), {}));
  return floats_of(outputs[0]);
}

Result<std::map<std::string, Tensor>> differentiate(const NetState& net, const Value* value) {
  SV_TRY(check_alone(net, value));
  Graph graph = net.graph.clone();
  std::vector<std::string> names = net.variables;
  for (const Value* v : trainable_constants(graph))
    if (!net.constants.count(v->name()) && std::find(names.begin(), names.end(), v->name()) == names.end()) names.push_back(v->name());
  SV_ASSIGN(const std::vector<Tensor> tensors, constants_to_inputs(graph, names));
  const std::vector<Value*> wanted = graph.inputs();
  const GradientSeed seed{named(graph, value->name()), nullptr};
  SV_ASSIGN(const std::vector<Value*> gradients, add_gradients(graph, all_ops(), {&seed, 1}, wanted, Unreached::zeros));
  for (Value* g : gradients) graph.add_output(g);
  SV_ASSIGN(const std::vector<Tensor> results, run_alone(std::move(graph), tensors));
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < names.size(); ++i) out[names[i]] = results[i];
  return out;
}

}  // namespace

std::vector<Value*> NetState::values_of(const std::vector<Var>& vars) {
  std::vector<Value*> out;
  for (const Var& v : vars) {
    out.push_back(value_of(v));
    if (net_of(v) != this)
      builder.note(error("{} of another net is used", net_of(v) ? "a value" : "nothing, or a value"));
    else if (!out.back())
      builder.note(error("a value is used that could not be made"));
  }
  return out;
}

Result<Graph> NetState::finished() const {
  SV_TRY(builder.status());
  if (outputs.empty()) return error("the net has no output");
  Graph out = graph.clone();
  for (const Value* v : outputs) out.add_output(named(out, v->name()));
  return out;
}

std::string Var::name() const noexcept {
  return guarded(net_.get(), std::string(), [&] { return value_ ? NetState::value_of(*this)->name() : std::string(); });
}

std::vector<int64_t> Var::shape() const noexcept {
  return guarded(net_.get(), std::vector<int64_t>(), [&] {
    std::vector<int64_t> out;
    if (!value_ || !NetState::value_of(*this)->type.shape.has_rank()) return out;
    for (const Dim& d : NetState::value_of(*this)->type.shape.dims()) out.push_back(d.is_static() ? d.value() : -1);
    return out;
  });
}

std::vector<float> Var::value() const noexcept {
  return guarded(net_.get(), std::vector<float>(), [&] {
    Result<std::vector<float>> result = evaluate(*net_, NetState::value_of(*this));
    net_->call_error = result.ok() ? std::string() : result.error().message();
    return result.ok() ? std::move(result).value() : std::vector<float>();
  });
}

bool Var::backward() const noexcept {
  return guarded(net_.get(), false, [&] {
    net_->gradients.clear();
    Result<std::map<std::string, Tensor>> result = differentiate(*net_, NetState::value_of(*this));
    net_->call_error = result.ok() ? std::string() : result.error().message();
    if (result.ok()) net_->gradients = std::move(result).value();
    return result.ok();
  });
}

std::vector<float> Var::gradient() const noexcept {
  return guarded(net_.get(), std::vector<float>(), [&] {
    const auto found = value_ ? net_->gradients.find(NetState::value_of(*this)->name()) : net_->gradients.end();
    return found == net_->gradients.end() ? std::vector<float>() : floats_of(found->second);
  });
}

std::string Var::error() const noexcept {
  return guarded(net_.get(), net_ ? kOutOfMemory : std::string(),
                 [&] { return net_->builder.status().ok() ? net_->call_error : net_->builder.status().error().message(); });
}

Var operator+(const Var& a, const Var& b) noexcept { return binary("Add", a, b); }
Var operator-(const Var& a, const Var& b) noexcept { return binary("Sub", a, b); }
Var operator*(const Var& a, const Var& b) noexcept { return binary("Mul", a, b); }
Var operator/(const Var& a, const Var& b) noexcept { return binary("Div", a, b); }
Var operator-(const Var& a) noexcept {
  return guarded(NetState::net_of(a), Var(), [&] { return op("Neg", {a}); });
}
Var operator+(const Var& a, float b) noexcept { return with_number("Add", a, b); }
Var operator-(const Var& a, float b) noexcept { return with_number("Sub", a, b); }
Var operator*(const Var& a, float b) noexcept { return with_number("Mul", a, b); }
Var operator/(const Var& a, float b) noexcept { return with_number("Div", a, b); }
Var operator+(float a, const Var& b) noexcept { return with_number("Add", b, a, true); }
Var operator-(float a, const Var& b) noexcept { return with_number("Sub", b, a, true); }
Var operator*(float a, const Var& b) noexcept { return with_number("Mul", b, a, true); }
Var operator/(float a, const Var& b) noexcept { return with_number("Div", b, a, true); }
Var matmul(const Var& a, const Var& b) noexcept { return binary("MatMul", a, b); }
Var sum(const Var& a) noexcept { return reduced("ReduceSum", a); }
Var mean(const Var& a) noexcept { return reduced("ReduceMean", a); }

Var op(const std::string& name, const std::vector<Var>& inputs, const std::vector<Attribute>& attributes) noexcept {
  NetState* net = inputs.empty() ? nullptr : NetState::net_of(inputs[0]);
  return guarded(net, Var(), [&] {
    Attributes given;
    for (const Attribute& a : attributes) std::visit([&](const auto& value) { given.set(a.name, value); }, a.value);
    const size_t colons = name.find("::");  // in front of it the domain
    if (colons == name.npos) return net->wrap(net->builder.add(name, net->values_of(inputs), std::move(given)));
    Node* node = net->builder.node(name.substr(0, colons), name.substr(colons + 2), net->values_of(inputs), 1, std::move(given));
    return net->wrap(node ? node->output() : nullptr);
  });
}

Net::Net(uint64_t seed) noexcept {
  try {
    state_ = std::make_shared<NetState>(seed);
  } catch (...) {  // no state: every call says so
  }
}

Net::operator bool() const noexcept { return state_ && state_->builder.status().ok(); }

std::string Net::error() const noexcept {
  if (!state_) return kOutOfMemory;
  return guarded(state_.get(), kOutOfMemory,
                 [&] { return state_->builder.status().ok() ? state_->call_error : state_->builder.status().error().message(); });
}

Var Net::input(const std::string& name, ElementType type, const std::vector<int64_t>& shape) noexcept {
  return guarded(state_.get(), Var(), [&] {
    const DType dtype = to_dtype(type);
    if (size_of(dtype) == 0) state_->builder.note(svengine::error("input '{}' has no element type", name));
    const char* problem = name.empty() ? "runs name inputs" : "there is a value of that name";
    if (name.empty() || named(state_->graph, name)) state_->builder.note(svengine::error("an input cannot be called '{}': {}", name, problem));
    if (!state_->builder.status().ok()) return state_->wrap(nullptr);
    return state_->wrap(state_->builder.input(name, dtype, shape_of(name, shape)));
  });
}

Var Net::variable(const std::vector<int64_t>& shape, const std::vector<float>& values, const std::string& name) noexcept {
  const Var out = constant(shape, values);
  return guarded(state_.get(), Var(), [&] {
    Value* value = NetState::value_of(out);
    if (!value) return out;
    state_->constants.erase(value->name());
    state_->graph.rename(value, name);
    state_->variables.push_back(value->name());
    return out;
  });
}

Var Net::integers(const std::vector<int64_t>& values) noexcept {
  return guarded(state_.get(), Var(), [&] {
    return state_->wrap(
        state_->builder.constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)), "integers"));
  });
}

Var Net::constant(const std::vector<int64_t>& shape, const std::vector<float>& values) noexcept {
  return guarded(state_.get(), Var(), [&] {
    Result<Tensor> tensor = float_tensor(shape, values);
    if (!tensor.ok()) state_->builder.note(std::move(tensor).error());
    if (!state_->builder.status().ok()) return state_->wrap(nullptr);
    Value* value = state_->builder.constant(std::move(tensor).value(), "constant");
    state_->constants.insert(value->name());
    return state_->wrap(value);
  });
}

Var Net::apply(const Layer& layer, const Var& input, const std::string& name) noexcept {
  return guarded(state_.get(), Var(), [&] { return apply(layer, std::vector<Var>{input}, name); });
}

Var Net::apply(const Layer& layer, const std::vector<Var>& inputs, const std::string& name) noexcept {
  const std::vector<Var> all = apply_all(layer, inputs, name);
  return all.empty() ? Var() : all.front();
}

std::vector<Var> Net::apply_all(const Layer& layer, const std::vector<Var>& inputs, const std::string& name) noexcept {
  return guarded(state_.get(), std::vector<Var>(), [&] {
    const layers::Scope scope(state_->builder, state_->stream, name.empty() ? name : name + ".");
    std::vector<Var> out;
    for (Value* v : layers::apply(LayerState::of(layer), scope, state_->values_of(inputs))) out.push_back(state_->wrap(v));
    return out;
  });
}

void Net::output(const Var& value, const std::string& name) noexcept {
  (void)guarded(state_.get(), false, [&] {
    Value* v = state_->values_of({value})[0];
    if (!state_->builder.status().ok()) return false;
    if (named(state_->graph, name))
      state_->builder.note(svengine::error("the output cannot be called '{}': there is a value of that name", name));
    else if (!v->producer())
      state_->builder.note(svengine::error("output '{}' would be the input or constant '{}' itself", name, v->name()));
    else
      state_->graph.rename(v, name), state_->outputs.push_back(v);
    return true;
  });
}

bool Net::save(const std::string& path) noexcept {
  return guarded(state_.get(), false, [&] {
    Result<Graph> graph = state_->finished();
    const Status status = graph.ok() ? save_graph(std::move(*graph), path) : Status(graph.error());
    state_->call_error = status.ok() ? std::string() : status.error().message();
    return status.ok();
  });
}

}  // namespace svengine::nn

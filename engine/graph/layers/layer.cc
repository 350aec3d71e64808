#include "engine/graph/layers/layer.h"

#include <algorithm>

namespace svengine::layers {

Value* Scope::parameter(const std::string& name, Dims dims, const Initializer& how) {
  if (!builder_->status().ok()) return nullptr;
  const std::string full = prefix_ + name;
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 1; })) {
    fail(error("parameter '{}' would have the shape {}", full, to_string(dims)));
    return nullptr;
  }
  Result<MutableTensor> tensor = Tensor::allocate(DType::f32, std::move(dims));
  const Status status = tensor.ok() ? initialize(how, stream_.at(full), *tensor) : Status(tensor.error());
  builder_->note(status);
  return status.ok() ? builder_->constant(std::move(tensor).value(), full) : nullptr;
}

Value* Scope::op(std::string_view op, std::vector<Value*> inputs, Attributes attributes) {
  return builder_->add(op, std::move(inputs), std::move(attributes), prefix_ + std::string(op));
}

std::vector<Value*> Scope::split(Value* value, int64_t axis, std::vector<int64_t> sizes) {
  const size_t count = sizes.size();
  Value* parts = builder_->constant(Tensor::of<int64_t>({static_cast<int64_t>(count)}, std::span<const int64_t>(sizes)), "sizes");
  const Node* node = builder_->node("", "Split", {value, parts}, count, make_attributes({{"axis", axis}}), prefix_ + "Split");
  return node ? node->outputs() : std::vector<Value*>(count, nullptr);
}

void Scope::fail(Error error) { builder_->note(std::move(error)); }

std::vector<Value*> apply(const Layer& layer, Scope scope, const std::vector<Value*>& inputs) {
  const std::vector<Value*> nothing(layer.outputs, nullptr);
  if (!scope.builder().status().ok()) return nothing;
  if (inputs.size() < layer.min_inputs || inputs.size() > layer.max_inputs) {
    const std::string needed = layer.min_inputs == layer.max_inputs ? fmt::format("{}", layer.min_inputs)
                                                                    : fmt::format("{} to {}", layer.min_inputs, layer.max_inputs);
    scope.fail(error("layer {} '{}' got {} inputs, needs {}", layer.kind, scope.prefix(), inputs.size(), needed));
    return nothing;
  }
  std::vector<Value*> out = layer.build(scope, inputs);
  return scope.builder().status().ok() ? out : nothing;
}

Value* apply_one(const Layer& layer, Scope scope, const std::vector<Value*>& inputs) {
  return apply(layer, std::move(scope), inputs).front();
}

Layer sequential(std::vector<Layer> layers) {
  if (layers.empty())
    return {.kind = "Sequential", .build = [](const Scope&, const std::vector<Value*>& inputs) { return inputs; }};
  Layer out{.kind = "Sequential",
            .min_inputs = layers.front().min_inputs,
            .max_inputs = layers.front().max_inputs,
            .outputs = layers.back().outputs};
  out.build = [layers = std::move(layers)](const Scope& scope, std::vector<Value*> values) {
    for (size_t i = 0; i < layers.size(); ++i) values = apply(layers[i], scope.inside(std::to_string(i)), values);
    return values;
  };
  return out;
}

Layer residual(Layer layer) {
  return {.kind = "Residual", .build = [layer = std::move(layer)](Scope scope, const std::vector<Value*>& x) {
            return std::vector<Value*>{scope.op("Add", {x[0], apply_one(layer, scope, x)})};
          }};
}

}  // namespace svengine::layers

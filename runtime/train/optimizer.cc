#include "runtime/train/optimizer.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace svengine {
namespace {

constexpr const char* kTrainingDomain = "ai.onnx.preview.training";

struct KindName {
  std::string_view name;
  OptimizerOptions::Kind kind;
  std::string_view keys;  // what may be set
};
constexpr KindName kKinds[] = {
    {"sgd", OptimizerOptions::Kind::sgd, "momentum, nesterov, weight_decay"},
    {"adam", OptimizerOptions::Kind::adam, "beta1, beta2, epsilon, weight_decay"},
    {"adamw", OptimizerOptions::Kind::adamw, "beta1, beta2, epsilon, weight_decay"},
    {"adagrad", OptimizerOptions::Kind::adagrad, "epsilon, weight_decay"},
};

Result<double> number_in(std::string_view key, std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return error("{}={} is not a number", key, text);
  return value;
}

Status set(OptimizerOptions& o, const KindName& kind, std::string_view key, std::string_view text) {
  const bool known = !key.empty() && (", " + std::string(kind.keys) + ",").find(fmt::format(", {},", key)) != std::string::npos;
  if (!known) return error("{} has no '{}'; it has {}", kind.name, key, kind.keys);
  SV_ASSIGN(const double value, number_in(key, text));
  const bool below_one = key == "momentum" || key.starts_with("beta");
  if (value < 0 || (below_one && value >= 1))
    return error("{}={} is out of range: it must be {}", key, text, below_one ? "in [0, 1)" : "0 or more");
  if (key == "momentum")
    o.momentum = value;
  else if (key == "weight_decay")
    o.weight_decay = value;
  else if (key == "beta1")
    o.beta1 = value;
  else if (key == "beta2")
    o.beta2 = value;
  else if (key == "epsilon")
    o.epsilon = value;
  else if (value == 0 || value == 1)
    o.nesterov = value == 1;
  else
    return error("nesterov={} is neither 0 nor 1", text);
  return {};
}

Result<OptimizerOptions> parse_unnamed(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const KindName* kind = nullptr;
  for (const KindName& k : kKinds)
    if (k.name == name) kind = &k;
  if (!kind) return error("there is no optimiser '{}'; there are sgd, adam, adamw and adagrad", name);
  OptimizerOptions out;
  out.kind = kind->kind;
  if (out.kind == OptimizerOptions::Kind::adamw) out.weight_decay = 0.01;
  if (out.kind == OptimizerOptions::Kind::adagrad) out.epsilon = 1e-10;
  for (std::string_view rest = text.substr(std::min(colon + 1, text.size())); !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    const size_t equals = part.find('=');
    if (equals == part.npos) return error("'{}' needs the form KEY=NUMBER", part);
    SV_TRY(set(out, *kind, part.substr(0, equals), part.substr(equals + 1)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (out.nesterov && out.momentum == 0) return error("nesterov=1 needs a momentum above 0");
  return out;
}

float real(double value) { return static_cast<float>(value); }

}  // namespace

Result<OptimizerOptions> OptimizerOptions::parse(const std::string& text) {
  Result<OptimizerOptions> out = parse_unnamed(text);
  if (!out.ok()) return std::move(out).error().in(fmt::format("optimiser '{}'", text));
  return out;
}

std::string OptimizerOptions::text() const {
  switch (kind) {
    case Kind::sgd:
      return fmt::format("sgd:momentum={},nesterov={},weight_decay={}", momentum, nesterov ? 1 : 0, weight_decay);
    case Kind::adagrad:
      return fmt::format("adagrad:epsilon={},weight_decay={}", epsilon, weight_decay);
    default:
      return fmt::format("{}:beta1={},beta2={},epsilon={},weight_decay={}", kind == Kind::adam ? "adam" : "adamw", beta1, beta2,
                         epsilon, weight_decay);
  }
}

std::vector<const char*> OptimizerOptions::states() const {
  switch (kind) {
    case Kind::sgd:
      return momentum > 0 ? std::vector<const char*>{"velocity"} : std::vector<const char*>{};
    case Kind::adagrad:
      return {"sum"};
    default:
      return {"mean", "square"};
  }
}

std::vector<Value*> add_optimizer_step(Builder& b, const OptimizerOptions& o, Value* rate, Value* step, Value* weight,
                                       Value* gradient, const std::vector<Value*>& states) {
  using Kind = OptimizerOptions::Kind;
  const bool plain = o.kind == Kind::sgd && states.empty(), adam = o.kind == Kind::adam || o.kind == Kind::adamw;
  const char* op = plain ? "Sgd" : adam ? "AdamW" : o.kind == Kind::sgd ? "Momentum" : "Adagrad";
  // In AdamW the decay has an attribute of its own.
  Attributes attributes = make_attributes({{"norm_coefficient", real(o.kind == Kind::adamw ? 0 : o.weight_decay)}});
  if (o.kind == Kind::sgd && !plain) {
    attributes.set("alpha", real(o.momentum));
    attributes.set("beta", 1.0f);
    attributes.set("mode", std::string(o.nesterov ? "nesterov" : "standard"));
  }
  if (adam) {
    attributes.set("alpha", real(o.beta1));
    attributes.set("beta", real(o.beta2));
    if (o.kind == Kind::adamw) attributes.set("weight_decay", real(o.weight_decay));
  }
  if (o.kind != Kind::sgd) attributes.set("epsilon", real(o.epsilon));
  std::vector<Value*> inputs{rate, step, weight, gradient};
  inputs.insert(inputs.end(), states.begin(), states.end());
  const Node* node = b.node(plain || adam ? kInternalDomain : kTrainingDomain, op, std::move(inputs), 1 + states.size(),
                            std::move(attributes), "update." + weight->name());
  return node ? node->outputs() : std::vector<Value*>{};
}

}  // namespace svengine

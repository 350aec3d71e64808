#include "runtime/train/optimizer.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace svengine {
namespace {


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
    {"lars", OptimizerOptions::Kind::lars, "trust, momentum, weight_decay, skip_vectors"},
    {"lamb", OptimizerOptions::Kind::lamb, "beta1, beta2, epsilon, weight_decay, skip_vectors"},
};

constexpr std::pair<std::string_view, double OptimizerOptions::*> kNumbers[] = {
    {"momentum", &OptimizerOptions::momentum}, {"weight_decay", &OptimizerOptions::weight_decay},
    {"beta1", &OptimizerOptions::beta1},       {"beta2", &OptimizerOptions::beta2},
    {"epsilon", &OptimizerOptions::epsilon},   {"trust", &OptimizerOptions::trust},
};
constexpr std::pair<std::string_view, bool OptimizerOptions::*> kFlags[] = {
    {"nesterov", &OptimizerOptions::nesterov},
    {"skip_vectors", &OptimizerOptions::skip_vectors},
};

/// What is not the same for all.
void set_defaults(OptimizerOptions& o) {
  using Kind = OptimizerOptions::Kind;
  if (o.kind == Kind::adamw || o.kind == Kind::lamb) o.weight_decay = 0.01;
  if (o.kind == Kind::adagrad) o.epsilon = 1e-10;
  if (o.kind == Kind::lamb) o.epsilon = 1e-6;
  if (o.kind == Kind::lars) o.momentum = 0.9;
}

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
  for (const auto& [name, number] : kNumbers)
    if (key == name) o.*number = value;
  for (const auto& [name, flag] : kFlags) {
    if (key != name) continue;
    if (value != 0 && value != 1) return error("{}={} is neither 0 nor 1", key, text);
    o.*flag = value == 1;
  }
  return {};
}

Result<OptimizerOptions> parse_unnamed(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const KindName* kind = nullptr;
  for (const KindName& k : kKinds)
    if (k.name == name) kind = &k;
  if (!kind) return error("there is no optimiser '{}'; there are sgd, adam, adamw, adagrad, lars and lamb", name);
  OptimizerOptions out;
  out.kind = kind->kind;
  set_defaults(out);
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

Attribute real(double value) { return static_cast<float>(value); }

struct StepNode {
  const char* domain;
  const char* op;
  Attributes attributes;
};

/// `matrix`: the weight is of rank 2 or more.
StepNode step_node(const OptimizerOptions& o, bool matrix) {
  const bool adapt = matrix || !o.skip_vectors;
  const Attribute decay = real(adapt ? o.weight_decay : 0), alpha = real(o.momentum), beta1 = real(o.beta1), beta2 = real(o.beta2),
                  epsilon = real(o.epsilon), adapts = int64_t{adapt};
  switch (o.kind) {
    case OptimizerOptions::Kind::sgd:
      if (o.momentum == 0) return {kInternalDomain, "Sgd", make_attributes({{"norm_coefficient", decay}})};
      return {kTrainingDomain, "Momentum",
              make_attributes({{"norm_coefficient", decay},
                               {"alpha", alpha},
                               {"beta", 1.0f},
                               {"mode", std::string(o.nesterov ? "nesterov" : "standard")}})};
    case OptimizerOptions::Kind::adagrad:
      return {kTrainingDomain, "Adagrad", make_attributes({{"norm_coefficient", decay}, {"epsilon", epsilon}})};
    case OptimizerOptions::Kind::lars:
      return {kInternalDomain, "Lars",
              make_attributes({{"norm_coefficient", decay}, {"alpha", alpha}, {"trust", real(o.trust)}, {"adapt", adapts}})};
    case OptimizerOptions::Kind::lamb:
      return {kInternalDomain, "Lamb",
              make_attributes(
                  {{"weight_decay", decay}, {"alpha", beta1}, {"beta", beta2}, {"epsilon", epsilon}, {"adapt", adapts}})};
    default:  // in AdamW the decay has an attribute of its own
      return {kInternalDomain, "AdamW",
              make_attributes({{o.kind == OptimizerOptions::Kind::adamw ? "weight_decay" : "norm_coefficient", decay},
                               {"alpha", beta1},
                               {"beta", beta2},
                               {"epsilon", epsilon}})};
  }
}

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
    case Kind::lars:
      return fmt::format("lars:trust={},momentum={},weight_decay={},skip_vectors={}", trust, momentum, weight_decay,
                         skip_vectors ? 1 : 0);
    case Kind::lamb:
      return fmt::format("lamb:beta1={},beta2={},epsilon={},weight_decay={},skip_vectors={}", beta1, beta2, epsilon, weight_decay,
                         skip_vectors ? 1 : 0);
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
    case Kind::lars:
      return {"velocity"};
    default:
      return {"mean", "square"};
  }
}

std::vector<Value*> add_optimizer_step(Builder& b, const OptimizerOptions& o, Value* rate, Value* step, Value* weight,
                                       Value* gradient, const std::vector<Value*>& states) {
  const StepNode kind = step_node(o, weight->type.shape.rank() > 1);
  std::vector<Value*> inputs{rate, step, weight, gradient};
  inputs.insert(inputs.end(), states.begin(), states.end());
  const Node* node = b.node(kind.domain, kind.op, std::move(inputs), 1 + states.size(), kind.attributes, "update." + weight->name());
  return node ? node->outputs() : std::vector<Value*>{};
}

}  // namespace svengine

#include "tools/emit/formulas.h"

#include <cstdlib>

#include "engine/ops/fused_activation.h"

namespace svengine::tool::emit {
namespace {

struct Formula {
  std::string_view name;
  const char* real;
  const char* integer = nullptr;  // likewise of bool
};

// NaN gives NaN in every one but ThresholdedRelu: comparisons are the way round that lets it through.
constexpr Formula kUnary[] = {
    {"Abs", "@fabs($x)", "$x < 0 ? ($T)(0 - ($U)$x) : $x"},
    {"Neg", "-$x", "($T)(0 - ($U)$x)"},
    {"Sign", "$x != $x ? $x : ($T)(($x > 0) - ($x < 0))", "($x > 0) - ($x < 0)"},
    {"Floor", "@floor($x)"},
    {"Ceil", "@ceil($x)"},
    {"Round", "@nearbyint($x)"},
    {"Sqrt", "@sqrt($x)"},
    {"Reciprocal", "1 / $x"},
    {"Exp", "@exp($x)"},
    {"Log", "@log($x)"},
    {"Sin", "@sin($x)"},
    {"Cos", "@cos($x)"},
    {"Tan", "@tan($x)"},
    {"Asin", "@asin($x)"},
    {"Acos", "@acos($x)"},
    {"Atan", "@atan($x)"},
    {"Sinh", "@sinh($x)"},
    {"Cosh", "@cosh($x)"},
    {"Asinh", "@asinh($x)"},
    {"Acosh", "@acosh($x)"},
    {"Atanh", "@atanh($x)"},
    {"Relu", "$x < 0 ? 0 : $x", "$x < 0 ? 0 : $x"},
    {"clip", "$x < $a ? $a : $x; v > $b ? $b : v"},
    {"LeakyRelu", "$x < 0 ? $a * $x : $x"},
    {"HardSigmoid", "$a * $x + $b; v < 0 ? 0 : v > 1 ? 1 : v"},
    {"HardSwish", "$x / 6 + #0.5#; $x * (v < 0 ? 0 : v > 1 ? 1 : v)"},
    {"Sigmoid", "1 / (1 + @exp(-$x))"},
    {"Tanh", "@tanh($x)"},
    {"Gelu", "$x * (#0.5# * @erfc(-$x * #0.70710678118654752#))"},
    {"gelu_tanh", "$x + #0.044715# * $x * $x * $x; $x / (1 + @exp(#-1.5957691216057308# * v))"},
    {"Silu", "$x / (1 + @exp(-$x))"},
    {"Swish", "$x / (1 + @exp(-$a * $x))"},
    {"affine", "$a * $x + $b"},
    {"scaled_tanh", "$a * @tanh($b * $x)"},
    {"Erf", "@erf($x)"},
    {"Softplus", "($x < 0 ? 0 : $x) + @log1p(@exp(-@fabs($x)))"},
    {"Elu", "$x > 0 ? $x : $a * @expm1($x)"},
    {"ThresholdedRelu", "$x > $a ? $x : 0"},
    {"Selu", "$x > 0 ? $b * $x : $b * $a * @expm1($x)"},
    {"Celu", "$x > 0 ? $x : $a * @expm1($x / $a)"},
    {"Softsign", "$x / (1 + @fabs($x))"},
    {"Mish", "($x < 0 ? 0 : $x) + @log1p(@exp(-@fabs($x))); $x * @tanh(v)"},
    {"Shrink", "$x < -$b ? $x + $a : $x > $b ? $x - $a : $x != $x ? $x : 0"},
    {"IsNaN", "$x != $x"},
    {"IsInf", "($a != 0 && $x == -INFINITY) || ($b != 0 && $x == INFINITY)"},
    {"Not", nullptr, "!$x"},
    {"BitwiseNot", nullptr, "($T)~$x"},
};

// Integers wrap; a division by zero gives 0.
constexpr Formula kBinary[] = {
    {"Add", "$x + $y", "($T)(($U)$x + ($U)$y)"},
    {"Sum", "$x + $y"},
    {"Mean", "$x + $y"},
    {"Sub", "$x - $y", "($T)(($U)$x - ($U)$y)"},
    {"Mul", "$x * $y", "($T)(($U)$x * ($U)$y)"},
    {"Div", "$x / $y", "$y == 0 ? 0 : $y == -1 ? ($T)(0 - ($U)$x) : $x / $y"},
    {"Pow", "@pow($x, $y)"},
    {"Min", "$x < $y || $x != $x ? $x : $y", "$x < $y ? $x : $y"},
    {"Max", "$x > $y || $x != $x ? $x : $y", "$x > $y ? $x : $y"},
    {"Mod", "@fmod($x, $y)", "$y == 0 || $y == -1 ? 0 : $x % $y; v != 0 && (v < 0) != ($y < 0) ? v + $y : v"},
    {"fmod", nullptr, "$y == 0 || $y == -1 ? 0 : $x % $y"},
    {"PRelu", "$x < 0 ? $y * $x : $x", "$x < 0 ? ($T)(($U)$x * ($U)$y) : $x"},
    {"Equal", "$x == $y", "$x == $y"},
    {"Greater", "$x > $y", "$x > $y"},
    {"GreaterOrEqual", "$x >= $y", "$x >= $y"},
    {"Less", "$x < $y", "$x < $y"},
    {"LessOrEqual", "$x <= $y", "$x <= $y"},
    {"And", nullptr, "$x && $y"},
    {"Or", nullptr, "$x || $y"},
    {"Xor", nullptr, "!$x != !$y"},
};

template <size_t kCount>
const char* find_formula(const Formula (&formulas)[kCount], std::string_view name, DType type) {
  for (const Formula& f : formulas)
    if (f.name == name) return kRealTypes.has(type) ? f.real : f.integer;
  return nullptr;
}

/// Numbers that are written with a sign stand in parentheses: "x - -1" is no "x --1".
std::string operand(std::string text) { return text.starts_with('-') ? '(' + text + ')' : text; }

std::string substituted(std::string_view formula, DType type, const Operands& o) {
  std::string out;
  for (size_t i = 0; i < formula.size(); ++i) {
    const char c = formula[i];
    if (c == '$') {
      switch (formula[++i]) {
        case 'x': out += operand(o.x); break;
        case 'y': out += operand(o.y); break;
        case 'a': out += operand(c_number(o.a, type)); break;
        case 'b': out += operand(c_number(o.b, type)); break;
        case 'T': out += c_type(type); break;
        default: out += type == DType::i64 ? "uint64_t" : "uint32_t"; break;
      }
    } else if (c == '@') {
      const size_t end = formula.find('(', i);
      out += formula.substr(i + 1, end - i - 1);
      if (type == DType::f32) out += 'f';
      i = end - 1;
    } else if (c == '#') {
      const size_t end = formula.find('#', i + 1);
      out += operand(c_number(std::strtod(std::string(formula.substr(i + 1, end - i - 1)).c_str(), nullptr), type));
      i = end;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string expression(Code& code, std::string_view formula, DType type, const Operands& operands) {
  if (const size_t end = formula.find("; "); end != formula.npos) {
    code.line("const {} v = {};", c_type(type), substituted(formula.substr(0, end), type, operands));
    formula.remove_prefix(end + 2);
  }
  return substituted(formula, type, operands);
}

const char* unary_formula(std::string_view name, DType type) { return find_formula(kUnary, name, type); }
const char* binary_formula(std::string_view name, DType type) { return find_formula(kBinary, name, type); }

namespace {

/// The name in the table above of an activation: that of the operator which is nothing else.
constexpr std::pair<kernels::Activation, const char*> kActivations[] = {
    {kernels::Activation::kRelu, "Relu"},           {kernels::Activation::kClip, "clip"},
    {kernels::Activation::kLeakyRelu, "LeakyRelu"}, {kernels::Activation::kHardSigmoid, "HardSigmoid"},
    {kernels::Activation::kHardSwish, "HardSwish"}, {kernels::Activation::kSigmoid, "Sigmoid"},
    {kernels::Activation::kTanh, "Tanh"},           {kernels::Activation::kGelu, "Gelu"},
    {kernels::Activation::kGeluTanh, "gelu_tanh"},  {kernels::Activation::kSilu, "Silu"}};
static_assert(std::size(kActivations) + 1 == kernels::kActivationCount);

}  // namespace

std::string activated(Code& code, const Node& node, DType type, const std::string& value) {
  const kernels::ActivationArgs args = ops::activation_of(node.attributes);
  for (const auto& [kind, name] : kActivations) {
    if (kind != args.kind) continue;
    code.line("const {} u = {};", c_type(type), value);
    return expression(code, unary_formula(name, type), type, {"u", {}, args.alpha, args.beta});
  }
  return value;
}

}  // namespace svengine::tool::emit

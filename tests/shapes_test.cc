// Shapes and refusals of random nodes against what ONNX Runtime and ONNX's shape inference said of them: data/shapes.txt, which
// backend/record_shapes.py wrote and describes. What is valid has these output types; what is not is refused. Where the engine differs
// on purpose, a rule below says why; a rule that nothing needs is an error.
#include <catch2/catch.hpp>

#include <charconv>
#include <set>

#include "engine/graph/builder.h"
#include "engine/ops/canonical.h"
#include "engine/ops/element.h"
#include "engine/ops/registry.h"
#include "tests/recorded.h"

namespace shapes_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

struct Record {
  std::string op, inputs, attributes, outputs;
  int opset = 0;
  size_t output_count = 0;
};

template <class T>
std::vector<T> numbers(const std::string& text) {
  std::vector<T> out;
  for (const std::string& part : split(text, ',')) {
    T value{};
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), value);
    REQUIRE((problem == std::errc() && end == part.data() + part.size()));
    out.push_back(value);
  }
  return out;
}

DType type_named(const std::string& name) {
  for (int i = 1; i <= static_cast<int>(DType::bf16); ++i)
    if (const auto t = static_cast<DType>(i); size_of(t) > 0 && name_of(t) == name) return t;
  FAIL("no element type " << name);
  return DType::undefined;
}

/// "float32[2,3]" or "int64[2]={1,-3}".
Value* add_value(Graph& graph, const std::string& text) {
  if (text == "-") return nullptr;
  const size_t open = text.find('['), close = text.find(']');
  const DType type = type_named(text.substr(0, open));
  const Dims dims = numbers<int64_t>(text.substr(open + 1, close - open - 1));
  if (close + 1 == text.size()) return graph.add_input("x", Type{type, Shape::of(dims)});
  const auto elements = split(text.substr(close + 3, text.size() - close - 4), ',');
  MutableTensor all = Tensor::allocate(type, dims).value();
  REQUIRE(std::ssize(elements) == all.count());
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::string& e = elements[i];
    const Tensor one = type == DType::i64 ? Tensor::scalar<int64_t>(numbers<int64_t>(e)[0])
                                          : ops::scalar_of(type, e == "True" ? 1 : e == "False" ? 0 : std::stod(e));
    std::memcpy(all.raw() + i * one.byte_size(), one.raw(), one.byte_size());
  }
  return graph.add_constant("c", all);
}

Attributes attributes_of(const std::string& text) {
  Attributes out;
  for (const std::string& part : split(text, ' ')) {
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals), value = part.substr(equals + 2);
    switch (part[equals + 1]) {
      case 'i': out.set(name, numbers<int64_t>(value)[0]); break;
      case 'I': out.set(name, numbers<int64_t>(value)); break;
      case 'f': out.set(name, numbers<float>(value)[0]); break;
      case 'F': out.set(name, numbers<float>(value)); break;
      default: out.set(name, value);
    }
  }
  return out;
}

std::string text_of(const Type& type) {
  std::string dims;
  for (const Dim& d : type.shape.dims())
    dims += fmt::format("{}{}", dims.empty() ? "" : ",", d.is_static() ? std::to_string(d.value()) : "?");
  return fmt::format("{}[{}]", name_of(type.dtype), dims);
}

/// The outputs' types as the table writes them; unknown dimensions are "?". "refused: ..." where the engine refuses the node.
std::string inferred(const Record& r) {
  Graph graph;
  std::vector<Value*> inputs;
  for (const std::string& in : split(r.inputs, ' ')) inputs.push_back(add_value(graph, in));
  Node* node = graph.add_node(*all_ops().find("", r.op), "n", inputs, r.output_count, attributes_of(r.attributes));
  CanonicalizeContext context(graph, *node, all_ops(), r.opset);
  Status status = ops::to_canonical_form(context);
  if (status.ok()) status = infer_types(*node);
  if (!status.ok()) return "refused: " + status.error().message();
  std::string out;
  for (const Value* v : node->outputs()) out += (out.empty() ? "" : " ") + text_of(v->type);
  return out;
}

/// Dimensions that only the run decides are unknown to the engine: "?" agrees with any.
bool agree(const std::string& got, const std::string& expected) {
  size_t i = 0;
  for (const char c : expected) {
    if (i < got.size() && got[i] == c) ++i;
    else if (i < got.size() && got[i] == '?' && c >= '0' && c <= '9') continue;
    else if (i + 1 < got.size() && got[i] == '?' && got[i + 1] == c) i += 2;
    else return false;
  }
  return i == got.size() || (i + 1 == got.size() && got[i] == '?');
}

/// Where the engine says something else on purpose.
struct Difference {
  const char* op;        // how the operator's name begins
  const char* inputs;    // how the inputs begin
  const char* engine;    // part of what the engine says
  const char* recorded;  // part of what is recorded
  const char* reason;
};

constexpr Difference kDifferences[] = {
    {"Reduce", "", "twice", "[", "an axis named twice is a mistake, as in NumPy; ONNX Runtime takes it once"},
    {"Reduce", "", "of a scalar, which has none", "[", "axes are from -rank to rank - 1, says ONNX, and a scalar has none"},
    {"Arg", "", "needs rank 1 or more", "int64[]", "the axis is from -rank to rank - 1, says ONNX, and a scalar has none"},
    {"Compress", "", "(condition) has rank", "[", "the condition is of rank 1, says ONNX"},
    {"NonZero", "", "int64[0,?]", "int64[1,", "a scalar gives (0, N), unlike NumPy, says ONNX; ONNX Runtime does as NumPy"},
    {"", "", "does not fit the padded input", "[",
     "no window fits; ONNX Runtime's size is 0, or, by a division that cuts towards 0, 1 even without ceil_mode"},
    {"LpPool", "float32[1,2,0]", "float32[1,2,0]", "refused", "no element in, none out"},
    {"MaxPool", "float32[1,0,", "float32[1,0,", "refused", "no element in, none out"},
    {"Global", "", "float32[", "refused", "norm, mean and maximum of no pixel are 0, NaN and -infinity; ONNX Runtime asks for one"},
    {"ConvTranspose", "", "15,14]", "15,13]",
     "SAME makes the output input * stride, says ONNX; ONNX Runtime does not where the kernel is narrower than the stride"},
    {"MaxPool", "", "[2,3,2,5,1]", "[2,3,1,3,1]", "SAME keeps the size, says ONNX; ONNX Runtime forgets the dilation"},
    {"Slice", "bool[1,1,3,2,1]", "bool[1,0,0,2,1]", "bool[1,0,1,2,1]",
     "an end of INT64_MAX is clamped, says ONNX; ONNX Runtime takes it for the beginning where the step is negative"},
    {"Softmax", "float32[]", "float32[]", "refused", "a scalar's softmax is 1: PyTorch's of no dimension, exported"},
    {"LogSoftmax", "float32[]", "float32[]", "refused", "a scalar's softmax is 1: PyTorch's of no dimension, exported"},
    {"Hardmax", "float32[]", "float32[]", "refused", "as Softmax"},
    {"LogSoftmax", "float32[1]", "float32[1]", "refused", "coerced to two dimensions, the axis may be the rank: lines of one"},
    {"SoftmaxCrossEntropyLoss", "", "float32[", "refused", "the labels that ONNX Runtime was given are no classes"},
    {"", "", "weights for", "float32[", "there is a weight for each class, says ONNX"},
    {"OneHot", "int64[] ", "[", "refused", "one index has its row of one 1; ONNX's reference makes it"},
    {"LRN", "", "float32[", "refused", "ONNX allows any number of spatial dimensions, ONNX Runtime two"},
    {"PRelu", "", "does not broadcast to X", "float32[", "the slope broadcasts to x, not x to the slope, says ONNX"},
    {"Equal", "float32", "bool[", "refused", "before opset 11 (int32, int64, bool): more types are no harm"},
    {"Greater", "int32", "bool[", "refused", "before opset 9 (floats): more types are no harm"},
    {"Pow", "int32", "int32[", "refused", "before opset 12 (floats): more types are no harm"},
    {"Mod", "int32", "int32[", "refused", "ONNX Runtime met a divisor of 0, which is the data's fault; here it gives 0"},
    {"ReverseSequence", "", "float32[", "refused", "ONNX Runtime met a length beyond the axis, which is the data's fault"},
};

const Difference* difference_of(const Record& r, const std::string& got) {
  for (const Difference& d : kDifferences)
    if (r.op.starts_with(d.op) && r.inputs.starts_with(d.inputs) && got.find(d.engine) != std::string::npos &&
        r.outputs.find(d.recorded) != std::string::npos)
      return &d;
  return nullptr;
}

std::vector<Record> records() {
  std::vector<Record> out;
  for (const std::vector<std::string>& parts : recorded_fields(SVENGINE_SHAPES)) {
    REQUIRE(parts.size() == 6);
    out.push_back({parts[0], parts[3], parts[4], parts[5], std::stoi(parts[1]), std::stoul(parts[2])});
  }
  return out;
}

}  // namespace

TEST_CASE("shapes and refusals are those of ONNX Runtime and ONNX's inference") {
  const std::vector<Record> all = records();
  REQUIRE(all.size() > 3000);
  std::set<const Difference*> needed;
  for (const Record& r : all) {
    const std::string got = inferred(r);
    if (r.outputs == "refused" ? got.starts_with("refused") : agree(got, r.outputs)) continue;
    if (const Difference* known = difference_of(r, got)) {
      needed.insert(known);
      continue;
    }
    INFO(r.op << ", opset " << r.opset << ": " << r.inputs << " {" << r.attributes << "} recorded as " << r.outputs << ", here " << got);
    CHECK(false);
  }
  for (const Difference& d : kDifferences) {
    INFO(d.op << ": " << d.reason);
    CHECK(needed.count(&d) == 1);
  }
}
}  // namespace shapes_test

// write_samples FOLDER: every operator's samples as C, with inputs and what the kernel set `reference` computes of them, for compare_samples.c.
//
// Each sample is written twice: as it stands, and with all inputs behind the first as constants, which are packed, printed and folded into
// expressions. An operator that the table of emitters names must have had one at least.
#include <cstdio>
#include <fstream>
#include <set>

#include "engine/kernels/kernel_table.h"
#include "engine/ops/registry.h"
#include "engine/ops/run_node.h"
#include "engine/plan/plan.h"
#include "tests/support/random_tensor.h"
#include "tools/emit/emit.h"
#include "tools/emit/interface.h"
#include "tools/emit/table.h"

using namespace svengine;
using namespace svengine::tool::emit;

namespace {

struct Built {
  Graph graph;
  std::vector<Tensor> all, inputs;  // of the node, and those of them that the graph takes
};

Built build(const OpDef& op, const Sample& sample, bool constant_rest) {
  Built built;
  std::vector<Value*> values;
  for (const SampleInput& in : sample.inputs) {
    const size_t i = values.size();
    const Tensor t = in.value.defined() ? in.value : Tensor(tests::random_tensor_of(in.dtype, in.dims, i + 1, in.low, in.high));
    built.all.push_back(t);
    const std::string name = fmt::format("x{}", i);
    if (in.value.defined() || (constant_rest && i > 0)) {
      values.push_back(built.graph.add_constant(name, t));
      continue;
    }
    values.push_back(built.graph.add_input(name, Type{t.type(), Shape::of(t.dims())}));
    built.inputs.push_back(t);
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = built.graph.add_node(op, "node", values, static_cast<size_t>(sample.outputs), std::move(attributes));
  for (Value* v : node->outputs()) built.graph.add_output(v);
  return built;
}

/// By the reference, from a graph of constants.
Result<std::vector<Tensor>> expected_of(const OpDef& op, const Sample& sample, const std::vector<Tensor>& inputs) {
  Graph graph;
  std::vector<Value*> values;
  for (const Tensor& t : inputs) values.push_back(graph.add_constant("", t));
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = graph.add_node(op, "node", values, static_cast<size_t>(sample.outputs), std::move(attributes));
  SV_TRY(infer_types(*node));
  return evaluate(*node, *kernels::find_kernel_set("reference"));
}

/// The files, as they grow.
class Writer {
 public:
  explicit Writer(std::string folder) : folder_(std::move(folder)), data_(folder_ + "/samples.bin", std::ios::binary) {}

  Status add(const OpDef& op, const Sample& sample, bool constant_rest) {
    Built built = build(op, sample, constant_rest);
    for (const auto& node : built.graph.nodes()) {
      SV_TRY(infer_types(*node));
      if (!refusal(*node).empty()) return {};
    }
    const std::string name = fmt::format("sample{}", count_++);
    SV_ASSIGN(const Emitted emitted, emit_c(built.graph, name, "a sample"));
    SV_ASSIGN(const Interface interface, interface_of(built.graph, name));
    SV_ASSIGN(const std::vector<Tensor> expected, expected_of(op, sample, built.all));
    write(name + ".h", emitted.header);
    write(name + ".c", emitted.source);
    all_ += fmt::format("#include \"{}.c\"\n", name);
    for (const std::vector<Tensor>* tensors : {static_cast<const std::vector<Tensor>*>(&built.inputs), &expected})
      for (const Tensor& t : *tensors) data_.write(reinterpret_cast<const char*>(t.raw()), static_cast<std::streamsize>(t.byte_size()));
    add_to_table(fmt::format("{} {}{}", name, op.name, constant_rest ? ", constants" : ""), name, interface, expected, op.tolerance);
    compared_.insert(op.domain + std::string(".") + op.name);
    return {};
  }

  /// Operators of the table that had no sample.
  std::string finish() {
    write("samples.c", all_ + "#include \"compare_samples.h\"\n" + calls_ + "const struct sample samples[] = {\n" + table_ + "};\nconst int sample_count = " +
                           fmt::format("{};\n", count_));
    std::string missing;
    for (const Emitter& e : emitters())
      if (!compared_.contains(e.domain + std::string(".") + e.op)) missing += fmt::format(" {}", e.op);
    return missing;
  }
  size_t operators() const { return compared_.size(); }
  int count() const { return count_; }

 private:
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }

  void add_to_table(const std::string& title, const std::string& name, const Interface& interface, const std::vector<Tensor>& expected, Tolerance tolerance) {
    std::string arguments, sizes, types;
    for (size_t i = 0; i < interface.inputs.size(); ++i) arguments += fmt::format(", in[{}]", i);
    for (size_t i = 0; i < interface.outputs.size(); ++i) arguments += fmt::format(", out[{}]", i);
    for (const auto* ports : {&interface.inputs, &interface.outputs})
      for (const Port& p : *ports) sizes += fmt::format("{}{{{}, {}, '{}'}}", sizes.empty() ? "" : ", ", p.macro, size_of(p.type.dtype),
                                                        p.type.dtype == DType::f32 ? 'f' : p.type.dtype == DType::f64 ? 'd' : 'i');
    calls_ += fmt::format("static int call_{0}(void *w, void **in, void **out) {{ (void)in; return {0}_run_in(w{1}); }}\n", name, arguments);
    std::string upper = interface.upper_name();
    table_ += fmt::format("  {{\"{}\", call_{}, {}_WORKSPACE_BYTES, {}, {}, {:g}, {:g}, {{{}}}}},\n", title, name, upper, interface.inputs.size(), expected.size(),
                          tolerance.rtol, tolerance.atol, sizes);
  }

  std::string folder_, all_, calls_, table_;
  std::ofstream data_;
  std::set<std::string> compared_;
  int count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Writer writer(argv[1]);
  for (const Emitter& e : emitters()) {
    const OpDef* op = all_ops().find(e.domain, e.op);
    if (!op) {
      fmt::print("there is no operator {} {}\n", e.domain, e.op);
      return 1;
    }
    for (const Sample& sample : op->samples)
      for (const bool constant_rest : {false, true}) {
        if (constant_rest && sample.inputs.size() < 2) continue;
        if (Status status = writer.add(*op, sample, constant_rest); !status.ok()) {
          fmt::print("{}: {}\n", op->name, status.error().message());
          return 1;
        }
      }
  }
  const std::string missing = writer.finish();
  fmt::print("{} samples of {} operators\n", writer.count(), writer.operators());
  if (!missing.empty()) fmt::print("not compared, for no sample is of a type that they are written for:{}\n", missing);
  return missing.empty() ? 0 : 1;
}

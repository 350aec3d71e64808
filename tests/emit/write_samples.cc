// write_samples FOLDER: every operator's samples as C, with inputs and what the kernel set `reference` computes of them, for compare_samples.c.
//
// Each sample is written twice: as it stands, and with all inputs behind the first as constants, which are packed, printed and folded into
// expressions. An operator that the table of emitters names must have had one at least.
#include "engine/kernels/kernel_table.h"
#include "engine/ops/registry.h"
#include "engine/ops/run_node.h"
#include "engine/ops/samples.h"
#include "engine/plan/plan.h"
#include "tests/emit/emitted_writer.h"
#include "tests/support/random_tensor.h"
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
    if (in.is_absent()) {
      values.push_back(nullptr), built.all.emplace_back();
      continue;
    }
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
  for (const Tensor& t : inputs) values.push_back(t.defined() ? graph.add_constant("", t) : nullptr);
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = graph.add_node(op, "node", values, static_cast<size_t>(sample.outputs), std::move(attributes));
  SV_TRY(infer_types(*node));
  return evaluate(*node, *kernels::find_kernel_set("reference"));
}

/// Whether it is written; not where it is of types that have no C.
Result<bool> write_sample(tests::EmittedWriter& writer, const OpDef& op, const Sample& sample, bool constant_rest) {
  Built built = build(op, sample, constant_rest);
  for (const auto& node : built.graph.nodes()) {
    SV_TRY(infer_types(*node));
    if (!refusal(*node).empty()) return false;
  }
  SV_ASSIGN(const std::vector<Tensor> expected, expected_of(op, sample, built.all));
  SV_TRY(writer.add(built.graph, fmt::format("{}{}", op.name, constant_rest ? ", constants" : ""), built.inputs, expected, op.tolerance));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  tests::EmittedWriter writer(argv[1]);
  std::string missing;
  for (const Emitter& e : emitters()) {
    const OpDef* op = all_ops().find(e.domain, e.op);
    bool any = false;
    for (const Sample& sample : op ? samples_of(*op) : std::vector<Sample>())
      for (const bool constant_rest : {false, true}) {
        if (constant_rest && sample.inputs.size() < 2) continue;
        const Result<bool> written = write_sample(writer, *op, sample, constant_rest);
        if (!written.ok()) {
          fmt::print("{}: {}\n", op->name, written.error().message());
          return 1;
        }
        any = any || *written;
      }
    if (!any) missing += fmt::format(" {}", e.op);
  }
  writer.finish();
  fmt::print("{} samples of {} operators\n", writer.count(), emitters().size());
  if (!missing.empty()) fmt::print("not compared, for there is no sample of a type that they are written for:{}\n", missing);
  return missing.empty() ? 0 : 1;
}

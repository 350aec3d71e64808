#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/ops/registry.h"
#include "engine/ops/samples.h"

namespace registry_test {
using namespace svengine;

TEST_CASE("operators are found by domain and name") {
  for (const OpDef& op : all_ops().all()) CHECK(all_ops().find_own(op.domain, op.name) == &op);
  CHECK(all_ops().find("ai.onnx", "AveragePool") == all_ops().find("", "AveragePool"));
  for (const char* name : {"averagepool", "average_pool", "AveragePoo", ""}) CHECK_FALSE(all_ops().find("", name));
  CHECK_FALSE(all_ops().find("com.example", "AveragePool"));
  CHECK(all_ops().newest_opset(kMlDomain) == kNewestMlOpset);
  CHECK(all_ops().newest_opset("com.example") == 0);
}

TEST_CASE("the samples of every operator can be read") {
  for (const OpDef& op : all_ops().all()) {
    const Result<std::vector<Sample>> samples = parse_samples(op.samples, all_ops());
    INFO(op.name << ": " << (samples.ok() ? "" : samples.error().message()));
    CHECK(samples.ok());
    CHECK(samples_of(op).empty() == op.samples.empty());
  }
}

TEST_CASE("every input that an operator requires is refused by name when it is absent") {
  size_t behind_optional = 0;
  for (const OpDef& op : all_ops().all())
    for (int i = 0; i <= op.inputs.last(); ++i) {
      const auto absent = static_cast<size_t>(i);
      if (!op.inputs.is_required(absent)) continue;
      INFO(op.name << ": input " << i);
      behind_optional += i > 0 && !op.inputs.is_required(absent - 1);
      Graph graph;
      std::vector<Value*> inputs(static_cast<size_t>(op.inputs.last()) + 1);
      for (Value*& v : inputs) v = graph.add_input("x", Type{DType::f32, Shape()});
      inputs[absent] = nullptr;
      const size_t outputs = static_cast<size_t>(std::max(op.outputs.min, 1));
      const Status status = infer_types(*graph.add_node(op, "", std::move(inputs), outputs, {}));
      REQUIRE_FALSE(status.ok());
      CHECK(status.error().message().find(op.inputs.described(absent) + " is required but absent") != std::string::npos);
    }
  CHECK(behind_optional >= 25);
}

}  // namespace registry_test

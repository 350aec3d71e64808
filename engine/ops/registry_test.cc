#include <fmt/format.h>

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

TEST_CASE("what an operator requires lies behind the first inputs, which are required anyway, and is refused by name when it is absent") {
  for (const OpDef& op : all_ops().all())
    for (const InputName& required : op.required_inputs) {
      INFO(op.name << ": input " << required.input);
      CHECK(static_cast<int>(required.input) >= op.inputs.min);
      CHECK(static_cast<int>(required.input) < op.inputs.max);
      Graph graph;
      std::vector<Value*> inputs;
      for (size_t i = 0; i < required.input; ++i) inputs.push_back(graph.add_input("x", Type{DType::f32, Shape()}));
      for (const InputName& other : op.required_inputs) inputs.resize(std::max(inputs.size(), other.input + 1));
      const size_t outputs = static_cast<size_t>(std::max(op.outputs.min, 1));
      const Status status = infer_types(*graph.add_node(op, "", std::move(inputs), outputs, {}));
      REQUIRE_FALSE(status.ok());
      CHECK(status.error().message().find(fmt::format("input {} ({}) is required but absent", required.input, required.name)) != std::string::npos);
    }
}

}  // namespace registry_test

// Cut and changed models: success or an error, never a crash. Sanitizer builds make this test sharp.
#include <random>

#include "importers/onnx/import_test_util.h"

namespace import_mutation_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

/// A model with something of everything the importer reads.
std::string varied_model() {
  ModelProto model = empty_model(11);
  add_input(model, "x", {-1, 3});
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("N");
  add_initializer(model, "w", {1, 3}, {1, 2, 3});
  TensorProto* typed = model.mutable_graph()->add_initializer();
  typed->set_name("shape");
  typed->set_data_type(TensorProto::INT64);
  typed->add_dims(2);
  typed->add_int64_data(3);
  typed->add_int64_data(1);
  add_node(model, "Add", {"x", "w"}, {"a"}, "add");
  NodeProto* scale = add_node(model, "Scale", {"a"}, {"b"}, "scale");
  add_attribute(scale, "factor", AttributeProto::FLOAT)->set_f(0.5f);
  add_attribute(scale, "mode", AttributeProto::STRING)->set_s("fast");
  add_attribute(scale, "pads", AttributeProto::INTS)->add_ints(1);
  fill_raw(add_attribute(scale, "table", AttributeProto::TENSOR)->mutable_t(), {2}, {1, 2});
  add_node(model, "Reshape", {"b", "shape"}, {"c"}, "reshape");
  add_attribute(add_node(model, "Squeeze", {"c"}, {"d"}, "squeeze"), "axes", AttributeProto::INTS)->add_ints(1);
  add_node(model, "Clip", {"d", "", "d"}, {"y"}, "clip");
  set_type(model.mutable_graph()->add_output(), "y", {3});
  return model.SerializeAsString();
}

}  // namespace

TEST_CASE("every truncation of a model is an error") {
  const std::string model = varied_model();
  REQUIRE(import_text(model).ok());
  for (size_t n = 0; n < model.size(); ++n) {
    INFO("cut at " << n);
    CHECK_FALSE(import_text(model.substr(0, n)).ok());
  }
}

TEST_CASE("random changes of a model end in success or an error") {
  const std::string model = varied_model();
  std::mt19937 random(20240607);
  const auto below = [&](size_t n) { return random() % n; };
  int good = 0;
  constexpr int kCases = 1500;
  for (int i = 0; i < kCases; ++i) {
    std::string changed = model;
    for (size_t changes = 1 + below(4); changes > 0; --changes) {
      const size_t at = below(changed.size());
      switch (below(5)) {
        case 0: changed[at] = static_cast<char>(random()); break;
        case 1: changed[at] = static_cast<char>(changed[at] ^ (1 << below(8))); break;
        case 2: changed.erase(at, 1 + below(8)); break;
        case 3: changed.insert(at, changed.substr(below(changed.size()), below(32))); break;
        case 4: changed[at] = static_cast<char>(0xff); break;
      }
      if (changed.empty()) changed = model;
    }
    const Result<Model> result = import_text(changed);
    good += result.ok();
    if (!result.ok()) CHECK_FALSE(result.error().message().empty());
  }
  // Some changes hit names or values and leave a model; most do not.
  CHECK(good > 0);
  CHECK(good < kCases);
}

TEST_CASE("random bytes are refused") {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(1 + random() % 200, '\0');
    for (char& b : bytes) b = static_cast<char>(random());
    CHECK_FALSE(import_text(bytes).ok());
  }
}
}  // namespace import_mutation_test

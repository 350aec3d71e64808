// Equal names of packed weights mean equal bytes: for every operator's samples and their relatives with constant weights, and for
// convolutions and products of every shape that decides a layout, on every kernel set.
#include <catch2/catch.hpp>
#include <map>

#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "runtime/session.h"
#include "tests/hostile/relatives.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace packing_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr int64_t kMostElements = 1 << 16;

struct Seen {
  std::vector<std::byte> bytes;
  std::string by;
};
using Packed = std::map<Hash128, Seen>;

bool small(const Relative& r) {
  return std::all_of(r.inputs.begin(), r.inputs.end(), [](const RelativeInput& in) {
    return in.absent || (size_of(in.dtype) > 0 && check_dims(in.dims).ok() && element_count(in.dims) <= kMostElements);
  });
}

/// Plans one node whose inputs but the first are constants, and packs them. An error is no concern of this test.
Status pack(const OpDef& op, const Relative& r, const kernels::KernelTable& kernels, WeightStore& store) {
  Graph graph;
  std::vector<Value*> values;
  std::vector<Dims> dims;
  for (const RelativeInput& in : r.inputs) {
    const std::string name = fmt::format("x{}", values.size());
    if (in.absent) {
      values.push_back(nullptr);
    } else if (!values.empty()) {
      SV_ASSIGN(Tensor t, tensor_of(in, 1));
      values.push_back(graph.add_constant(name, std::move(t)));
    } else {
      values.push_back(graph.add_input(name, Type{in.dtype, Shape::of(in.dims)}));
      dims.push_back(in.dims);
    }
  }
  Node* node = graph.add_node(op, "node", values, static_cast<size_t>(r.outputs), r.attributes);
  for (Value* v : node->outputs()) graph.add_output(v);
  SV_TRY(infer_types(*node));
  const PassContext context = pass_context(kernels);
  SV_TRY(run_pipeline(graph, context, Stage::load));
  SV_ASSIGN(Graph concrete, specialize(graph, dims, {}, context));
  SV_TRY(run_pipeline(concrete, context, Stage::plan));
  for (const auto& n : concrete.nodes())
    for (const Value* v : n->outputs())
      if (v && !v->type.shape.is_static()) return error("its shape depends on data");
  SV_ASSIGN(const std::shared_ptr<const Plan> plan, make_plan(concrete, kernels, store));
  return store.pack_alone();
}

/// How many layouts there were already, under the same name.
int64_t check(const OpDef& op, const Relative& r, const kernels::KernelTable& kernels, Packed& packed) {
  WeightStore store;
  store.use_cache(nullptr, {});
  int64_t again = 0;
  if (!small(r) || !pack(op, r, kernels, store).ok()) return 0;
  for (const WeightStore::PackedWeight& made : store.take_packed()) {
    const std::vector<std::byte> bytes(made.packed.get(), made.packed.get() + made.bytes);
    const auto [it, fresh] = packed.emplace(made.key, Seen{bytes, r.what});
    if (fresh) continue;
    ++again;
    if (it->second.bytes != bytes)
      FAIL_CHECK(kernels.name << ": " << op.name << ", " << r.what << " is packed otherwise than " << it->second.by);
  }
  return again;
}

Relative node(std::string what, std::vector<Dims> inputs, std::vector<Attributes::Entry> attributes) {
  Relative r;
  r.what = std::move(what);
  for (Dims& d : inputs) r.inputs.push_back({DType::f32, d, Shape::of(d)});
  for (auto& [name, value] : attributes) r.attributes.set(name, value);
  return r;
}

using List = std::vector<int64_t>;

/// Every other field of a convolution's shape is varied while the weights stay.
void check_convolutions(const OpDef& op, const kernels::KernelTable& kernels, Packed& packed, int64_t& again) {
  const Dims weights[] = {{64, 3, 1, 5},  {64, 3, 3, 3}, {160, 4, 1, 3}, {64, 20, 1, 5}, {64, 20, 1, 1},
                          {80, 64, 3, 3}, {96, 4, 3, 3}, {32, 1, 3, 3},  {7, 3, 3, 3}};
  for (const Dims& w : weights)
    for (const int64_t group : {1, 2, 8, 32})
      for (const List& image : {List{1, 12, 12}, List{3, 12, 12}, List{1, 40, 33}, List{1, 12, 150}})
        for (const List& dilations : {List{1, 1}, List{1, 2}, List{2, 1}, List{2, 2}})
          for (const List& strides : {List{1, 1}, List{1, 2}, List{2, 2}})
            for (const int64_t pad : {0, 2}) {
              const Dims x{image[0], w[1] * group, image[1], image[2]};
              again +=
                  check(op,
                        node(fmt::format("weights {} image {} group {} dilations {}x{} strides {}x{} pad {}", to_string(w),
                                         to_string(x), group, dilations[0], dilations[1], strides[0], strides[1], pad),
                             {x, w}, {{"group", group}, {"dilations", dilations}, {"strides", strides}, {"pads", List(4, pad)}}),
                        kernels, packed);
            }
}

void check_products(const OpDef& op, const kernels::KernelTable& kernels, Packed& packed, int64_t& again) {
  for (const Dims& b : {Dims{6, 4}, Dims{2, 6, 4}, Dims{2, 3, 6, 4}, Dims{1, 6, 4}, Dims{2, 1, 6, 4}})
    for (const Dims& a : {Dims{5, 6}, Dims{1, 6}, Dims{40, 6}, Dims{2, 5, 6}, Dims{3, 5, 6}, Dims{2, 3, 5, 6}, Dims{1, 3, 1, 6}})
      again += check(op, node(fmt::format("{} times {}", to_string(a), to_string(b)), {a, b}, {}), kernels, packed);
}

}  // namespace

TEST_CASE("packed weights of equal names are equal") {
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
    Packed packed;
    int64_t again = 0;
    check_convolutions(*all_ops().find("", "Conv"), *set, packed, again);
    check_products(*all_ops().find("", "MatMul"), *set, packed, again);
    CHECK(again > 100);  // it has been asked at all
  }
}

TEST_CASE("packed weights of equal names are equal for all relatives of samples") {
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
    Packed packed;
    int64_t again = 0;
    for (const OpDef& op : all_ops().all())
      for (const Sample& sample : samples_of(op)) {
        if (sample.inputs.size() < 2 || sample.inputs[1].dtype != DType::f32) continue;
        const Relative base = relative_of(sample);
        const std::vector<Change> changes = changes_of(op, sample);
        for (size_t i = 0; i < changes.size(); i += SVENGINE_HOSTILE_DEFAULT_STRIDE) again += check(op, changed(base, changes, i), *set, packed);
      }
    CHECK(again > 100);
  }
}

TEST_CASE("convolutions that differ in dilations alone share weights") {
  const OpDef& conv = *all_ops().find("", "Conv");
  const Tensor weights = random_tensor({64, 3, 1, 5}, 1), image = random_tensor({1, 3, 6, 40}, 2);
  const auto run = [&](const kernels::KernelTable* set, std::vector<List> dilations) {
    Graph graph;
    Value* x = graph.add_input("x", Type{DType::f32, Shape::of(image.dims())});
    Value* w = graph.add_constant("w", weights);
    for (const List& d : dilations) {
      Attributes attributes;
      attributes.set("dilations", d);
      Node* node = graph.add_node(conv, "", {x, w}, 1, attributes);
      REQUIRE(infer_types(*node).ok());
      graph.add_output(node->output());
    }
    SessionOptions options;
    options.kernels = set;
    auto session = Session::create(std::move(graph), options);
    REQUIRE(session.ok());
    auto results = (*session)->run({image});
    REQUIRE(results.ok());
    return std::move(results).value();
  };
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
    const std::vector<Tensor> both = run(set, {{1, 1}, {1, 2}});
    CHECK(all_close(both[0], run(set, {{1, 1}})[0], 0, 0).ok());
    CHECK(all_close(both[1], run(set, {{1, 2}})[0], 0, 0).ok());
  }
}
}  // namespace packing_test

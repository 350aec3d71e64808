// What com.microsoft's gates, hyper-connections, routers and packed recurrences answer. Numbers are by hand, or from ONNX Runtime 1.32 as each
// case says; random nodes are compared by backend/against_runtime.py.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tests/support/node_answers.h"

namespace contributed_language_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

using Ints = std::vector<int64_t>;
const Attribute kOne = int64_t{1}, kTwo = int64_t{2};
const Tensor kNone;

Tensor row(std::initializer_list<float> values) { return Tensor::of<float>({1, static_cast<int64_t>(values.size())}, values); }
Tensor list(std::initializer_list<float> values) { return Tensor::of<float>({static_cast<int64_t>(values.size())}, values); }
Tensor cube(Dims dims, std::initializer_list<float> values) { return Tensor::of<float>(std::move(dims), values); }
Tensor whole(std::initializer_list<int32_t> values) { return Tensor::of<int32_t>({static_cast<int64_t>(values.size())}, values); }

bool is_taken(const char* op, const std::vector<Tensor>& inputs, AttributeList attributes) {
  const Graph graph = graph_of(op, inputs, attributes);
  return infer_types(*graph.nodes().front()).ok();
}

}  // namespace

TEST_CASE("ScaledSiLU takes its scale from the input, if there is one") {
  const Tensor x = list({0, std::log(3.0f)});  // of which the sigmoid is 3/4
  check_answer("ScaledSiLU", {x}, {}, list({0, 0.75f * std::log(3.0f)}));
  check_answer("ScaledSiLU", {list({0, -std::log(3.0f) / 2})}, {{"alpha", -2.0f}}, list({0, 0.75f * std::log(3.0f)}));
  check_answer("ScaledSiLU", {x, Tensor::scalar(0.0f)}, {{"alpha", -2.0f}}, list({0, 0}));
  CHECK_FALSE(is_taken("ScaledSiLU", {x, list({1})}, {}));
}

TEST_CASE("GatedAdd's gate is given, or the sigmoid of a product") {
  const Tensor x = row({1, 2}), y = row({10, 20});
  check_answer("GatedAdd", {x, y, row({0.5f})}, {}, row({6, 12}));
  check_answer("GatedAdd", {x, y, row({1, 1, 1}), Tensor::of<float>({3, 1}, {1, 2, -3})}, {}, row({6, 12}));
  CHECK_FALSE(is_taken("GatedAdd", {x, y, row({1, 1})}, {}));
  CHECK_FALSE(is_taken("GatedAdd", {Tensor::of<float>({2, 1}, {1, 2}), Tensor::of<float>({2, 1}, {1, 2}), row({1})}, {}));
}

TEST_CASE("GatedRMSNorm normalises as many elements together as scale has") {
  const Attribute none = 0.0f;
  check_answer("GatedRMSNorm", {row({1, 1, 2, -2}), list({1, 2}), row({0, 0, 0, 0})}, {{"activation", std::string("sigmoid")}, {"epsilon", none}},
               row({0.5f, 1, 0.5f, -1}));
  check_answer("GatedRMSNorm", {row({3, -3}), list({1, 1}), row({0, std::log(3.0f)})}, {{"epsilon", none}}, row({0, -0.75f * std::log(3.0f)}));
  CHECK_FALSE(is_taken("GatedRMSNorm", {row({1, 2, 3}), list({1, 2}), row({1, 2, 3})}, {}));
}

TEST_CASE("LinearAttentionGate's decay and rate") {
  const Tensor zero = Tensor::of<float>({1, 1, 2}, {0, 1});
  check_answer("LinearAttentionGate", {zero, list({0, -1}), list({-2, 3}), zero}, {},
               Tensor::of<float>({1, 1, 2}, {-2 * std::log(2.0f), 3 * std::log(2.0f)}));
  check_answer("LinearAttentionGate", {zero, list({0, -1}), list({-2, 3}), zero}, {}, Tensor::of<float>({1, 1, 2}, {0.5f, 0.7310586f}), 1e-6, 1);
}

TEST_CASE("hyper-connections, grouped and flat") {
  const Tensor grouped = Tensor::of<float>({1, 2, 2}, {1, 2, 10, 20}), flat = row({1, 2, 10, 20});
  const AttributeList two{{"num_branches", kTwo}};
  check_answer("HyperConnectionPreMix", {grouped, row({1, 0.5f})}, {{"reduction_scale", 2.0f}}, row({12, 24}));
  check_answer("HyperConnectionPreMix", {flat, row({1, 0.5f})}, two, row({6, 12}));
  check_answer("HyperConnectionPreMix", {flat, row({1, 0, 0, 0.5f})}, two, row({1, 10}));
  check_answer("HyperConnectionPostMix", {grouped, row({100, 200}), row({1, 2}), Tensor::of<float>({1, 2, 2}, {1, 2, 0, 1})}, {},
               Tensor::of<float>({1, 2, 2}, {101, 202, 212, 424}));
  check_answer("HyperConnectionPostMix", {flat, row({100, 200}), row({1, 2})}, two, row({101, 202, 210, 420}));
  const Tensor even = row({2, -2, 5, 5});
  check_answer("BranchwiseRMSNorm", {even, list({1, 2, 3, 4})}, {{"num_branches", kTwo}, {"epsilon", 0.0f}}, row({1, -2, 3, 4}));
  check_answer("BranchwiseRMSNorm", {even, list({1, 2})}, {{"num_branches", kTwo}, {"epsilon", 0.0f}}, row({1, -2, 1, 2}));
  CHECK_FALSE(is_taken("BranchwiseRMSNorm", {row({1, 2, 3}), list({1})}, two));
}

TEST_CASE("EngramGate is a sigmoid of the signed root of a dot product") {
  const auto stream = [](float a, float b) { return Tensor::of<float>({1, 1, 1, 2}, {a, b}); };
  const Tensor value = Tensor::of<float>({1, 1, 2}, {1, 2}), ones = row({1, 1});
  const float root = std::sqrt(std::sqrt(2.0f)), gate = 1 / (1 + std::exp(root));
  check_answer("EngramGate", {stream(3, 3), stream(-4, -4), value, ones, ones}, {{"epsilon", 0.0f}}, stream(gate, 2 * gate));
  // Normalised, the gate is gone.
  check_answer("EngramGate", {stream(3, 3), stream(-4, -4), value, ones, ones, row({1, 10})}, {{"epsilon", 0.0f}},
               stream(std::sqrt(0.4f), 10 * std::sqrt(1.6f)), 1e-6, 1);
}

TEST_CASE("each pair of MRotaryEmbedding takes the position of its section") {
  // Rotated by nothing but the tables: the first half of a head is 1, the second 0, so that the answer is cosines, then sines.
  const Tensor x = Tensor::of<float>({1, 1, 8}, {1, 1, 1, 1, 0, 0, 0, 0}), positions = Tensor::of<int64_t>({3, 1, 1}, {0, 1, 2});
  const Tensor cosines = Tensor::of<float>({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  const Attribute section = Ints{2, 1, 1};
  check_answer("MRotaryEmbedding", {x, positions, cosines, cosines}, {{"mrope_section", section}, {"num_heads", kOne}},
               Tensor::of<float>({1, 1, 8}, {0, 1, 12, 23, 0, 1, 12, 23}));
  check_answer("MRotaryEmbedding", {x, positions, cosines, cosines}, {{"mrope_section", section}, {"num_heads", kOne}, {"mrope_layout", kOne}},
               Tensor::of<float>({1, 1, 8}, {0, 11, 22, 3, 0, 11, 22, 3}));
  CHECK_FALSE(is_taken("MRotaryEmbedding", {x, positions, cosines, cosines}, {{"mrope_section", Ints{2, 1, 2}}, {"num_heads", kOne}}));
}

TEST_CASE("MoEGroupRouter chooses groups by their best experts, then experts of those groups") {
  const auto log_sigmoid = [](float x) { return -std::log1p(std::exp(-x)); };
  const Tensor logits = row({2, -9, 1, 1.5f}), zero = list({0, 0, 0, 0});
  const AttributeList groups{{"top_k", kOne}, {"n_group", kTwo}};
  check_answer("MoEGroupRouter", {logits, zero}, groups, row({-10000, -10000, -10000, log_sigmoid(1.5f)}));
  check_answer("MoEGroupRouter", {logits, zero}, {{"top_k", kOne}, {"n_group", kTwo}, {"group_topk", kOne}},
               row({log_sigmoid(2), -10000, -10000, -10000}));
  check_answer("MoEGroupRouter", {logits, list({0, 0, 0.5f, 0})}, {{"top_k", kOne}, {"router_sentinel", -1.0f}}, row({-1, -1, log_sigmoid(1), -1}));
  check_answer("MoEGroupRouter", {row({0, 0}), list({1, 2})}, {{"top_k", kOne}}, row({0.5f, 0.5f}), 1e-6, 2);
  CHECK_FALSE(is_taken("MoEGroupRouter", {logits, zero}, {{"top_k", int64_t{3}}, {"n_group", kTwo}}));
}

TEST_CASE("GatedDeltaNet corrects the state of each sequence") {
  const auto tokens = [](std::initializer_list<float> values) { return Tensor::of<float>({3, 1, 1}, values); };
  const auto gates = [](std::initializer_list<float> values) { return Tensor::of<float>({3, 1}, values); };
  const Tensor ones = tokens({1, 1, 1}), value = tokens({2, 4, 6}), state = Tensor::of<float>({2, 1, 1, 1}, {3, 0});
  const Tensor half = gates({std::log(0.5f), 0, 0}), beta = gates({0.5f, 1, 0.5f});
  // 3/2 + (2 - 3/2) / 2 = 1.75; the second sequence: 0 + 4, 4 + (6 - 4) / 2.
  const std::vector<Tensor> inputs{ones, ones, value, whole({0, 1, 3}), half, beta, state};
  check_answer("GatedDeltaNet", inputs, {{"qk_l2_norm", kOne}}, tokens({1.75f, 4, 5}));
  check_answer("GatedDeltaNet", inputs, {{"qk_l2_norm", kOne}}, Tensor::of<float>({2, 1, 1, 1}, {1.75f, 5}), 1e-6, 1);
  CHECK_FALSE(is_taken("GatedDeltaNet", {ones, ones, value, whole({0, 1, 2}), half, beta, state}, {}));
}

TEST_CASE("heads of queries and of keys may be shared in LinearAttention") {
  // One token, no state before: y = q k v for each head of values.
  const auto token = [](std::initializer_list<float> values) { return Tensor::of<float>({1, 1, static_cast<int64_t>(values.size())}, values); };
  const AttributeList linear{{"q_num_heads", kOne}, {"kv_num_heads", kTwo}, {"update_rule", std::string("linear")}};
  check_answer("LinearAttention", {token({2}), token({3, 5}), token({7, 11})}, linear, token({42, 110}));
  check_answer("LinearAttention", {token({2}), token({3}), token({7, 11})}, linear, token({42, 66}));
  check_answer("LinearAttention", {token({2}), token({3}), token({7, 11}), kNone, token({9, 9}), token({9})}, linear,
               Tensor::of<float>({1, 2, 1, 1}, {21, 33}), 1e-6, 1);
  CHECK_FALSE(is_taken("LinearAttention", {token({2, 2}), token({3}), token({7, 11, 13})}, {{"q_num_heads", kTwo}, {"kv_num_heads", int64_t{3}}}));
}

TEST_CASE("CausalConvWithState with elements apart, channels last, and the states of the last positions") {
  const auto line = [](std::initializer_list<float> values) { return Tensor::of<float>({1, 1, static_cast<int64_t>(values.size())}, values); };
  const Tensor x = line({1, 2, 3}), weight = line({1, 10});
  check_answer("CausalConvWithState", {x, weight}, {}, line({10, 21, 32}));
  check_answer("CausalConvWithState", {x, weight, list({100}), line({5, 6})}, {{"dilation", kTwo}}, line({115, 126, 131}));
  check_answer("CausalConvWithState", {x, weight, kNone, line({5, 6})}, {{"dilation", kTwo}}, line({2, 3}), 0, 1);
  const Tensor last = Tensor::of<float>({1, 2, 1, 2}, {1, 2, 3, 4}), filters = Tensor::of<float>({2, 1, 2}, {1, 10, 1, 100});
  check_answer("CausalConvWithState", {last, filters}, {{"channels_last", kOne}}, Tensor::of<float>({1, 2, 1, 2}, {10, 200, 31, 402}));
  check_answer("CausalConvWithState", {last, filters}, {{"channels_last", kOne}}, Tensor::of<float>({1, 1, 1, 2}, {3, 4}), 0, 1);
  // Of four states the first has no position, and is zero.
  const Tensor past = Tensor::of<float>({4, 1, 1, 1}, {7, 7, 7, 5});
  check_answer("CausalConvWithState", {x, weight, kNone, past}, {{"state_window", int64_t{4}}}, line({15, 21, 32}));
  check_answer("CausalConvWithState", {x, weight, kNone, past}, {{"state_window", int64_t{4}}}, Tensor::of<float>({4, 1, 1, 1}, {0, 1, 2, 3}), 0, 1);
  const Tensor endless = Tensor::of<float>({4, 1, 1, 1}, {7, 7, 7, std::numeric_limits<float>::infinity()});
  check_answer("CausalConvWithState", {x, weight, kNone, endless}, {{"state_window", int64_t{4}}}, Tensor::of<float>({4, 1, 1, 1}, {0, 1, 2, 3}), 0,
               1);
}

TEST_CASE("VarlenCausalConvWithState looks back within a sequence and its state alone") {
  const Tensor x = Tensor::of<float>({3, 1}, {1, 2, 3}), weight = Tensor::of<float>({1, 1, 2}, {1, 10}), state = Tensor::of<float>({2, 1, 1}, {5, 7});
  const std::vector<Tensor> inputs{x, weight, whole({0, 2, 3}), kNone, state};
  check_answer("VarlenCausalConvWithState", inputs, {}, Tensor::of<float>({3, 1}, {15, 21, 37}));
  check_answer("VarlenCausalConvWithState", inputs, {}, Tensor::of<float>({2, 1, 1}, {2, 3}), 0, 1);
  std::vector<Tensor> captured = inputs;
  captured.push_back(whole({1, 5}));
  check_answer("VarlenCausalConvWithState", captured, {{"state_update_capacity", kTwo}}, Tensor::of<float>({2, 2, 1}, {1, 0, 3, 0}), 0, 2);
}

TEST_CASE("rows of NGramHashMapping are never negative, and a text's end is the end of what is looked back at") {
  const auto ids = [](std::initializer_list<int64_t> values) { return Tensor::of<int64_t>({1, static_cast<int64_t>(values.size())}, values); };
  const auto numbers = [](std::initializer_list<int64_t> values) { return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values); };
  const auto rows = [](std::initializer_list<int64_t> values) { return Tensor::of<int64_t>({1, static_cast<int64_t>(values.size()), 1}, values); };
  const AttributeList attributes{{"max_ngram_size", kTwo}, {"n_head_per_ngram", kOne}, {"pad_id", kOne}};
  // 3 ^ 2 * 1, 4 ^ 2 * 3; then -3 ^ 2 = -1, of which 6 is left by 7.
  check_answer("NGramHashMapping", {ids({3, 4}), numbers({1, 2}), numbers({7})}, attributes, rows({1, 2}), 0);
  check_answer("NGramHashMapping", {ids({-3, 0}), numbers({1, 2}), numbers({7}), kNone, numbers({100})}, attributes, rows({106, 101}), 0);
  // Behind 5, which ends a text, 5 is looked back at, as before the first token.
  check_answer("NGramHashMapping", {ids({5, 1, 2}), numbers({1, 1}), numbers({100}), ids({8}), kNone, Tensor::scalar(int64_t{5})},
               {{"max_ngram_size", kTwo}, {"n_head_per_ngram", kOne}, {"pad_id", kOne}, {"reset_on_eos", kOne}}, rows({5 ^ 8, 1 ^ 5, 2 ^ 1}), 0);
  check_answer("VarlenNGramHashMapping", {numbers({3, 4, 6}), numbers({1, 2}), numbers({100}), whole({0, 2, 3})}, attributes,
               Tensor::of<int64_t>({3, 1}, {3 ^ 2, 4 ^ 6, 6 ^ 2}), 0);
}

TEST_CASE("DynamicTimeWarping's way, and which it takes of equal ones (as ONNX Runtime)") {
  check_answer("DynamicTimeWarping", {Tensor::of<float>({2, 2}, {0, 9, 9, 0})}, {}, Tensor::of<int32_t>({2, 2}, {0, 1, 0, 1}), 0);
  check_answer("DynamicTimeWarping", {Tensor::of<float>({1, 2, 2}, {0, 0, 0, 0})}, {}, Tensor::of<int32_t>({2, 3}, {0, 1, 1, 0, 0, 1}), 0);
}

TEST_CASE("queries of SparseAttention see the blocks of their rows alone") {
  const Tensor q = Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4}), v = Tensor::of<float>({1, 2, 2}, {5, 6, 7, 8}),
               cache = Tensor::of<float>({1, 1, 2, 2}, {9, 9, 9, 9});
  const auto indices = [](std::initializer_list<int32_t> values) { return Tensor::of<int32_t>({1, static_cast<int64_t>(values.size())}, values); };
  const AttributeList attributes{{"num_heads", kOne}, {"kv_num_heads", kOne}, {"sparse_block_size", kOne}};
  const std::vector<Tensor> own{q, q, v, cache, cache, indices({0, 1, 2}), indices({0, 1}), whole({2}), whole({2})};
  check_answer("SparseAttention", own, attributes, v);
  std::vector<Tensor> first = own;
  first[6] = indices({0, 0});
  check_answer("SparseAttention", first, attributes, Tensor::of<float>({1, 2, 2}, {5, 6, 5, 6}));
  check_answer("SparseAttention", own, attributes, Tensor::of<float>({1, 1, 2, 2}, {5, 6, 7, 8}), 0, 2);
}

// Gates that are always 1 (Affine of 0 and 1), and a cell that is the sum of its inputs: the step's input, and 10 times what attention gave. Keys
// and queries of 0 find all places alike.
TEST_CASE("AttnLSTM attends to the places that a memory has, and to nothing before the first step") {
  const Tensor x = cube({2, 1, 1}, {1, 2}), w = cube({1, 4, 2}, {0, 0, 0, 0, 0, 0, 1, 10}), r = cube({1, 4, 1}, {0, 0, 0, 0}),
               zero = cube({1, 1, 1}, {0});
  const std::vector<Tensor> inputs{x, w, r, kNone, kNone, kNone, kNone, kNone, zero, zero, row({0}), cube({1, 3, 1}, {1, 3, 8}), whole({2})};
  const Attribute names = std::vector<std::string>{"Affine", "Affine", "Affine"}, alphas = std::vector<float>{0, 1, 1},
                  betas = std::vector<float>{1, 0, 0};
  const Attribute reverse = std::string("reverse");
  const auto forward = AttributeList{{"hidden_size", kOne}, {"activations", names}, {"activation_alpha", alphas}, {"activation_beta", betas}};
  check_answer("AttnLSTM", inputs, forward, cube({2, 1, 1, 1}, {1, 23}));
  check_answer("AttnLSTM", inputs, {{"direction", reverse}, {"activations", names}, {"activation_alpha", alphas}, {"activation_beta", betas}},
               cube({2, 1, 1, 1}, {23, 2}));
  const auto with = [&](size_t at, const Tensor& t) {
    std::vector<Tensor> changed = inputs;
    changed.resize(std::max(changed.size(), at + 1));
    changed[at] = t;
    return changed;
  };
  check_answer("AttnLSTM", with(12, kNone), forward, cube({2, 1, 1, 1}, {1, 43}));                      // the mean of 1, 3 and 8 is 4
  check_answer("AttnLSTM", with(13, cube({1, 2, 1}, {1, 1})), forward, cube({2, 1, 1, 1}, {1, 33}));  // h + 2
  check_answer("AttnLSTM", with(4, whole({1})), forward, cube({2, 1, 1, 1}, {1, 0}));
  check_answer("AttnLSTM", with(4, whole({1})), forward, cube({1, 1, 1}, {1}), 1e-6, 1);
  for (const int32_t length : {-1, 3}) CHECK_THAT(refusal("AttnLSTM", with(4, whole({length})), forward), Catch::Matchers::Contains("is outside"));
  for (const int32_t length : {0, 4}) CHECK_THAT(refusal("AttnLSTM", with(12, whole({length})), forward), Catch::Matchers::Contains("is outside"));
}

TEST_CASE("activations of both directions of AttnLSTM take their parameters one after another") {
  const Tensor w = cube({2, 4, 2}, {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0}), zeros = cube({2, 1, 1}, {0, 0});
  const std::vector<Tensor> inputs{cube({1, 1, 1}, {1}),
                                   w,
                                   cube({2, 4, 1}, {0, 0, 0, 0, 0, 0, 0, 0}),
                                   kNone,
                                   kNone,
                                   kNone,
                                   kNone,
                                   kNone,
                                   zeros,
                                   zeros,
                                   Tensor::of<float>({2, 1}, {0, 0}),
                                   cube({1, 1, 1}, {5})};
  const AttributeList attributes{{"direction", std::string("bidirectional")},
                                 {"activations", std::vector<std::string>{"Affine", "Relu", "LeakyRelu", "Affine", "Affine", "Relu"}},
                                 {"activation_alpha", std::vector<float>{0, 0.5f, 0, 3}},
                                 {"activation_beta", std::vector<float>{2, 1, 4}}};
  // Forward: gates 2, 2 * 1, times 2. Backward: gates 1, 3 * 1 + 4, times 1.
  check_answer("AttnLSTM", inputs, attributes, cube({1, 2, 1, 1}, {4, 7}));
}

TEST_CASE("WordConvEmbedding reads a word's letters alone, and as many as the filter is wide") {
  const Tensor words = Tensor::of<int32_t>({3, 3}, {1, 2, 0, 1, 0, 0, 0, 1, 1}), table = Tensor::of<float>({3, 1}, {1, 0.5f, -0.5f});
  const Tensor filter = Tensor::of<float>({1, 1, 2, 1}, {1, 1});
  check_answer("WordConvEmbedding", {words, filter, list({0}), table}, {}, Tensor::of<float>({3, 1}, {0, std::tanh(1.5f), 0}));
}

TEST_CASE("bytes of MatMulFpQ4 hold numbers 16 apart, behind their block's scale and zero point") {
  std::vector<float> rows(3 * 33);
  for (const size_t at : {0, 33 + 16, 66 + 32}) rows[at] = 1;
  const Tensor a = Tensor::of<float>({3, 33}, std::span<const float>(rows)), shape = Tensor::of<int64_t>({2}, {33, 1});
  const auto matrix = [](std::initializer_list<int> zeros) {
    std::vector<uint8_t> bytes;
    const auto block = [&](std::initializer_list<uint8_t> scale, size_t i, uint8_t first) {
      bytes.insert(bytes.end(), scale);
      if (zeros.size() > 0) bytes.push_back(static_cast<uint8_t>(zeros.begin()[i]));
      bytes.push_back(first);
      bytes.resize(bytes.size() + 15);
    };
    block({0, 0, 0, 0x3f}, 0, 0x95);  // 0.5
    block({0, 0, 0, 0x40}, 1, 0x0f);  // 2
    return Tensor::of<uint8_t>({static_cast<int64_t>(bytes.size())}, std::span<const uint8_t>(bytes));
  };
  check_answer("MatMulFpQ4", {a, matrix({3, 12}), shape}, {}, Tensor::of<float>({3, 1}, {1, 3, 6}));
  check_answer("MatMulFpQ4", {a, matrix({}), shape}, {{"blk_quant_type", int64_t{0}}}, Tensor::of<float>({3, 1}, {-1.5f, 0.5f, 14}));
}
}  // namespace contributed_language_test

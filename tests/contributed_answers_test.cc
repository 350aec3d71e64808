// What operators of ONNX Runtime's domain, and ONNX's experimental ones that it still runs, answer where they are easily got wrong:
// layouts, defaults, what absent inputs mean. Numbers are by hand, or recorded from ONNX Runtime, as each case says. On every kernel set.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/node_answers.h"

namespace contributed_answers_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

using Ints = std::vector<int64_t>;

}  // namespace

TEST_CASE("filters of NhwcConv have their channels last, those of NhwcFusedConv first") {
  const Tensor x = Tensor::of<float>({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  check_answer("NhwcConv", {x, Tensor::of<float>({1, 2, 1, 2}, {1, 10, 100, 1000})}, {}, Tensor::of<float>({1, 1, 2, 1}, {5410, 7632}));
  check_answer("NhwcFusedConv", {x, Tensor::of<float>({1, 2, 2, 1}, {1, 10, 100, 1000})}, {}, Tensor::of<float>({1, 1, 2, 1}, {5140, 7362}));
  // Depthwise, and one channel, as in ONNX Runtime's own tests.
  check_answer("NhwcConv", {x, Tensor::of<float>({2, 1, 2, 1}, {1, 10, 100, 1000})}, {{"group", int64_t{2}}},
               Tensor::of<float>({1, 2, 1, 2}, {20, 3100, 64, 7500}));
}

TEST_CASE("the mask's index of embeddings is how many of a row are 1, wherever they are") {
  const Tensor ids = Tensor::of<int32_t>({4, 3}, {0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1}),
               mask = Tensor::of<int32_t>({4, 3}, {1, 0, 1, 1, 2, 1, 0, 1, 1, 3, -1, 0}), none;
  const Tensor table = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}), gamma = Tensor::of<float>({2}, {1, 1}),
               answer = Tensor::of<int32_t>({4}, {2, 2, 2, 0});
  check_answer("EmbedLayerNormalization", {ids, none, table, table, none, gamma, gamma, mask}, {}, answer, 0, 1);
  const Tensor bytes = Tensor::of<uint8_t>({3, 2}, {1, 2, 3, 4, 5, 6}), row = Tensor::of<uint8_t>({2}, {1, 2}), one = Tensor::scalar(1.0f),
               zero = Tensor::of<uint8_t>({}, {0});
  check_answer("QEmbedLayerNormalization", {ids, none, bytes, bytes, none, row, row, mask, one, one, none, one, one, zero, zero, none, zero, zero},
               {}, answer, 0, 1);
}

TEST_CASE("QLinearConv with channels_last has filters with their channels first") {
  const auto scale = [](float v) { return Tensor::scalar(v); };
  const Tensor zero = Tensor::of<uint8_t>({}, {10});
  const Tensor x = Tensor::of<uint8_t>({1, 2, 2, 2}, {10, 11, 12, 13, 14, 15, 16, 17}), w = Tensor::of<uint8_t>({1, 2, 2, 1}, {11, 12, 13, 14});
  const std::vector<Tensor> inputs{x, scale(1), zero, w, scale(1), zero, scale(0.5f), zero};
  check_answer("QLinearConv", inputs, {{"channels_last", int64_t{1}}}, Tensor::of<uint8_t>({1, 1, 2, 1}, {72, 112}));
  check_answer("QLinearConv", inputs, {}, Tensor::of<uint8_t>({1, 1, 1, 2}, {90, 110}));
}

TEST_CASE("absent zero points of quantised values are 0, wherever they stand") {
  const auto bytes = [](std::vector<uint8_t> values) { return Tensor::of<uint8_t>({3}, values); };
  const auto scale = [](float v) { return Tensor::scalar(v); };
  const Tensor x = bytes({10, 200, 3}), none;
  check_answer("QLinearSigmoid", {x, scale(0.05f), none, scale(0.005f)}, {}, bytes({124, 200, 107}));
  check_answer("QLinearAdd", {x, scale(0.5f), none, bytes({4, 100, 250}), scale(0.25f), none, scale(0.75f)}, {}, bytes({8, 167, 85}));
}

TEST_CASE("MatMulNBits of bfloat16, its blocks as they lie and as g_idx says") {
  static constexpr uint16_t kOne = 0x3f80, kHalf = 0x3f00, kFour = 0x4080;  // as bfloat16
  static const std::vector<uint16_t> ones(16, kOne);
  const auto bfloats = [](Dims dims, const uint16_t* bits) { return Tensor::wrap(DType::bf16, std::move(dims), bits, nullptr); };
  const std::vector<uint8_t> bytes(8, 0x98);  // 8 and 9, which are 0 and 1
  const Tensor a = bfloats({1, 16}, ones.data()), b = Tensor::of<uint8_t>({1, 1, 8}, bytes), scale = bfloats({1, 1}, &kHalf),
               answer = bfloats({1, 1}, &kFour), none;
  const AttributeList attributes{{"K", int64_t{16}}, {"N", int64_t{1}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}};
  check_answer("MatMulNBits", {a, b, scale}, attributes, answer, 0);
  check_answer("MatMulNBits", {a, b, scale, none, Tensor::of<int32_t>({16}, std::vector<int32_t>(16, 0))}, attributes, answer, 0);
}

TEST_CASE("a sink takes its part of GroupQueryAttention's Softmax, and gives nothing") {
  const Tensor q = Tensor::of<float>({1, 1, 2}, {0, 0}), k = Tensor::of<float>({1, 1, 1}, {5}), v = Tensor::of<float>({1, 1, 1}, {6}), none;
  const Tensor last = Tensor::of<int32_t>({1}, {0}), total = Tensor::of<int32_t>({}, {1});
  const Attribute heads = int64_t{2}, one = int64_t{1};
  const auto answer = [](float first, float second) { return Tensor::of<float>({1, 1, 2}, {first, second}); };
  const std::vector<Tensor> inputs{q, k, v, none, none, last, total};
  check_answer("GroupQueryAttention", inputs, {{"num_heads", heads}, {"kv_num_heads", one}}, answer(6, 6));
  check_answer("GroupQueryAttention", inputs, {{"num_heads", heads}, {"kv_num_heads", one}, {"smooth_softmax", one}}, answer(3, 3));
  std::vector<Tensor> with_sink = inputs;
  with_sink.insert(with_sink.end(), {none, none, none, none, Tensor::of<float>({2}, {0, std::log(3.0f)})});
  check_answer("GroupQueryAttention", with_sink, {{"num_heads", heads}, {"kv_num_heads", one}}, answer(3, 1.5f));
  check_answer("GroupQueryAttention", with_sink, {{"num_heads", heads}, {"kv_num_heads", one}, {"smooth_softmax", one}}, answer(3, 1.5f));
}

TEST_CASE("GroupQueryAttention of caches in 8 and 4 bits, whose new keys and values are rounded, too") {
  // The query is 0: the answer is the mean of the values, 3 * 0.5 and what 2.2 is to a half.
  const Tensor zero = Tensor::of<float>({1, 1, 2}, {0, 0}), v = Tensor::of<float>({1, 1, 2}, {2.2f, 100}), half = Tensor::of<float>({1}, {0.5f}),
               none;
  const Tensor last = Tensor::of<int32_t>({1}, {1}), total = Tensor::of<int32_t>({}, {2});
  const Attribute one = int64_t{1}, all = std::string("PER_TENSOR"), each = std::string("PER_CHANNEL");
  const auto inputs = [&](const Tensor& keys, const Tensor& values, const Tensor& scale) {
    return std::vector<Tensor>{zero, zero, v, keys, values, last, total, none, none, none, none, none, scale, scale};
  };
  static constexpr int8_t kPast[] = {3, -128}, kPresent[] = {3, -128, 4, 127}, kZeros[] = {0, 0};
  const auto bytes_of = [](int64_t length, const int8_t* values) { return Tensor::wrap(DType::i8, {1, 1, length, 2}, values, nullptr); };
  const Tensor bytes = bytes_of(1, kPast), zeros = bytes_of(1, kZeros);
  const AttributeList eight{
      {"num_heads", one}, {"kv_num_heads", one}, {"k_quant_type", all}, {"v_quant_type", all}, {"kv_cache_bit_width", int64_t{8}}};
  check_answer("GroupQueryAttention", inputs(zeros, bytes, half), eight, Tensor::of<float>({1, 1, 2}, {1.75f, -0.25f}));
  check_answer("GroupQueryAttention", inputs(zeros, bytes, half), eight, bytes_of(2, kPresent), 0, 2);
  // 3 and -8, then 4 and what is most: 7. Of other scales 2 and 7.
  const Tensor nibbles = Tensor::of<uint8_t>({1, 1, 1, 1}, {0x0b}), same = Tensor::of<float>({1, 1, 1, 2}, {1, 10});
  const AttributeList four{
      {"num_heads", one}, {"kv_num_heads", one}, {"k_quant_type", each}, {"v_quant_type", each}, {"kv_cache_bit_width", int64_t{4}}};
  check_answer("GroupQueryAttention", inputs(nibbles, nibbles, same), four, Tensor::of<float>({1, 1, 2}, {2.5f, -5}));
  check_answer("GroupQueryAttention", inputs(nibbles, nibbles, same), four, Tensor::of<uint8_t>({1, 1, 2, 1}, {0x0b, 0xfa}), 0, 2);
}

TEST_CASE("output_qk of GroupQueryAttention, before and behind the Softmax") {
  const Tensor q = Tensor::of<float>({1, 2, 1}, {1, 2}), k = Tensor::of<float>({1, 2, 1}, {3, 5}), none, last = Tensor::of<int32_t>({1}, {1}),
               total = Tensor::of<int32_t>({}, {2});
  const std::vector<Tensor> inputs{q, k, k, none, none, last, total};
  const Attribute one = int64_t{1};
  check_answer("GroupQueryAttention", inputs, {{"num_heads", one}, {"kv_num_heads", one}, {"qk_output", one}},
               Tensor::of<float>({1, 1, 2, 2}, {3, 0, 6, 10}), 1e-6, 3);
  const float first = 1 / (1 + std::exp(4.0f));
  check_answer("GroupQueryAttention", inputs, {{"num_heads", one}, {"kv_num_heads", one}, {"qk_output", int64_t{2}}},
               Tensor::of<float>({1, 1, 2, 2}, {1, 0, first, 1 - first}), 1e-6, 3);
}

TEST_CASE("GroupQueryAttention's sliding cache drops what no window sees, and padded chunks leave no trace in it") {
  // Queries are 0: answers are means of the values that are seen.
  const auto rows = [](std::initializer_list<float> values) { return Tensor::of<float>({1, 1, static_cast<int64_t>(values.size()), 1}, values); };
  const auto tokens = [](std::initializer_list<float> values) { return Tensor::of<float>({1, static_cast<int64_t>(values.size()), 1}, values); };
  const auto number = [](int32_t n) { return Tensor::of<int32_t>({1}, {n}); };
  const Attribute one = int64_t{1}, two = int64_t{2};
  const AttributeList slides{{"num_heads", one}, {"kv_num_heads", one}, {"local_window_size", two}, {"sliding_window_cache", one}};
  const Tensor zero = tokens({0}), none;
  // The sixth key, in caches of two rows and of three, which drop one and two keys at a time.
  check_answer("GroupQueryAttention", {zero, zero, tokens({30}), rows({0, 0}), rows({10, 20}), number(5), number(6)}, slides, tokens({25}));
  check_answer("GroupQueryAttention", {zero, zero, tokens({30}), rows({0, 0}), rows({10, 20}), number(5), number(6)}, slides, rows({20, 30}), 0, 2);
  check_answer("GroupQueryAttention", {zero, zero, tokens({40}), rows({0, 0, 0}), rows({10, 20, 30}), number(5), number(6)}, slides, tokens({35}));
  check_answer("GroupQueryAttention", {zero, zero, tokens({40}), rows({0, 0, 0}), rows({10, 20, 30}), number(5), number(6)}, slides,
               rows({30, 40, 30}), 0, 2);
  // One of two new tokens is padding.
  std::vector<Tensor> chunk{tokens({0, 0}), tokens({0, 0}), tokens({3, 99}), rows({0, 0, 0, 0}), rows({1, 2, 8, 8}), number(2), number(4)};
  chunk.resize(16);
  chunk.push_back(number(1));
  check_answer("GroupQueryAttention", chunk, {{"num_heads", one}, {"kv_num_heads", one}}, tokens({2, 2}));
  check_answer("GroupQueryAttention", chunk, {{"num_heads", one}, {"kv_num_heads", one}}, rows({1, 2, 3, 8}), 0, 2);
}

TEST_CASE("past and present of MultiHeadAttention as buffers, of which a part is used") {
  // Queries are 0: the answer is the mean of the values 1, 2 and 6.
  const Tensor zero = Tensor::of<float>({1, 1, 1}, {0}), fresh = Tensor::of<float>({1, 1, 1}, {6}), none, used = Tensor::of<int32_t>({1}, {2});
  const auto buffer = [](std::initializer_list<float> values) { return Tensor::of<float>({1, 1, 5, 1}, values); };
  const Tensor keys = buffer({0, 0, 9, 9, 9}), values = buffer({1, 2, 9, 8, 7});
  const Attribute one = int64_t{1};
  const std::vector<Tensor> inputs{zero, zero, fresh, none, none, none, keys, values, used},
      masked{zero, zero, fresh, none, none, keys, values, used};
  check_answer("MultiHeadAttention", inputs, {{"num_heads", one}}, Tensor::of<float>({1, 1, 1}, {3}));
  check_answer("MultiHeadAttention", inputs, {{"num_heads", one}}, buffer({1, 2, 6, 8, 7}), 0, 2);
  check_answer("DecoderMaskedMultiHeadAttention", masked, {{"num_heads", one}, {"past_present_share_buffer", one}},
               Tensor::of<float>({1, 1, 1}, {3}));
  std::vector<Tensor> full = inputs;
  full[8] = Tensor::of<int32_t>({1}, {5});
  CHECK_FALSE(infer_types(*graph_of("MultiHeadAttention", full, {{"num_heads", one}}).nodes().front()).ok());
}

TEST_CASE("a mask of one column in place of the keys masks nothing, as ONNX Runtime has it") {
  // Queries and keys are 0, values 2 and 6.
  const Tensor x = Tensor::of<float>({2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1}), weights = Tensor::of<float>({2, 3}, {0, 0, 2, 0, 0, 6}), none;
  const auto attend = [&](const Tensor& mask, std::initializer_list<float> expected) {
    check_answer("Attention", {x, weights, none, mask}, {{"num_heads", int64_t{1}}}, Tensor::of<float>({2, 2, 1}, expected));
  };
  attend(Tensor::of<int32_t>({2, 1}, {0, 1}), {4, 4, 4, 4});
  attend(Tensor::of<int32_t>({1, 1}, {0}), {4, 4, 4, 4});
  attend(Tensor::of<int32_t>({2, 2}, {1, 0, 1, 1}), {2, 2, 4, 4});
  const Tensor one = Tensor::of<float>({1, 1, 2}, {1, 0});  // of one key it is a mask
  check_answer("Attention", {one, weights, none, Tensor::of<int32_t>({1, 1}, {1})}, {{"num_heads", int64_t{1}}}, Tensor::of<float>({1, 1, 1}, {2}));
}

TEST_CASE("Inverse, of a matrix that needs rows swapped too") {
  check_answer("Inverse", {Tensor::of<float>({2, 2, 2}, {0, 2, 4, 0, 1, 2, 3, 4})}, {},
               Tensor::of<float>({2, 2, 2}, {0, 0.25f, 0.5f, 0, -2, 1, 1.5f, -0.5f}));
}

TEST_CASE("UnfoldTensor's windows take the dimension's place, their elements the end") {
  const Tensor x = Tensor::of<float>({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  check_answer("UnfoldTensor", {x}, {{"dim", int64_t{0}}, {"size", int64_t{3}}, {"step", int64_t{2}}},
        Tensor::of<float>({2, 2, 3}, {0, 2, 4, 1, 3, 5, 4, 6, 8, 5, 7, 9}));
  check_answer("UnfoldTensor", {x}, {{"size", int64_t{2}}}, Tensor::of<float>({5, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_CASE("NGramRepeatBlock blocks what would end words that were there already") {
  const Tensor words = Tensor::of<int64_t>({2, 4}, {1, 2, 3, 1, 0, 0, 0, 0}), scores = Tensor::of<float>({2, 4}, {9, 8, 7, 6, 5, 4, 3, 2});
  const float blocked = -std::numeric_limits<float>::infinity();
  check_answer("NGramRepeatBlock", {words, scores}, {{"ngram_size", int64_t{2}}}, Tensor::of<float>({2, 4}, {9, 8, blocked, 6, blocked, 4, 3, 2}));
  check_answer("NGramRepeatBlock", {words, scores}, {{"ngram_size", int64_t{5}}}, scores);
}

TEST_CASE("ConvTransposeWithDynamicPads takes its pads from an input") {
  const Tensor x = Tensor::of<float>({1, 1, 2}, {1, 10}), w = Tensor::of<float>({1, 1, 3}, {1, 2, 3});
  const auto pads = [](int64_t first, int64_t last) { return Tensor::of<int64_t>({2}, {first, last}); };
  check_answer("ConvTransposeWithDynamicPads", {x, w, pads(0, 0)}, {}, Tensor::of<float>({1, 1, 4}, {1, 12, 23, 30}));
  check_answer("ConvTransposeWithDynamicPads", {x, w, pads(1, 0), Tensor::of<float>({1}, {5})}, {}, Tensor::of<float>({1, 1, 3}, {17, 28, 35}));
  check_answer("ConvTransposeWithDynamicPads", {x, w}, {}, Tensor::of<float>({1, 1, 4}, {1, 12, 23, 30}));
}

TEST_CASE("MurmurHash3 of strings and numbers, as ONNX Runtime answers") {
  const Tensor words = Tensor::of_strings({3}, {"", "abc", "hello world"}), numbers = Tensor::of<int64_t>({2}, {1, -2});
  const auto hashes = [](std::initializer_list<uint32_t> values) {
    MutableTensor t = Tensor::allocate(DType::u32, {static_cast<int64_t>(values.size())}).value();
    std::memcpy(t.raw(), std::data(values), t.byte_size());
    return Tensor(t);
  };
  const AttributeList seeded{{"seed", int64_t{7}}, {"positive", int64_t{0}}};
  check_answer("MurmurHash3", {words}, {}, hashes({0, 3017643002u, 1586663183u}), 0);
  check_answer("MurmurHash3", {words}, seeded, Tensor::of<int32_t>({3}, {415870660, 940791465, -1049843560}), 0);
  check_answer("MurmurHash3", {numbers}, {}, hashes({1392991556u, 2856891269u}), 0);
  check_answer("MurmurHash3", {numbers}, seeded, Tensor::of<int32_t>({2}, {-836849528, -532903892}), 0);
}

// Recorded from ONNX Runtime 1.32.
TEST_CASE("ONNX's experimental operators") {
  const Tensor x = Tensor::of<float>({1, 2, 2, 2}, {-2, -1, 0, 1, 2, 3, 4, 5});
  const Attribute two = 2.0f, half = 0.5f, border = Ints{1, 0, 0, 1};
  check_answer("Affine", {x}, {{"alpha", two}, {"beta", half}}, Tensor::of<float>({1, 2, 2, 2}, {-3.5f, -1.5f, 0.5f, 2.5f, 4.5f, 6.5f, 8.5f, 10.5f}));
  check_answer("Affine", {x}, {}, x);
  check_answer("Scale", {x}, {{"scale", half}}, Tensor::of<float>({1, 2, 2, 2}, {-1, -0.5f, 0, 0.5f, 1, 1.5f, 2, 2.5f}));
  check_answer("ScaledTanh", {Tensor::of<float>({2}, {-2, 1000})}, {{"alpha", two}, {"beta", half}}, Tensor::of<float>({2}, {-1.5231884f, 2}));
  check_answer("ParametricSoftplus", {Tensor::of<float>({2}, {-2, 1000})}, {{"alpha", two}, {"beta", half}},
               Tensor::of<float>({2}, {0.62652326f, 1000}));
  check_answer("ImageScaler", {x}, {{"bias", std::vector<float>{1, 2}}, {"scale", two}},
               Tensor::of<float>({1, 2, 2, 2}, {-3, -1, 1, 3, 6, 8, 10, 12}));
  check_answer("Crop", {x}, {{"border", border}}, Tensor::of<float>({1, 2, 1, 1}, {-1, 3}));
  check_answer("Crop", {x}, {{"border", border}, {"scale", Ints{2, 1}}}, Tensor::of<float>({1, 2, 2, 1}, {-1, 1, 3, 5}));
  CHECK_FALSE(infer_types(*graph_of("Crop", {x}, {{"border", border}, {"scale", Ints{3, 1}}}).nodes().front()).ok());
  CHECK_FALSE(infer_types(*graph_of("Crop", {x}, {{"border", Ints{-1, 0, 0, 0}}}).nodes().front()).ok());
  CHECK_FALSE(infer_types(*graph_of("ImageScaler", {x}, {{"bias", std::vector<float>{1}}}).nodes().front()).ok());
}

TEST_CASE("products of 8-bit integers refuse a bias that has not one number for each column") {
  const Tensor a = Tensor::of<uint8_t>({1, 2}, {1, 2}), b = Tensor::of<uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6}), one = Tensor::scalar(1.0f), none;
  const Tensor x = Tensor::of<float>({1, 2}, {1, 2});
  for (const int64_t count : {1, 2, 3}) {
    const std::vector<float> numbers(static_cast<size_t>(count), 0.5f);
    const Tensor bias = Tensor::of<float>({count}, std::span<const float>(numbers));
    CHECK(infer_types(*graph_of("MatMulIntegerToFloat", {a, b, one, one, none, none, bias}, {}).nodes().front()).ok() == (count == 3));
    CHECK(infer_types(*graph_of("DynamicQuantizeMatMul", {x, b, one, none, bias}, {}).nodes().front()).ok() == (count == 3));
  }
}
}  // namespace contributed_answers_test

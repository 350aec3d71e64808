// Operators on strings, and those that move elements, on tensors of strings.
#include <catch2/catch.hpp>

#include <cmath>

#include "engine/ops/host_test_util.h"

namespace text_test {
using namespace svengine;
using namespace svengine::ops::tests;
using Words = std::vector<std::string>;

namespace {

Tensor matrix(int64_t rows, int64_t columns, Words words) { return Tensor::of_strings({rows, columns}, std::move(words)); }

Words normalised(Words words, const char* how, int64_t sensitive, Words stop) {
  return HostNode("", "StringNormalizer", {texts(std::move(words))},
                  {{"case_change_action", std::string(how)}, {"is_case_sensitive", sensitive}, {"stopwords", std::move(stop)}})
      .strings();
}

}  // namespace

TEST_CASE("Strings are moved, chosen and compared like numbers") {
  const Tensor x = matrix(2, 2, {"b", "a", "", "b"});
  CHECK(HostNode("", "Transpose", {x}).strings() == Words{"b", "", "a", "b"});
  CHECK(HostNode("", "Reshape", {x, Tensor::of<int64_t>({1}, {4})}).outputs[0].raw() == x.raw());
  CHECK(HostNode("", "Gather", {x, Tensor::of<int64_t>({1}, {-1})}).strings() == Words{"", "b"});
  CHECK(HostNode("", "Concat", {x, matrix(1, 2, {"c", "d"})}, {{"axis", int64_t{0}}}).strings() ==
        Words{"b", "a", "", "b", "c", "d"});
  CHECK(HostNode("", "Where", {Tensor::of<bool>({2}, {true, false}), texts({"x", "y"}), texts({"z", "w"})}).strings() ==
        Words{"x", "w"});
  CHECK(HostNode("", "Shape", {x}).ints() == std::vector<int64_t>{2, 2});
  CHECK(HostNode("", "Compress", {x, Tensor::of<bool>({2}, {false, true})}, {{"axis", int64_t{1}}}).strings() == Words{"a", "b"});
  CHECK(HostNode("", "NonZero", {x}).ints() == std::vector<int64_t>{0, 0, 1, 0, 1, 1});
  CHECK(HostNode("ai.onnx.ml", "ArrayFeatureExtractor", {x, Tensor::of<int64_t>({1}, {1})}, {}, 1, 1).strings() == Words{"a", "b"});
  CHECK(HostNode("", "ScatterElements", {texts({"a", "b"}), Tensor::of<int64_t>({1}, {0}), texts({"z"})}).strings() == Words{"z", "b"});
  CHECK(HostNode("", "Reshape", {matrix(0, 2, {}), Tensor::of<int64_t>({1}, {0})}).outputs[0].dims() == Dims{0});
  CHECK(HostNode("", "Pad", {texts({"a"}), Tensor::of<int64_t>({2}, {1, 0})}).strings() == Words{"", "a"});
  CHECK(HostNode("", "CenterCropPad", {texts({"a"}), Tensor::of<int64_t>({1}, {3})}).strings() == Words{"", "a", ""});
  const HostNode unique("", "Unique", {x}, {}, 4);
  CHECK(unique.strings() == Words{"", "a", "b"});
  CHECK(unique.ints(2) == std::vector<int64_t>{2, 1, 0, 2});
  const HostNode equal("", "Equal", {x, texts({"b", "b"})});
  CHECK(equal.outputs[0].data<bool>()[0]);
  CHECK_FALSE(equal.outputs[0].data<bool>()[1]);
  CHECK(equal.outputs[0].data<bool>()[3]);
  CHECK(HostNode("", "Add", {texts({"a"}), texts({"b"})}).says("string"));
}

TEST_CASE("more strings than there can be memory for are refused before they are made") {
  const auto many = [](Dims dims) {
    const auto count = static_cast<size_t>(element_count(dims));
    return Tensor::of_strings(std::move(dims), std::vector<std::string>(count));
  };
  const Tensor column = many({1 << 15, 1}), row = many({1, 1 << 14});
  CHECK(HostNode("", "StringConcat", {column, row}).says("536870912 strings are more than"));
}

TEST_CASE("StringConcat broadcasts") {
  CHECK(HostNode("", "StringConcat", {matrix(2, 1, {"a", "b"}), texts({"x", ""})}).strings() == Words{"ax", "a", "bx", "b"});
}

TEST_CASE("StringSplit pads, counts and stops after maxsplit") {
  const HostNode commas("", "StringSplit", {texts({"a,b,,c", ""})}, {{"delimiter", std::string(",")}}, 2);
  CHECK(commas.outputs[0].dims() == Dims{2, 4});
  CHECK(commas.strings() == Words{"a", "b", "", "c", "", "", "", ""});
  CHECK(commas.ints(1) == std::vector<int64_t>{4, 1});
  const HostNode space("", "StringSplit", {texts({"  x \t y z ", ""})}, {}, 2);
  CHECK(space.strings() == Words{"x", "y", "z", "", "", ""});
  CHECK(space.ints(1) == std::vector<int64_t>{3, 0});
  CHECK(HostNode("", "StringSplit", {texts({" x  y z "})}, {{"maxsplit", int64_t{1}}}, 2).strings() == Words{"x", "y z"});
  CHECK(
      HostNode("", "StringSplit", {texts({"a,b,c"})}, {{"delimiter", std::string(",")}, {"maxsplit", int64_t{1}}}, 2).strings() ==
      Words{"a", "b,c"});
}

TEST_CASE("StringNormalizer takes words out and changes case beyond ASCII, too") {
  CHECK(normalised({"Mon", "the", "THE"}, "NONE", 1, {"the"}) == Words{"Mon", "THE"});
  CHECK(normalised({"Mon", "the", "THE"}, "UPPER", 0, {"the"}) == Words{"MON"});
  CHECK(normalised({"\xc3\x84pfel", "\xff"}, "LOWER", 1, {"x"}) == Words{"\xc3\xa4pfel", "\xff"});
  CHECK(normalised({"a"}, "NONE", 1, {"a"}) == Words{""});
  CHECK(HostNode("", "StringNormalizer", {matrix(2, 1, {"a", "b"})}).says("one row"));
}

TEST_CASE("Booleans are written as digits, and read again") {
  const HostNode words("", "Cast", {Tensor::of<bool>({2}, {true, false})}, {{"to", int64_t{8}}});
  CHECK(words.strings() == Words{"1", "0"});
  CHECK(HostNode("", "Cast", {words.outputs[0]}, {{"to", int64_t{9}}}).outputs[0].data<bool>()[0]);
}

TEST_CASE("Numbers are written as texts, those at the ends of their types too") {
  const auto written = [](Tensor numbers) { return HostNode("", "Cast", {std::move(numbers)}, {{"to", int64_t{8}}}).strings(); };
  CHECK(written(Tensor::of<int64_t>({2}, {INT64_MIN, INT64_MAX})) == Words{"-9223372036854775808", "9223372036854775807"});
  CHECK(written(Tensor::of<int32_t>({3}, {INT32_MIN, 0, 7})) == Words{"-2147483648", "0", "7"});
  const int8_t bytes[]{-128, 127};
  CHECK(written(Tensor::wrap(DType::i8, {2}, bytes, nullptr)) == Words{"-128", "127"});
  const uint64_t natural = UINT64_MAX;
  CHECK(written(Tensor::wrap(DType::u64, {1}, &natural, nullptr)) == Words{"18446744073709551615"});
  CHECK(written(Tensor::of<float>({3}, {1, 0.1f, -INFINITY})) == Words{"1.0", "0.1", "-INF"});
  const uint16_t half = 0x3e00;
  CHECK(written(Tensor::wrap(DType::f16, {1}, &half, nullptr)) == Words{"1.5"});
}

TEST_CASE("Tokenizer takes the expression of one full stop for characters, line breaks too") {
  const auto tokens = [](const char* expression, int64_t least) {
    return HostNode("com.microsoft", "Tokenizer", {texts({"a\nb", "\xc3\xa9"})},
                    {{"mark", int64_t{0}}, {"mincharnum", least}, {"pad_value", std::string("#")}, {"tokenexp", std::string(expression)}}, 1, 1);
  };
  CHECK(tokens(".", 1).strings() == Words{"a", "\n", "b", "\xc3\xa9", "#", "#"});
  CHECK(tokens(".", 2).says("tokens are single characters"));
  CHECK(tokens("..?", 1).strings() == Words{"a", "b", "\xc3\xa9", "#"});
}

TEST_CASE("RegexFullMatch matches whole strings in bounded time") {
  const HostNode match("", "RegexFullMatch", {texts({"abc", "abc1", std::string(100000, 'a')})},
                       {{"pattern", std::string("(a|b|c|aa)*")}});
  CHECK(match.outputs[0].data<bool>()[0]);
  CHECK_FALSE(match.outputs[0].data<bool>()[1]);
  CHECK(match.outputs[0].data<bool>()[2]);
  CHECK(HostNode("", "RegexFullMatch", {texts({"a"})}, {{"pattern", std::string("(a")}}).says("pattern is not RE2's syntax"));
}

TEST_CASE("TfIdfVectorizer counts n-grams of strings with gaps") {
  const HostNode grams("", "TfIdfVectorizer", {texts({"a", "x", "b", "a", "b"})},
                       {{"mode", std::string("TF")},
                        {"min_gram_length", int64_t{1}},
                        {"max_gram_length", int64_t{2}},
                        {"max_skip_count", int64_t{1}},
                        {"ngram_counts", std::vector<int64_t>{0, 1}},
                        {"ngram_indexes", std::vector<int64_t>{1, 0}},
                        {"pool_strings", Words{"a", "a", "b"}}});
  CHECK(grams.floats() == std::vector<float>{2, 2});
}
}  // namespace text_test

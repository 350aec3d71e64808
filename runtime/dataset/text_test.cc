#include "runtime/dataset/text.h"

#include <catch2/catch.hpp>

#include "importers/npy/npy.h"
#include "runtime/dataset/combine.h"
#include "runtime/dataset/open.h"
#include "runtime/dataset/dataset_test_util.h"

namespace text_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

using Numbers = std::vector<int64_t>;

TEST_CASE("lines of tokens become samples, padded to one length") {
  const TemporaryDirectory dir;
  const std::string path = dir.write("t.txt", "1 2\t3\n\n-4,5\r\n 6");
  const DataSetPtr set = must(open_dataset(path, {.tokens = {.pad = -100}}));
  CHECK(set->size() == 4);
  CHECK(to_string(set->fields()) == "tokens int64[3], length int64[scalar]");
  CHECK(read_as<int64_t>(*set, 0, 0) == Numbers{1, 2, 3});
  CHECK(read_as<int64_t>(*set, 1, 0) == Numbers{-100, -100, -100});
  CHECK(read_as<int64_t>(*set, 1, 1) == Numbers{0});
  CHECK(read_as<int64_t>(*set, 2, 0) == Numbers{-4, 5, -100});
  CHECK(read_as<int64_t>(*set, 3, 1) == Numbers{1});
  const DataSetPtr cut = must(open_token_lines(path, {.length = 2, .truncate = true}));
  CHECK(read_as<int64_t>(*cut, 0, 0) == Numbers{1, 2});
  CHECK(read_as<int64_t>(*cut, 0, 1) == Numbers{2});
  CHECK(read_as<int64_t>(*must(open_token_lines(path, {.length = 5})), 3, 0) == Numbers{6, 0, 0, 0, 0});
}

TEST_CASE("a stream is cut into samples with the token after each as target") {
  const TemporaryDirectory dir;
  const DataSetPtr set =
      must(open_dataset(dir.write("t.txt", "0 1 2\n3 4 5 6\n7"), {.tokens = {.length = 3}, .token_stream = true}));
  CHECK(set->size() == 2);
  CHECK(read_as<int64_t>(*set, 1, 0) == Numbers{3, 4, 5});
  CHECK(read_as<int64_t>(*set, 1, 1) == Numbers{4, 5, 6});
  const std::string npy = dir.path() + "/t.npy";
  REQUIRE(save_npy(Tensor::of<int32_t>({7}, {0, 1, 2, 3, 4, -5, 6}), npy).ok());
  const DataSetPtr array = must(open_dataset(npy, {.tokens = {.length = 3}}));
  CHECK(array->size() == 2);
  CHECK(read_as<int64_t>(*array, 1, 0) == Numbers{3, 4, -5});
  CHECK_THAT(problem(open_dataset(npy)), Contains("t.npy: a stream of tokens is cut into samples of a length; 1 or more"));
  CHECK_THAT(problem(open_dataset(npy, {.tokens = {.length = 7}})), Contains("7 tokens do not fill one sample of 7"));
  CHECK_THAT(problem(open_dataset(npy, {.tokens = {.length = 2, .vocabulary = 7}})), Contains("element 5: token -5"));
  CHECK(must(make_token_stream(Tensor::of<uint8_t>({3}, {250, 251, 252}), {.length = 2}))->size() == 1);
}

TEST_CASE("text that is not tokens is refused with its place") {
  const TemporaryDirectory dir;
  const auto refused = [&](const std::string& text, const TokenOptions& options = {}) {
    return problem(open_token_lines(dir.write("t.txt", text), options));
  };
  CHECK_THAT(refused("1 2\n3 x4"), Contains("t.txt: line 2: column 3: 'x4' is no integer"));
  CHECK_THAT(refused("1 2.5"), Contains("line 1: column 3: '2.5' is no integer"));
  CHECK_THAT(refused("5000000000"), Contains("does not fit 32 bits"));
  CHECK_THAT(refused("99999999999999999999"), Contains("does not fit 32 bits"));
  CHECK_THAT(refused("1 9 3", {.vocabulary = 9}), Contains("column 3: token 9 is not in the vocabulary, 0 to 8"));
  CHECK_THAT(refused("1\n1 2 3", {.length = 2}), Contains("line 2 has 3 tokens, more than the 2 of a sample"));
  CHECK_THAT(refused(""), Contains("has no line"));
  CHECK_THAT(refused("1", {.length = -1}), Contains("cannot have -1 tokens"));
  CHECK_THAT(refused(std::string("\x1b[31m\0", 6)), Contains("'\\x1b[31m\\x00' is no integer"));
  CHECK_THAT(problem(open_token_lines(dir.path() + "/none.txt")), Contains("cannot open"));
  CHECK_THAT(problem(open_token_lines("/dev/zero")), Contains("a device or pipe"));
  CHECK_THAT(problem(make_token_stream(Tensor::of<float>({2}, {1, 2}), {.length = 1})), Contains("rank 1, not float32[2]"));
}

TEST_CASE("parts of a data set: taken, held out, paired") {
  const TemporaryDirectory dir;
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += std::to_string(i) + "\n";
  const DataSetPtr set = must(open_token_lines(dir.write("t.txt", lines)));
  const DataSetPtr part = must(take(set, 10, 3));
  CHECK(part->size() == 3);
  CHECK(read_as<int64_t>(*part, 2, 0) == Numbers{12});
  CHECK_FALSE(take(set, 48, 3).ok());
  CHECK_FALSE(take(set, -1, 2).ok());
  CHECK_FALSE(take(set, 0, 0).ok());

  const HeldOut split = must(hold_out(set, 0.2, 7));
  CHECK(split.held_out->size() == 10);
  CHECK(split.training->size() == 40);
  std::vector<int> seen(50, 0);
  for (const DataSetPtr& s : {split.held_out, split.training})
    for (int64_t i = 0; i < s->size(); ++i) ++seen[static_cast<size_t>(read_as<int64_t>(*s, i, 0)[0])];
  CHECK(seen == std::vector<int>(50, 1));
  CHECK(read_as<int64_t>(*must(hold_out(set, 0.2, 7)).held_out, 3, 0) == read_as<int64_t>(*split.held_out, 3, 0));
  CHECK(must(hold_out(set, 0.001, 7)).held_out->size() == 1);
  CHECK(must(hold_out(set, 0.999, 7)).training->size() == 1);
  for (double bad : {0.0, 1.0, -1.0, std::nan("")}) CHECK_FALSE(hold_out(set, bad, 7).ok());

  const DataSetPtr both = must(pair(set, must(open_token_lines(dir.write("u.txt", lines), {.length = 2}))));
  CHECK(to_string(both->fields()) == "tokens int64[1], length int64[scalar], tokens2 int64[2], length2 int64[scalar]");
  CHECK(read_as<int64_t>(*both, 9, 2) == Numbers{9, 0});
  CHECK_THAT(problem(pair(set, part)), Contains("has 50 and 3 samples"));
}
}  // namespace text_test

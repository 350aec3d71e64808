// What com.microsoft's operators that generate text answer, by hand: language models that are tables, from a token or a place to the logarithms of
// the next token's probabilities. Random nodes are compared with ONNX Runtime by backend/against_runtime.py.
#include <catch2/catch.hpp>

#include <cmath>
#include <fmt/ranges.h>

#include "engine/graph/text.h"
#include "tests/support/node_answers.h"

namespace contributed_generation_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

const Tensor kNone;
const Attribute kZero = int64_t{0}, kOne = int64_t{1}, kTwo = int64_t{2}, kThree = int64_t{3}, kFour = int64_t{4};
const float kNever = -40;  // the logarithm of a probability that does not count

Tensor one(int32_t value) { return Tensor::scalar(value); }
Tensor tokens(Dims dims, std::initializer_list<int32_t> values) { return Tensor::of<int32_t>(std::move(dims), values); }

std::string logarithms(const std::vector<std::vector<double>>& probabilities) {
  std::vector<std::string> out;
  for (const auto& row : probabilities)
    for (const double p : row) out.push_back(fmt::format("{:.9f}", p > 0 ? std::log(p) : double{kNever}));
  return fmt::format("float32[{}, {}] = {{{}}}", probabilities.size(), probabilities[0].size(), fmt::join(out, ", "));
}

Attribute body(const std::string& text) {
  Result<Graph> graph = parse_graph(text, all_ops());
  if (!graph.ok()) FAIL(graph.error().message());
  return Subgraph(std::make_shared<const Graph>(std::move(graph).value()));
}

/// A decoder whose next token depends on what `by` says: the last token (%input_ids) or its place (%position_ids).
Attribute decoder(const std::vector<std::vector<double>>& probabilities, const char* by = "%input_ids") {
  return body(fmt::format(R"(graph "decoder"
  input %input_ids: int32[n, s]
  input %position_ids: int32[n, s]
  input %attention_mask: int32[n, t]
  input %past_0: float32[2, n, 1, p, 1]
  const %table: {}
  %logits: float32[n, s, {}] = Gather(%table, {})
  %present_0: float32[2, n, 1, p, 1] = Identity(%past_0)
  output %logits
  output %present_0)", logarithms(probabilities), probabilities[0].size(), by));
}

/// Tokens: 0 pads, 3 ends.
const std::vector<std::vector<double>> kChain = {{0, 0, 0, 1}, {0.05, 0.05, 0.7, 0.2}, {0.1, 0.2, 0.1, 0.6}, {1, 0, 0, 0}};

}  // namespace

TEST_CASE("GreedySearch goes on until every sequence has ended, and pads") {
  const Attribute chain = decoder(kChain);
  const AttributeList attributes = {{"decoder", chain}, {"eos_token_id", kThree}, {"pad_token_id", kZero}};
  check_answer("GreedySearch", {tokens({2, 1}, {1, 2}), one(5)}, attributes, tokens({2, 5}, {1, 2, 0, 0, 0, 2, 0, 0, 0, 0}));
  // No end before three tokens.
  check_answer("GreedySearch", {tokens({2, 1}, {1, 2}), one(5), one(3)}, attributes, tokens({2, 5}, {1, 2, 1, 2, 0, 2, 1, 2, 0, 0}));
  const Tensor without_two = tokens({4}, {1, 1, 0, 1});
  check_answer("GreedySearch", {tokens({2, 1}, {1, 2}), one(3), kNone, kNone, without_two}, attributes, tokens({2, 3}, {1, 0, 0, 2, 0, 0}));
  // A mask of the first token alone: then 2 again.
  const Tensor first = tokens({1, 4}, {0, 1, 0, 0});
  check_answer("GreedySearch", {tokens({1, 1}, {1}), one(3), kNone, kNone, kNone, first}, attributes, tokens({1, 3}, {1, 1, 2}));
}

TEST_CASE("GreedySearch counts places from the first token that is no padding") {
  const Attribute by_place = decoder({{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}}, "%position_ids");
  check_answer("GreedySearch", {tokens({2, 3}, {0, 0, 2, 0, 2, 2}), one(7)},
               {{"decoder", by_place}, {"eos_token_id", kThree}, {"pad_token_id", kZero}},
               tokens({2, 7}, {0, 0, 2, 1, 2, 0, 0, 0, 2, 2, 2, 0, 0, 0}));
}

TEST_CASE("a decoder with whole caches is told how much of them is used") {
  const Attribute whole = body(fmt::format(R"(graph "decoder"
  input %input_ids: int32[n, s]
  input %position_ids: int32[n, s]
  input %attention_mask: int32[n, t]
  input %past_0: float32[2, n, 1, 6, 1]
  input %past_sequence_length: int32[1]
  const %table: {}
  %places: int32[n, s] = Mul(%input_ids, %past_sequence_length)
  %used: int32[n, s] = Sub(%places, %places)
  %all: int32[n, s] = Add(%used, %past_sequence_length)
  %logits: float32[n, s, 4] = Gather(%table, %all)
  %present_0: float32[2, n, 1, 6, 1] = Identity(%past_0)
  output %logits
  output %present_0)", logarithms({{0, 1, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}})));
  check_answer("GreedySearch", {tokens({1, 2}, {2, 2}), one(6)}, {{"decoder", whole}, {"eos_token_id", kThree}, {"pad_token_id", kZero}},
               tokens({1, 6}, {2, 2, 1, 2, 2, 0}));
}

TEST_CASE("a decoder that finds its beams' caches itself is told that each beam has its own") {
  // The next token is the number of beams, and the beam at a place behind the last.
  const Attribute by_beam = body(fmt::format(R"(graph "decoder"
  input %input_ids: int32[n, s]
  input %position_ids: int32[n, s]
  input %attention_mask: int32[n, t]
  input %past_0: float32[2, n, 1, 3, 1]
  input %past_sequence_length: int32[1]
  input %beam_width: int32[1]
  input %cache_indirection: int32[b, w, 3]
  const %table: {}
  const %starts: int64[1] = {{2}}
  const %ends: int64[1] = {{3}}
  const %column: int64[2] = {{-1, 1}}
  %last: int32[b, w, 1] = Slice(%cache_indirection, %starts, %ends, %starts)
  %beams: int32[n, 1] = Reshape(%last, %column)
  %next: int32[n, 1] = Add(%beams, %beam_width)
  %logits: float32[n, 1, 5] = Gather(%table, %next)
  %present_0: float32[2, n, 1, 3, 1] = Identity(%past_0)
  output %logits
  output %present_0)", logarithms({{1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 0, 0.7, 0.3, 0}, {0, 0.2, 0, 0.8, 0}, {1, 0, 0, 0, 0}})));
  // First both beams are those of the first row: 2 and 3. Then the first goes on by its row, 0.7 of 0.7, the second by its own, 0.8 of 0.3.
  const AttributeList attributes = {{"decoder", by_beam}, {"eos_token_id", kFour}, {"pad_token_id", kZero}};
  check_answer("BeamSearch", {tokens({1, 1}, {1}), one(3), kNone, one(2), one(2)}, attributes, tokens({1, 2, 3}, {1, 2, 2, 1, 3, 3}));
}

TEST_CASE("DecoderMaskedMultiHeadAttention reads the past of the beam that cache_indirection says, and gives back its own") {
  const Tensor zeros = Tensor::of<float>({2, 1, 1}, {0, 0}), fresh = Tensor::of<float>({2, 1, 1}, {1, 2});
  const Tensor keys = Tensor::of<float>({2, 1, 3, 1}, {0, 0, 0, 0, 0, 0}), values = Tensor::of<float>({2, 1, 3, 1}, {10, 20, 0, 30, 40, 0});
  const std::vector<Tensor> inputs{zeros, zeros, fresh, kNone, kNone, keys, values, one(2), one(2), tokens({1, 2, 3}, {0, 1, 0, 1, 0, 0})};
  const AttributeList attributes = {{"num_heads", kOne}, {"past_present_share_buffer", kOne}};
  check_answer("DecoderMaskedMultiHeadAttention", inputs, attributes, Tensor::of<float>({2, 1, 1}, {51.0f / 3, 52.0f / 3}),
               1e-5);  // 10 40 1; 30 20 2
  check_answer("DecoderMaskedMultiHeadAttention", inputs, attributes, Tensor::of<float>({2, 1, 3, 1}, {10, 20, 1, 30, 40, 2}), 1e-6, 2);
}

TEST_CASE("Sampling keeps the likely tokens") {
  const Attribute chain = decoder(kChain), few = 0.05f, filtered = -9.0f;
  const AttributeList attributes = {{"decoder", chain}, {"eos_token_id", kThree},     {"pad_token_id", kZero},
                                    {"top_p", few},     {"min_tokens_to_keep", kOne}, {"filter_value", filtered}};
  const std::vector<Tensor> inputs{tokens({1, 1}, {1}), one(2)};
  check_answer("Sampling", inputs, attributes, tokens({1, 2}, {1, 2}));
  check_answer("Sampling", inputs, attributes, Tensor::of<float>({1, 4}, {-9, -9, std::log(0.7f), -9}), 1e-6, 1);
  const Attribute most = 0.85f;  // of 0.7 and 0.2 and less
  check_answer("Sampling", inputs,
               {{"decoder", chain}, {"eos_token_id", kThree}, {"pad_token_id", kZero}, {"top_p", most}, {"filter_value", filtered}},
               Tensor::of<float>({1, 4}, {-9, -9, std::log(0.7f), std::log(0.2f)}), 1e-6, 1);
}

namespace {

/// Tokens: 0 pads, 1 begins, 4 ends. The likeliest first token leads to no likely text.
const std::vector<std::vector<double>> kFork = {
    {0, 0, 0, 0, 1}, {0, 0, 0.6, 0.4, 0}, {0, 0, 0.4, 0.35, 0.25}, {0, 0, 0.05, 0.05, 0.9}, {1, 0, 0, 0, 0}};

}  // namespace

TEST_CASE("BeamSearch finds what a likely beginning hides, and judges by length") {
  const Attribute fork = decoder(kFork);
  const AttributeList attributes = {{"decoder", fork}, {"eos_token_id", kFour}, {"pad_token_id", kZero}};
  const auto log = [](double p) { return static_cast<float>(std::log(p)); };
  const std::vector<Tensor> plain{tokens({1, 1}, {1}), one(3), kNone, one(2), one(2), Tensor::scalar(0.0f)};
  check_answer("BeamSearch", plain, attributes, tokens({1, 2, 3}, {1, 3, 0, 1, 2, 2}));
  check_answer("BeamSearch", plain, attributes, Tensor::of<float>({1, 2}, {log(0.36), log(0.24)}), 1e-6, 1);
  const std::vector<Tensor> by_length{tokens({1, 1}, {1}), one(3), kNone, one(2), one(2)};
  check_answer("BeamSearch", by_length, attributes, tokens({1, 2, 3}, {1, 2, 2, 1, 3, 0}));
  check_answer("BeamSearch", by_length, attributes, Tensor::of<float>({1, 2}, {log(0.24) / 3, log(0.36) / 2}), 1e-6, 1);
  const std::vector<Tensor> single{tokens({1, 1}, {1}), one(3), kNone, one(1), one(1)};
  check_answer("BeamSearch", single, attributes, tokens({1, 1, 3}, {1, 2, 2}));  // as GreedySearch
}

TEST_CASE("BeamSearch gives the scores of each step, and 0 for those that it does not make") {
  const Attribute sure = decoder({{0, 0.5, 0.5}, {0, 0, 1}, {1, 0, 0}});
  const float never = -1e9f, tiny = kNever;
  check_answer("BeamSearch", {tokens({1, 1}, {1}), one(3), kNone, one(1), one(1)},
               {{"decoder", sure}, {"eos_token_id", kTwo}, {"pad_token_id", kZero}}, Tensor::of<float>({2, 1, 1, 3}, {tiny, tiny, 0, 0, 0, 0}), 1e-5,
               2);
  const Attribute loop = decoder({{0, 0.5, 0.5}, {0, 1, 0}, {1, 0, 0}});
  check_answer("BeamSearch", {tokens({1, 1}, {1}), one(2), kNone, one(2), one(1)},
               {{"decoder", loop}, {"eos_token_id", kTwo}, {"pad_token_id", kZero}},
               Tensor::of<float>({1, 1, 2, 3}, {tiny, 0, tiny, never, never, never}), 1e-5, 2);
}

TEST_CASE("a prompt's search goes on while a beam may become better, whatever becomes of others") {
  // Of the second prompt's beams one ends at once, and one could still be better: ONNX Runtime looks at the first prompt's, and ends.
  const Attribute early = decoder({{0, 0, 0, 1, 0}, {0, 0, 0.5, 0.5, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0.9, 0.1}, {1, 0, 0, 0, 0}});
  check_answer("BeamSearch", {tokens({2, 1}, {2, 3}), one(5), kNone, one(1), one(1), Tensor::scalar(2.0f)},
               {{"decoder", early}, {"eos_token_id", kFour}, {"pad_token_id", kZero}}, tokens({2, 1, 5}, {2, 0, 0, 0, 0, 3, 3, 3, 3, 3}));
}

namespace {

/// An encoder of speech that gives nothing but what the decoder's first step needs, and a decoder by the last token.
std::pair<Attribute, Attribute> speech_bodies(const std::vector<std::vector<double>>& probabilities) {
  const std::string table = logarithms(probabilities);
  const size_t count = probabilities[0].size();
  return {body(fmt::format(R"(graph "encoder"
  input %encoder_input_ids: float32[n, 2, s]
  input %decoder_input_ids: int32[n, b]
  const %table: {}
  const %axes: int64[1] = {{1}}
  %logits: float32[n, b, {}] = Gather(%table, %decoder_input_ids)
  %states: float32[n, s, 2] = Transpose(%encoder_input_ids) {{perm = [0, 2, 1]}}
  %cross: float32[n, 1, s, 2] = Unsqueeze(%states, %axes)
  %starts: float32[n, b] = Cast(%decoder_input_ids) {{to = 1}}
  const %ends: int64[2] = {{1, 3}}
  %own: float32[n, 1, b, 1] = Unsqueeze(%starts, %ends)
  output %logits
  output %states
  output %own
  output %own
  output %cross
  output %cross)", table, count)),
          body(fmt::format(R"(graph "decoder"
  input %input_ids: int32[n, 1]
  input %past_key_self_0: float32[n, 1, p, 1]
  input %past_value_self_0: float32[n, 1, p, 1]
  input %past_key_cross_0: float32[n, 1, s, 2]
  input %past_value_cross_0: float32[n, 1, s, 2]
  const %table: {}
  %logits: float32[n, 1, {}] = Gather(%table, %input_ids)
  %key: float32[n, 1, p, 1] = Identity(%past_key_self_0)
  %value: float32[n, 1, p, 1] = Identity(%past_value_self_0)
  output %logits
  output %key
  output %value)", table, count))};
}

}  // namespace

TEST_CASE("WhisperBeamSearch pairs timestamps, and says how likely silence is") {
  // Tokens: 0 and 1 text, 2 ends, 3 starts, 4 no timestamps, from 5 on timestamps.
  const auto [encoder, decoder] = speech_bodies({{0, 0, 0.05, 0, 0, 0.8, 0.15, 0},    // 5 is past; 6 is likelier than any text
                                                 {0, 0, 1, 0, 0, 0, 0, 0},
                                                 {1, 0, 0, 0, 0, 0, 0, 0},
                                                 {0.4, 0, 0, 0, 0, 0.3, 0.3, 0},      // timestamps together are likelier than text
                                                 {1, 0, 0, 0, 0, 0, 0, 0},
                                                 {0.1, 0, 0, 0, 0, 0, 0.9, 0},        // the first timestamp stands alone
                                                 {0.9, 0, 0.06, 0, 0, 0, 0, 0.04},    // the second in its pair: no text before the end
                                                 {1, 0, 0, 0, 0, 0, 0, 0}});
  const Attribute first = int64_t{5};
  const AttributeList attributes = {{"encoder", encoder}, {"decoder", decoder}, {"eos_token_id", kTwo}, {"pad_token_id", kOne},
                                    {"decoder_start_token_id", kThree}, {"no_timestamps_token_id", kFour}, {"beginning_timestamp_token_id", first},
                                    {"no_speech_token_id", kZero}};
  const Tensor features = Tensor::of<float>({1, 2, 1}, {0, 0});
  std::vector<Tensor> inputs{features, one(8), kNone, one(1), one(1), kNone, kNone, kNone, kNone, kNone, kNone, one(1)};
  check_answer("WhisperBeamSearch", inputs, attributes, tokens({1, 1, 8}, {3, 5, 0, 6, 1, 1, 1, 1}));
  check_answer("WhisperBeamSearch", inputs, attributes, Tensor::of<float>({1}, {0.4f}), 1e-6, 4);
  inputs.back() = one(0);  // no rules for timestamps
  check_answer("WhisperBeamSearch", inputs, attributes, tokens({1, 1, 8}, {3, 0, 5, 6, 0, 5, 6, 0}));
  inputs[10] = tokens({1, 2}, {3, 6});  // begins with more than one token
  check_answer("WhisperBeamSearch", inputs, attributes, tokens({1, 1, 8}, {3, 6, 0, 5, 6, 0, 5, 6}));
}

namespace {

/// Of five tokens, by the sum of the vectors of all tokens so far, and those of the source; the cache holds them as `presents` says.
Attribute summing_decoder(const char* past, const char* presents) {
  return body(fmt::format(R"(graph "decoder"
  input %input_ids: int32[n, 1]
  input %encoder_attention_mask: int32[n, s]
  input %past_key_self_0: float32[n, 1, p, 2]
  input %past_value_self_0: float32[n, 1, p, 2]
  input %past_key_cross_0: float32[n, 1, s, 2]
  input %past_value_cross_0: float32[n, 1, s, 2]
{}
  const %table: float32[5, 2] = {{1.0, -0.5, 0.25, 0.75, -1.5, 1.0, 0.5, 0.5, -0.25, 2.0}}
  const %weights: float32[2, 5] = {{0.5, -1.0, 0.25, 1.0, -0.5, 0.75, 0.5, -0.25, -0.75, 1.0}}
  const %heads: int64[1] = {{1}}
  const %places: int64[1] = {{2}}
  const %start: int64[1] = {{0}}
  %rows: float32[n, 1, 2] = Gather(%table, %input_ids)
  %own: float32[n, 1, 1, 2] = Unsqueeze(%rows, %heads)
{}
  %all: float32[n, 1, m, 2] = Concat(%past_key_cross_0, %past_value_cross_0, %there) {{axis = 2}}
  %sum: float32[n, 1, 2] = ReduceSum(%all, %places) {{keepdims = 0}}
  %logits: float32[n, 1, 5] = MatMul(%sum, %weights)
  output %logits
  output %key
  output %past_value_self_0)", past, presents));
}

}  // namespace

TEST_CASE("whole caches of an encoder-decoder answer as growing ones do") {
  const Attribute encoder = body(R"(graph "encoder"
  input %encoder_input_ids: int32[n, s]
  input %encoder_attention_mask: int32[n, s]
  const %table: float32[5, 2] = {0.5, -1.0, 0.25, 2.0, -0.75, 1.0, 1.5, 0.125, -2.0, 0.0}
  const %heads: int64[1] = {1}
  %rows: float32[n, s, 2] = Gather(%table, %encoder_input_ids)
  %key: float32[n, 1, s, 2] = Unsqueeze(%rows, %heads)
  %value: float32[n, 1, s, 2] = Neg(%key)
  output %key
  output %value)");
  const Attribute growing = summing_decoder("", R"(  %key: float32[n, 1, q, 2] = Concat(%past_key_self_0, %own) {axis = 2}
  %there: float32[n, 1, q, 2] = Identity(%key))");
  const Attribute whole = summing_decoder("  input %past_sequence_length: int32[1]", R"(  %used: int64[1] = Cast(%past_sequence_length) {to = 7}
  %end: int64[1] = Add(%used, %heads)
  const %most: int64[1] = {100}
  %before: float32[n, 1, u, 2] = Slice(%past_key_self_0, %start, %used, %places)
  %behind: float32[n, 1, v, 2] = Slice(%past_key_self_0, %end, %most, %places)
  %key: float32[n, 1, p, 2] = Concat(%before, %own, %behind) {axis = 2}
  %there: float32[n, 1, w, 2] = Slice(%key, %start, %end, %places))");
  const std::vector<Tensor> inputs{tokens({2, 3}, {1, 2, 3, 4, 0, 1}), one(8), one(7), one(3), one(2), Tensor::scalar(1.0f), Tensor::scalar(1.5f)};
  const auto answer = [&](const Attribute& decoder, size_t output) {
    Graph graph = graph_of("BeamSearch", inputs, {{"encoder", encoder}, {"decoder", decoder}, {"eos_token_id", kFour}, {"pad_token_id", kZero},
                                                  {"model_type", kOne}, {"decoder_start_token_id", kOne}}, output);
    REQUIRE(infer_types(*graph.nodes().front()).ok());
    const auto session = Session::create(std::move(graph));
    if (!session.ok()) FAIL(session.error().message());
    const auto got = (*session)->run({inputs[0]});
    if (!got.ok()) FAIL(got.error().message());
    return (*got)[0];
  };
  const AttributeList attributes = {{"encoder", encoder}, {"decoder", whole}, {"eos_token_id", kFour}, {"pad_token_id", kZero}, {"model_type", kOne},
                                    {"decoder_start_token_id", kOne}};
  check_answer("BeamSearch", inputs, attributes, answer(growing, 0));
  check_answer("BeamSearch", inputs, attributes, answer(growing, 1), 1e-5, 1);
}

TEST_CASE("BifurcationDetector takes what is predicted as the source goes on, and one more") {
  const auto list = [](std::initializer_list<int64_t> values) { return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values); };
  const Tensor source = list({5, 6, 7, 6, 8});
  const std::vector<Tensor> copying{source, list({5}), list({1}), list({6, 7, 9, 8, 1})};
  check_answer("BifurcationDetector", copying, {}, list({5, 6, 7, 9}));
  check_answer("BifurcationDetector", copying, {}, list({-1}), 0, 1);  // no 9 in the source
  check_answer("BifurcationDetector", {source, list({7}), list({0})}, {}, list({3}), 0, 1);
  check_answer("BifurcationDetector", {source, list({1, 6}), list({0})}, {}, list({-1}), 0, 1);  // 6 is there twice, 1 6 never
  check_answer("BifurcationDetector", {source, list({7, 6}), list({0})}, {}, list({4}), 0, 1);
  CHECK_THAT(refusal("BifurcationDetector", {source, list({5}), list({1}), list({6, 7})}, {}),
             Catch::Matchers::Contains("pred_tokens has 2 tokens, needs 5"));
  CHECK_THAT(refusal("BifurcationDetector", {source, list({5}), list({6}), list({6})}, {}), Catch::Matchers::Contains("prev_suffix_match_idx is 6"));
}

TEST_CASE("what cannot be generated is refused with the reason") {
  const Attribute chain = decoder(kChain);
  const AttributeList attributes = {{"decoder", chain}, {"eos_token_id", kThree}, {"pad_token_id", kZero}};
  const Tensor prompt = tokens({1, 2}, {1, 2});
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal("GreedySearch", {prompt, one(2)}, attributes), Contains("max_length is 2, but the prompts have 2 tokens already"));
  CHECK_THAT(refusal("GreedySearch", {prompt, one(5000)}, attributes), Contains("max_length is 5000, must be from 1 to 4096"));
  CHECK_THAT(refusal("GreedySearch", {prompt, one(4), one(4)}, attributes), Contains("min_length is 4, must be less than max_length"));
  CHECK_THAT(refusal("GreedySearch", {prompt, one(4), kNone, kNone, tokens({3}, {1, 1, 1})}, attributes), Contains("vocab_mask is 3, needs 4"));
  CHECK_THAT(refusal("BeamSearch", {prompt, one(4), kNone, one(0), one(1)}, attributes), Contains("num_beams is 0"));
  CHECK_THAT(refusal("BeamSearch", {prompt, one(4), kNone, one(1), one(2)}, attributes), Contains("num_return_sequences is 2"));
  CHECK_THAT(refusal("BeamSearch", {prompt, one(4), kNone, one(1)}, attributes), Contains("has 4 inputs, needs at least 5"));
  CHECK_THAT(refusal("BeamSearch", {prompt, one(4), kNone, kNone, one(1)}, attributes), Contains("input 3 (num_beams) is required but absent"));
  const AttributeList with_encoder = {{"decoder", chain}, {"eos_token_id", kThree}, {"pad_token_id", kZero}, {"model_type", kOne}};
  CHECK_THAT(refusal("BeamSearch", {prompt, one(4), kNone, one(1), one(1)}, with_encoder), Contains("has no body 'encoder'"));
  CHECK_THAT(refusal("GreedySearch", {prompt, one(4)}, {{"decoder", chain}, {"eos_token_id", kFour}, {"pad_token_id", kZero}}),
             Contains("eos_token_id is 4, but there are 4 tokens"));
}

}  // namespace contributed_generation_test

#include "engine/ops/generation/generation_samples_common.h"

namespace svengine::ops {
namespace {

constexpr const char* kDecoder = R"(decoder = graph "decoder" {
  input %input_ids: int32[n, s]
  input %position_ids: int32[n, s]
  input %attention_mask: int32[n, t]
  input %past_0: float32[2, n, 1, p, 1]
  const %table: float32[6, 6] = {0.5, 0.25, -1.0, 2.0, 0.0, 1.5, 3.0, 0.125, 0.75, -0.5, 1.0, 2.5, 0.0, 1.0, 2.0, -3.0,)"
    R"( 0.5, 0.25, 1.0, -1.0, 0.375, 0.625, 4.0, -2.0, 2.25, 1.75, -0.25, 0.5, 0.0, 3.5, 0.0, 1.0, 0.5, 2.0, 1.25, -1.5}
  const %axes: int64[3] = {0, 2, 4}
  const %twice: int64[5] = {2, 1, 1, 1, 1}
  %logits: float32[n, s, 6] = Gather(%table, %input_ids)
  %places: float32[n, s] = Cast(%position_ids) {to = 1}
  %key: float32[1, n, 1, s, 1] = Unsqueeze(%places, %axes)
  %pair: float32[2, n, 1, s, 1] = Tile(%key, %twice)
  %present_0: float32[2, n, 1, t, 1] = Concat(%past_0, %pair) {axis = 3}
  output %logits
  output %present_0
})";

constexpr const char* kEncoder = R"(encoder = graph "encoder" {
  input %encoder_input_ids: int32[n, s]
  input %encoder_attention_mask: int32[n, s]
  const %table: float32[5, 2] = {0.5, -1.0, 0.25, 2.0, -0.75, 1.0, 1.5, 0.125, -2.0, 0.0}
  const %heads: int64[1] = {1}
  %rows: float32[n, s, 2] = Gather(%table, %encoder_input_ids)
  %key: float32[n, 1, s, 2] = Unsqueeze(%rows, %heads)
  %value: float32[n, 1, s, 2] = Neg(%key)
  output %key
  output %value
})";

/// After its inputs of the source: keys and values, which it sums.
constexpr const char* kCachedDecoder = R"(
  input %past_key_self_0: float32[n, 1, p, 2]
  input %past_value_self_0: float32[n, 1, p, 2]
  input %past_key_cross_0: float32[n, 1, s, 2]
  input %past_value_cross_0: float32[n, 1, s, 2]
  const %table: float32[6, 2] = {1.0, -0.5, 0.25, 0.75, -1.5, 1.0, 0.5, 0.5, -0.25, 2.0, 1.25, -1.0}
  const %heads: int64[1] = {1}
  const %places: int64[1] = {2}
  %rows: float32[n, 1, 2] = Gather(%table, %input_ids)
  %own: float32[n, 1, 1, 2] = Unsqueeze(%rows, %heads)
  %present_key: float32[n, 1, t, 2] = Concat(%past_key_self_0, %own) {axis = 2}
  %present_value: float32[n, 1, t, 2] = Concat(%past_value_self_0, %own) {axis = 2}
  %all: float32[n, 1, m, 2] = Concat(%past_key_cross_0, %past_value_cross_0, %present_key) {axis = 2}
  %sum: float32[n, 1, 2] = ReduceSum(%all, %places) {keepdims = 0}
  %logits: float32[n, 1, *] = MatMul(%sum, %weights)
  output %logits
  output %present_key
  output %present_value
})";

constexpr const char* kSpeechEncoder = R"(encoder = graph "encoder" {
  input %encoder_input_ids: float32[n, 3, s]
  input %decoder_input_ids: int32[n, b]
  const %weights: float32[3, 2] = {0.5, -1.0, 0.25, 2.0, -0.75, 1.0}
  const %table: float32[6, 2] = {1.0, -0.5, 0.25, 0.75, -1.5, 1.0, 0.5, 0.5, -0.25, 2.0, 1.25, -1.0}
  const %words: float32[2, 6] = {1.0, 0.5, -0.5, 2.0, 0.25, -1.0, 0.75, -0.25, 1.5, 0.0, 1.0, 0.5}
  const %heads: int64[1] = {1}
  %frames: float32[n, s, 3] = Transpose(%encoder_input_ids) {perm = [0, 2, 1]}
  %states: float32[n, s, 2] = MatMul(%frames, %weights)
  %rows: float32[n, b, 2] = Gather(%table, %decoder_input_ids)
  %logits: float32[n, b, 6] = MatMul(%rows, %words)
  %key: float32[n, 1, b, 2] = Unsqueeze(%rows, %heads)
  %value: float32[n, 1, b, 2] = Neg(%key)
  %cross_key: float32[n, 1, s, 2] = Unsqueeze(%states, %heads)
  %cross_value: float32[n, 1, s, 2] = Neg(%cross_key)
  output %logits
  output %states
  output %key
  output %value
  output %cross_key
  output %cross_value
})";

std::string cached_decoder(const char* first_inputs, const char* weights, int tokens) {
  std::string body = std::string("decoder = graph \"decoder\" {\n  input %input_ids: int32[n, 1]\n") + first_inputs + kCachedDecoder;
  const std::string count = std::to_string(tokens), logits = "float32[n, 1, *]";
  body.replace(body.find(logits), logits.size(), "float32[n, 1, " + count + "]");
  return body.insert(body.find("  const %heads"), "  const %weights: float32[2, " + count + "] = " + weights + "\n");
}

std::string with_more(const std::string& attributes) { return attributes.empty() ? "}" : ", " + attributes + "}"; }

}  // namespace

std::string decoder_only_sample(const std::string& attributes) {
  return "{" + std::string(kDecoder) + ", eos_token_id = 5, pad_token_id = 0" + with_more(attributes);
}

std::string encoder_decoder_sample(const std::string& attributes) {
  const std::string decoder =
      cached_decoder("  input %encoder_attention_mask: int32[n, s]\n", "{1.0, 0.5, -0.5, 2.0, 0.25, 0.75, -0.25, 1.5, 0.0, 1.0}", 5);
  return "{" + std::string(kEncoder) + ", " + decoder + ", eos_token_id = 4, pad_token_id = 0" + with_more(attributes);
}

std::string speech_sample(const std::string& attributes) {
  const std::string decoder = cached_decoder("", "{1.0, 0.5, -0.5, 2.0, 0.25, -1.0, 0.75, -0.25, 1.5, 0.0, 1.0, 0.5}", 6);
  return "{" + std::string(kSpeechEncoder) + ", " + decoder + ", eos_token_id = 3, pad_token_id = 0" + with_more(attributes);
}

}  // namespace svengine::ops

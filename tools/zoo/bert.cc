// As PyTorch exports the encoder at opset 17: linear layers as MatMul and Add, GELU as Erf and arithmetic, layer norms as one
// node, the mask as 0 or -10000 added to the scores. Weights are normal with deviation 0.02, as BERT starts.
#include <cmath>

#include "tools/zoo/zoo.h"

namespace svengine::tool {
namespace {

constexpr float kDeviation = 0.02f;
constexpr int64_t kVocabulary = 30522, kPositions = 512, kSegments = 2;

struct Sizes {
  int64_t layers, hidden, heads;
};

class Bert {
 public:
  Bert(Builder& builder, Weights& weights, Sizes sizes) : b_(builder), w_(weights), s_(sizes) {}

  /// The encoder with its pooler.
  void build() {
    Value* x = encoder();
    b_.output(x, "last_hidden_state");
    Value* first = b_.add("Gather", {x, scalar<int64_t>(0)}, make_attributes({{"axis", int64_t{1}}}), "pooler.first");
    b_.output(b_.add("Tanh", {linear(first, "pooler.dense", s_.hidden, s_.hidden)}, {}, "pooler.activation"), "pooler_output");
  }

  /// The encoder with a score of every word for every token, as masked language models are trained.
  void build_language_model() { b_.output(linear(encoder(), "head", s_.hidden, kVocabulary), "scores"); }

 private:
  Value* encoder() {
    const Shape ids{Dim("N"), Dim("S")};
    Value* words = b_.input("input_ids", DType::i64, ids);
    Value* mask = b_.input("attention_mask", DType::i64, ids);
    Value* segments = b_.input("token_type_ids", DType::i64, ids);
    mask_ = additive_mask(mask);
    Value* x = embeddings(words, segments);
    for (int64_t i = 0; i < s_.layers; ++i) x = layer(x, fmt::format("encoder.layer.{}.", i));
    return x;
  }

  template <class T>
  Value* scalar(T value) {
    return b_.constant(Tensor::scalar<T>(value));
  }

  Value* additive_mask(Value* mask) {
    Value* m = b_.add("Unsqueeze", {mask, b_.integers({1, 2})}, {}, "mask.unsqueeze");
    m = b_.add("Cast", {m}, make_attributes({{"to", static_cast<int64_t>(DType::f32)}}), "mask.cast");
    m = b_.add("Sub", {scalar(1.0f), m}, {}, "mask.sub");
    return b_.add("Mul", {m, scalar(-10000.0f)}, {}, "mask.mul");
  }

  Value* embedding(Value* ids, const std::string& name, int64_t rows) {
    Value* table = w_.normal("embeddings." + name + ".weight", {rows, s_.hidden}, 0, kDeviation);
    return b_.add("Gather", {table, ids}, {}, "embeddings." + name);
  }

  Value* embeddings(Value* words, Value* segments) {
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < kPositions; ++i) numbers.push_back(i);
    Value* all = b_.constant(Tensor::of<int64_t>({1, kPositions}, std::span<const int64_t>(numbers)), "embeddings.position_ids");
    Value* shape = b_.add("Shape", {words}, {}, "embeddings.shape");
    Value* length = b_.add("Gather", {shape, b_.integers({1})}, {}, "embeddings.length");
    Value* positions = b_.add("Slice", {all, b_.integers({0}), length, b_.integers({1}), b_.integers({1})}, {},
                              "embeddings.positions");
    Value* x = b_.add("Add", {embedding(words, "word_embeddings", kVocabulary), embedding(segments, "token_type_embeddings", kSegments)}, {},
                      "embeddings.add");
    x = b_.add("Add", {x, embedding(positions, "position_embeddings", kPositions)}, {}, "embeddings.add_positions");
    return layer_norm(x, "embeddings.LayerNorm");
  }

  Value* layer_norm(Value* x, const std::string& name) {
    Value* scale = w_.normal(name + ".weight", {s_.hidden}, 1, kDeviation);
    Value* bias = w_.normal(name + ".bias", {s_.hidden}, 0, kDeviation);
    return b_.add("LayerNormalization", {x, scale, bias}, make_attributes({{"axis", int64_t{-1}}, {"epsilon", 1e-12f}}), name);
  }

  Value* linear(Value* x, const std::string& name, int64_t in, int64_t out) {
    Value* product = b_.add("MatMul", {x, w_.normal(name + ".weight", {in, out}, 0, kDeviation)}, {}, name + ".matmul");
    return b_.add("Add", {w_.normal(name + ".bias", {out}, 0, kDeviation), product}, {}, name);
  }

  Value* heads(Value* x, const std::string& name, std::vector<int64_t> perm) {
    Value* split = b_.add("Reshape", {x, b_.integers({0, 0, s_.heads, s_.hidden / s_.heads})}, {}, name + ".heads");
    return b_.add("Transpose", {split}, make_attributes({{"perm", std::move(perm)}}), name + ".transpose");
  }

  Value* attention(Value* x, const std::string& name) {
    const int64_t h = s_.hidden;
    Value* q = heads(linear(x, name + "self.query", h, h), name + "self.query", {0, 2, 1, 3});
    Value* k = heads(linear(x, name + "self.key", h, h), name + "self.key", {0, 2, 3, 1});
    Value* v = heads(linear(x, name + "self.value", h, h), name + "self.value", {0, 2, 1, 3});
    Value* scores = b_.add("MatMul", {q, k}, {}, name + "self.scores");
    scores = b_.add("Div", {scores, scalar(std::sqrt(static_cast<float>(h / s_.heads)))}, {}, name + "self.scale");
    scores = b_.add("Add", {scores, mask_}, {}, name + "self.mask");
    Value* weights = b_.add("Softmax", {scores}, make_attributes({{"axis", int64_t{-1}}}), name + "self.softmax");
    Value* context = b_.add("MatMul", {weights, v}, {}, name + "self.context");
    context = b_.add("Transpose", {context}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 1, 3}}}),
                     name + "self.context_transpose");
    return b_.add("Reshape", {context, b_.integers({0, 0, h})}, {}, name + "self.context_merge");
  }

  Value* gelu(Value* x, const std::string& name) {
    Value* y = b_.add("Div", {x, scalar(std::sqrt(2.0f))}, {}, name + ".div");
    y = b_.add("Add", {b_.add("Erf", {y}, {}, name + ".erf"), scalar(1.0f)}, {}, name + ".add");
    return b_.add("Mul", {b_.add("Mul", {x, y}, {}, name + ".mul"), scalar(0.5f)}, {}, name);
  }

  Value* layer(Value* x, const std::string& name) {
    const int64_t h = s_.hidden;
    Value* a = linear(attention(x, name + "attention."), name + "attention.output.dense", h, h);
    x = layer_norm(b_.add("Add", {a, x}, {}, name + "attention.output.add"), name + "attention.output.LayerNorm");
    Value* y = gelu(linear(x, name + "intermediate.dense", h, 4 * h), name + "intermediate.gelu");
    y = linear(y, name + "output.dense", 4 * h, h);
    return layer_norm(b_.add("Add", {y, x}, {}, name + "output.add"), name + "output.LayerNorm");
  }

  Builder& b_;
  Weights& w_;
  Sizes s_;
  Value* mask_ = nullptr;
};

}  // namespace

void build_bert_base(Builder& builder, Weights& weights) { Bert(builder, weights, {12, 768, 12}).build(); }
void build_bert_base_mlm(Builder& builder, Weights& weights) { Bert(builder, weights, {12, 768, 12}).build_language_model(); }
void build_bert_tiny(Builder& builder, Weights& weights) { Bert(builder, weights, {2, 128, 2}).build(); }

}  // namespace svengine::tool

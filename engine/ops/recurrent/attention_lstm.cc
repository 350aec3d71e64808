// com.microsoft.AttnLSTM: an LSTM whose input has behind it what attention to a memory gave in the step before (Bahdanau, Cho and Bengio 2015,
// "Neural machine translation by jointly learning to align and translate", section 3.1). Each direction is a Scan whose body is one step:
//
//   h, c      = LSTM([x, attention], h, c)
//   weights   = softmax(V tanh(M MW + h QW))        over the memory's places, of each sample those that it has
//   attention = weights M, or [h, weights M] AW
//
// The keys M MW are the same in every step, and are computed before.
#include "engine/graph/bodies.h"
#include "engine/graph/expand.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/recurrent/recurrent_common.h"
#include "engine/ops/registry.h"

namespace svengine::ops {
namespace {

enum AttentionLstmInput : size_t {
  kX,
  kW,
  kR,
  kB,
  kLengths,
  kHidden,
  kCell,
  kPeepholes,
  kQueryWeights,
  kKeyWeights,
  kScoreWeights,
  kMemory,
  kMemoryLengths,
  kLayer
};

constexpr int64_t kRanks[] = {3, 3, 3, 2, 1, 3, 3, 2, 3, 3, 2, 3, 1, 3};

Status check_inputs(const InferContext& c) {
  for (size_t i = 0; i < std::size(kRanks); ++i) {
    if (!c.has_input(i)) continue;
    SV_TRY(require_rank(c, i, kRanks[i]));
    const bool is_length = i == kLengths || i == kMemoryLengths;
    if (!is_length && c.dtype(i) != c.dtype(kX))
      return error("{} is {}, but X {}: they must be alike", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(kX)));
  }
  return {};
}

/// Dimension d of an input, as far as it is known.
Dim dim_of(const InferContext& c, size_t input, size_t d) {
  return c.has_input(input) && c.shape(input).has_rank() ? c.shape(input)[d] : Dim();
}

Status infer_attention_lstm(InferContext& c) {
  SV_TRY(check_inputs(c));
  SV_ASSIGN(const int64_t count, recurrent_directions(c.attributes()));
  if (c.attributes().has("clip") && !(c.attributes().get_float("clip") > 0))
    return error("clip is {}, must be positive", c.attributes().get_float("clip"));
  for (int64_t d = 0; d < count; ++d) SV_TRY(lstm_attributes_of(c.attributes(), d));
  const Dim directions(count), steps = dim_of(c, kX, 0), batch = dim_of(c, kX, 1), hidden = dim_of(c, kR, 2);
  if (const int64_t given = c.attributes().get_int("hidden_size"); c.attributes().has("hidden_size") && known_different(hidden, Dim(given)))
    return error("hidden_size is {}, but R is {}", given, to_string(c.shape(kR)));
  const Dim depth = dim_of(c, kMemory, 2), places = dim_of(c, kMemory, 1), attention = c.has_input(kLayer) ? dim_of(c, kLayer, 2) : depth;
  const Dim gates = multiply(Dim(4), hidden), score = dim_of(c, kKeyWeights, 2);
  const Shape wanted[] = {{steps, batch, Dim()},
                          {directions, gates, add(dim_of(c, kX, 2), attention)},
                          {directions, gates, hidden},
                          {directions, multiply(Dim(2), gates)},
                          {batch},
                          {directions, batch, hidden},
                          {directions, batch, hidden},
                          {directions, multiply(Dim(3), hidden)},
                          {directions, hidden, score},
                          {directions, depth, score},
                          {directions, score},
                          {batch, places, depth},
                          {batch},
                          {directions, add(depth, hidden), attention}};
  for (size_t i = 0; i < std::size(wanted); ++i) SV_TRY(require_shape(c, i, wanted[i]));
  c.set(0, c.dtype(kX), Shape{steps, directions, batch, hidden});
  c.set(1, c.dtype(kX), Shape{directions, batch, hidden});
  c.set(2, c.dtype(kX), Shape{directions, batch, hidden});
  return {};
}

/// bool [samples, size]: which of `size` places each sample has. A length that is less than `least` or more than there are is an index
/// that the Gather refuses.
Value* places_of(ExpandContext& c, Value* lengths, Value* size, int64_t least) {
  Value* long_lengths = c.cast(lengths, DType::i64);
  Value* rows = c.op("Add", {size, c.number(1, DType::i64)});
  Value* table = c.op("Less", {c.unsqueeze(c.up_to(size), {0}), c.unsqueeze(c.up_to(rows), {1})});
  Value* is_short = c.op("Less", {long_lengths, c.number(static_cast<double>(least), DType::i64)});
  return c.op("Gather", {table, c.op("Where", {is_short, rows, long_lengths})});
}

/// The body of a direction while it is put together: states h, c [1, B, H] and attention [B, A]; slices x [B, I] and, where samples end
/// early, whether they have this step, [B].
class Step {
 public:
  explicit Step(std::string name) : builder_(graph_, all_ops()) { graph_.name = std::move(name); }

  Value* slot(const char* name, const Type& type) { return graph_.add_input(name, type); }
  /// An input that is the same in every step.
  Value* capture(Value* outer, const char* name) {
    if (!outer) return nullptr;
    captured_.push_back(outer);
    return graph_.add_input(name, outer->type);
  }
  Value* add(std::string_view name, std::vector<Value*> inputs, Attributes attributes = {}) {
    return builder_.add(name, std::move(inputs), std::move(attributes));
  }
  Value* add_dim(Value* v, int64_t axis) { return add("Unsqueeze", {v, builder_.integers({axis})}); }
  Value* drop_dim(Value* v, int64_t axis) { return add("Squeeze", {v, builder_.integers({axis})}); }
  Value* concat(Value* a, Value* b) { return add("Concat", {a, b}, make_attributes({{"axis", int64_t{1}}})); }
  void give(Value* v) { builder_.output(v); }
  Builder& builder() { return builder_; }
  const std::vector<Value*>& captured() const { return captured_; }
  Graph take() { return std::move(graph_); }

 private:
  Graph graph_;
  Builder builder_;
  std::vector<Value*> captured_;
};

/// What a direction has of its own of input i, its first dimension kept.
Value* own_part(ExpandContext& c, size_t i, int64_t d) { return c.has_input(i) ? c.slice(c.input(i), 0, d, d + 1) : nullptr; }
Value* own_matrix(ExpandContext& c, size_t i, int64_t d) { return c.op("Squeeze", {own_part(c, i, d), c.ints({0})}); }

/// Zeros of X's type. Sizes that are known make a known shape.
Value* zeros(ExpandContext& c, const std::vector<Value*>& sizes) {
  if (!c.builder().status().ok()) return nullptr;
  std::vector<int64_t> known;
  for (const Value* size : sizes)
    if (size->is_constant()) known.push_back(size->constant().data<int64_t>()[0]);
  return c.op("Expand", {c.number(0, c.dtype(kX)), known.size() == sizes.size() ? c.ints(known) : c.concat(sizes, 0)});
}

/// [h, weights M] AW, or weights M, of a step's h [B, H].
Value* attention_of(ExpandContext& c, Step& s, Value* h, Value* allowed, int64_t d) {
  Value* keys = s.capture(c.op("MatMul", {c.input(kMemory), own_matrix(c, kKeyWeights, d)}), "keys");  // [B, places, N]
  Value* query = s.add("MatMul", {h, s.capture(own_matrix(c, kQueryWeights, d), "QW")});
  Value* closeness = s.add("Tanh", {s.add("Add", {keys, s.add_dim(query, 1)})});
  Value* scores = s.add("MatMul", {closeness, s.capture(c.transpose(own_part(c, kScoreWeights, d), {1, 0}), "V")});  // [B, places, 1]
  if (allowed) scores = s.add("Add", {scores, s.capture(c.unsqueeze(bias_of(c, allowed, c.dtype(kX)), {2}), "hidden_places")});
  Value* weights = s.add("Softmax", {s.add("Transpose", {scores}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 1}}}))});
  Value* found = s.drop_dim(s.add("MatMul", {weights, s.capture(c.input(kMemory), "memory")}), 1);
  return c.has_input(kLayer) ? s.add("MatMul", {s.concat(h, found), s.capture(own_matrix(c, kLayer, d), "AW")}) : found;
}

struct Masks {
  Value *steps = nullptr, *places = nullptr;  // [T, B] and [B, places]; null: all
};

/// h, c, attention of the last step and [T, B, H] of all. Slices come in the direction's order.
Result<const Node*> emit_scan(ExpandContext& c, const Masks& masks, Value* x, bool backwards, int64_t d) {
  Value *one = c.ints({1}), *batch = c.size_of_dim(x, 1), *hidden = c.size_of_dim(c.input(kR), 2);
  const auto state = [&](size_t i) { return c.has_input(i) ? own_part(c, i, d) : zeros(c, {one, batch, hidden}); };
  Value* attention_size = c.has_input(kLayer) ? c.size_of_dim(c.input(kLayer), 2) : c.size_of_dim(c.input(kMemory), 2);
  std::vector<Value*> inputs{state(kHidden), state(kCell), zeros(c, {batch, attention_size}), x};
  if (masks.steps) inputs.push_back(masks.steps);
  SV_TRY(Status(c.builder().status()));
  Step s(c.node().name() + ".step");
  const auto slice_type = [](const Value* v) {
    const std::vector<Dim>& dims = v->type.shape.dims();
    return Type{v->type.dtype, Shape(std::vector<Dim>(dims.begin() + 1, dims.end()))};
  };
  Value *h = s.slot("h", inputs[0]->type), *cell = s.slot("c", inputs[1]->type), *attention = s.slot("attention", inputs[2]->type);
  Value* in = s.add_dim(s.concat(s.slot("x", slice_type(x)), attention), 0);
  Value* lengths = masks.steps ? s.slot("lengths", slice_type(masks.steps)) : nullptr;
  SV_ASSIGN(Attributes attributes, lstm_attributes_of(c.attributes(), d));
  std::vector<Value*> lstm_inputs{in, s.capture(own_part(c, kW, d), "W"), s.capture(own_part(c, kR, d), "R"), s.capture(own_part(c, kB, d), "B"),
                                  lengths, h, cell, s.capture(own_part(c, kPeepholes, d), "P")};
  const Node* lstm = s.builder().node("", "LSTM", std::move(lstm_inputs), 3, std::move(attributes));
  if (!lstm) return Status(s.builder().status()).error();
  Value* found = attention_of(c, s, s.drop_dim(lstm->output(1), 0), masks.places, d);
  for (Value* v : {lstm->output(1), lstm->output(2), found, s.add("Squeeze", {lstm->output(0), s.builder().integers({0, 1})})}) s.give(v);
  SV_TRY(Status(s.builder().status()));
  inputs.insert(inputs.end(), s.captured().begin(), s.captured().end());
  Attributes scan = make_attributes({{"num_scan_inputs", int64_t{masks.steps ? 2 : 1}}, {kCaptured, static_cast<int64_t>(s.captured().size())}});
  scan.set("body", Subgraph(std::make_shared<const Graph>(s.take())));
  if (backwards)
    scan.set("scan_input_directions", std::vector<int64_t>(masks.steps ? 2 : 1, 1)), scan.set("scan_output_directions", std::vector<int64_t>{1});
  return c.builder().node("", "Scan", std::move(inputs), 4, std::move(scan));
}

/// Samples end at their lengths, and are read backwards from there.
Value* reversed(ExpandContext& c, Value* steps) {
  return c.op("ReverseSequence", {steps, c.cast(c.input(kLengths), DType::i64)},
              make_attributes({{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}}));
}

Status expand_attention_lstm(ExpandContext& c) {
  for (size_t i = 0; i < std::size(kRanks); ++i)
    if (c.has_input(i) && !c.shape(i).has_rank()) return {};
  SV_ASSIGN(const int64_t directions, recurrent_directions(c.attributes()));
  const bool ends_early = c.has_input(kLengths);
  Masks masks;
  if (ends_early) {
    Value* has_step = places_of(c, c.input(kLengths), c.scalar_of_dim(c.input(kX), 0), 0);
    masks.steps = c.cast(c.transpose(has_step, {1, 0}), DType::i32);
  }
  if (c.has_input(kMemoryLengths)) masks.places = places_of(c, c.input(kMemoryLengths), c.scalar_of_dim(c.input(kMemory), 1), 1);
  std::vector<Value*> results[3];
  for (int64_t d = 0; d < directions; ++d) {
    const bool backwards = d == 1 || c.attributes().get_string("direction", "forward") == "reverse";
    Value* x = backwards && ends_early ? reversed(c, c.input(kX)) : c.input(kX);
    SV_TRY(Status(c.builder().status()));
    SV_ASSIGN(const Node* scan, emit_scan(c, masks, x, backwards && !ends_early, d));
    if (!scan) return {};
    Value* y = backwards && ends_early ? reversed(c, scan->output(3)) : scan->output(3);
    results[0].push_back(c.unsqueeze(y, {1}));
    results[1].push_back(scan->output(0));
    results[2].push_back(scan->output(1));
  }
  for (size_t i = 0; i < 3; ++i) c.set(i, c.concat(std::move(results[i]), i == 0 ? 1 : 0));
  return {};
}

}  // namespace

OpDef define_microsoft_attn_lstm() {
  OpDef op{
      .name = "AttnLSTM",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?, QW, MW, V, M, memory_seq_lens?, AW?",
      .outputs = {0, 3},
      .attributes = recurrent_attributes(),
      .expand = expand_attention_lstm,
      .infer = infer_attention_lstm,
      .types = {{"T", {DType::f32, DType::f64}, {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 13}}, {"T1", {DType::i32}, {4, 12}}},
      .traits = {.has_host_parts = true},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples =
          "(float32[4, 2, 3], float32[1, 20, 7], float32[1, 20, 5], -, -, -, -, -, float32[1, 5, 6], float32[1, 4, 6], float32[1, 6], "
          "float32[2, 3, 4]) {hidden_size = 5} 3"
          "(float32[4, 3, 2], float32[2, 8, 5], float32[2, 8, 2], float32[2, 16], int32[3]{4, 1, 3}, float32[2, 3, 2], float32[2, 3, 2], "
          "float32[2, 6], float32[2, 2, 5], float32[2, 4, 5], float32[2, 5], float32[3, 6, 4], int32[3]{6, 2, 1}, float32[2, 6, 3]) "
          R"({direction = "bidirectional", hidden_size = 2, clip = 0.5, activations = ["Sigmoid", "Affine", "Tanh", "HardSigmoid", "Tanh", )"
          R"("Elu"], activation_alpha = [0.5, 0.3, 0.7], activation_beta = [0.1, 0.4], input_forget = 1} 3)"
          "(float64[3, 1, 2], float64[1, 4, 3], float64[1, 4, 1], float64[1, 8], -, -, -, -, float64[1, 1, 1], float64[1, 2, 1], float64[1, 1], "
          R"(float64[1, 2, 2], -, float64[1, 3, 1]) {direction = "reverse", hidden_size = 1} 3)",
  };
  op.attributes.push_back({"input_forget", AttributeKind::kInt, false, 0});
  return op;
}

}  // namespace svengine::ops

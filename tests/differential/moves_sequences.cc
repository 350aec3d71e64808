// Sequences and optionals: made, changed, and taken apart again. Other moves never see them, for what they are made of are tensors.
#include "engine/graph/bodies.h"
#include "engine/graph/builder.h"
#include "tests/differential/moves.h"

namespace svengine::differential {
namespace {

int64_t length(const GraphMaker& m, const Value* sequence) { return static_cast<int64_t>(m.tensor(sequence).items().size()); }

/// From first to last, from either end; a constant, or given.
Value* position(GraphMaker& m, int64_t first, int64_t last) {
  const Tensor at = Tensor::scalar(first > last ? 0 : m.choose.between(first, last));
  return m.choose.chance(0.4) ? m.input(at) : m.constant(at);
}

/// A value to put into a sequence: mostly like those that are there.
Value* item_for(GraphMaker& m, const Value* sequence) {
  const std::vector<Tensor>& items = m.tensor(sequence).items();
  if (!items.empty() && items[0].type() == m.real() && m.choose.chance(0.8)) return m.real_of(items[0].dims());
  return m.some_real();
}

Value* constructed(GraphMaker& m) {
  std::vector<Value*> items{m.some_real()};
  for (int64_t i = m.choose.between(0, 2); i > 0; --i) items.push_back(m.choose.chance(0.85) ? m.real_of(m.dims(items[0])) : m.existing_real());
  return m.container("SequenceConstruct", std::move(items));
}

Value* split(GraphMaker& m) {
  Value* x = m.real_of_rank(static_cast<size_t>(m.choose.between(1, 4)));
  const int64_t rank = static_cast<int64_t>(m.dims(x).size()), axis = m.choose.between(-rank, rank - 1);
  const int64_t size = m.dims(x)[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
  std::vector<Value*> inputs{x};
  Attributes attributes = make_attributes({{"axis", axis}});
  if (m.choose.chance(0.3))
    attributes.set("keepdims", m.choose.between(0, 1));
  else if (m.choose.chance(0.5))
    inputs.push_back(m.known(Tensor::scalar(m.choose.between(1, size + 1))));
  else if (const int64_t first = m.choose.between(0, size); true)
    inputs.push_back(m.integers({first, size - first}));
  return m.container("SplitToSequence", std::move(inputs), std::move(attributes));
}

Value* begun(GraphMaker& m) {
  if (m.choose.chance(0.5)) return constructed(m);
  if (m.choose.chance(0.6)) return split(m);
  return m.container("SequenceEmpty", {}, make_attributes({{"dtype", static_cast<int64_t>(m.real())}}));
}

Value* inserted(GraphMaker& m, Value* sequence, Value* item) {
  std::vector<Value*> inputs{sequence, item};
  if (m.choose.chance(0.4)) inputs.push_back(position(m, -length(m, sequence), length(m, sequence)));
  return m.container("SequenceInsert", std::move(inputs));
}

Value* erased(GraphMaker& m, Value* sequence) {
  std::vector<Value*> inputs{sequence};
  if (m.choose.chance(0.5)) inputs.push_back(position(m, -length(m, sequence), length(m, sequence) - 1));
  return m.container("SequenceErase", std::move(inputs));
}

/// A body that sees a sequence of `around`, and one of its tensors.
struct BodyAround {
  GraphMaker maker;
  Value *sequence, *tensor;

  BodyAround(GraphMaker& around, Value* seen, Value* x, bool trips) : maker(around) {
    if (trips) maker.input(Tensor::scalar(int64_t{0})), maker.input(Tensor::scalar(true));
    sequence = maker.input(around.tensor(seen), seen->type);
    tensor = maker.input(around.tensor(x));
  }

  /// Random nodes, and of their results one that a sequence can take.
  Value* item() {
    add_moves(maker, static_cast<size_t>(maker.choose.between(0, 3)));
    Value* x = maker.existing_real();
    return x ? x : tensor;
  }
};

/// A Loop whose every trip puts something behind the sequence, as PyTorch's lists become.
Value* looped(GraphMaker& m, Value* sequence) {
  Value* x = m.existing_real();
  if (m.depth() >= kDeepestBody || !x) return sequence;
  BodyAround body(m, sequence, x, true);
  Value* next = inserted(body.maker, body.sequence, body.item());
  std::vector<Value*> inputs{m.known(Tensor::scalar(m.choose.between(0, 3))), nullptr, sequence, x};
  capture_added(body.maker, 4, m, inputs);
  const auto captured = static_cast<int64_t>(inputs.size() - 3);
  const Subgraph graph = next ? body.maker.take_body({body.maker.graph().inputs()[1], next}) : nullptr;
  if (!graph) return sequence;
  return m.container("Loop", std::move(inputs), make_attributes({{"body", graph}, {kCaptured, captured}}));
}

/// An If whose branches give sequences, perhaps of other lengths.
Value* chosen(GraphMaker& m, Value* sequence) {
  Value* x = m.existing_real();
  if (m.depth() >= kDeepestBody || !x) return sequence;
  const Tensor truth = Tensor::scalar(m.choose.chance(0.5));
  std::vector<Value*> inputs{m.choose.chance(0.3) ? m.constant(truth) : m.input(truth), sequence, x};
  BodyAround yes(m, sequence, x, false), no(m, sequence, x, false);
  Value* given = inserted(yes.maker, yes.sequence, yes.item());
  capture_added(yes.maker, 2, m, inputs);
  for (size_t i = 3; i < inputs.size(); ++i) no.maker.input(m.tensor(inputs[i]));
  Value* other = m.choose.chance(0.5) ? erased(no.maker, no.sequence) : constructed(no.maker);
  capture_added(no.maker, inputs.size() - 1, m, inputs);
  for (size_t i = yes.maker.graph().inputs().size() + 1; i < inputs.size(); ++i) yes.maker.input(m.tensor(inputs[i]));
  if (!given || !other) return sequence;
  const auto captured = static_cast<int64_t>(inputs.size() - 1);
  const Subgraph then_branch = yes.maker.take_body({given}), else_branch = no.maker.take_body({other});
  if (!then_branch || !else_branch) return sequence;
  return m.container("If", std::move(inputs), make_attributes({{"then_branch", then_branch}, {"else_branch", else_branch}, {kCaptured, captured}}));
}

Value* changed(GraphMaker& m, Value* sequence) {
  switch (m.choose.below(7)) {
    case 0:
    case 1:
      return inserted(m, sequence, item_for(m, sequence));
    case 2:
      return erased(m, sequence);
    case 3:
      return m.container("Identity", {sequence});
    case 4:
      return m.container("OptionalGetElement", {m.container("Optional", {sequence})});
    case 5:
      return looped(m, sequence);
    default:
      return chosen(m, sequence);
  }
}

void read(GraphMaker& m, Value* sequence) {
  const int64_t count = length(m, sequence);
  const double how = m.choose.uniform(0, 1);
  if (how < 0.4 && count > 0) {
    m.add("SequenceAt", {sequence, position(m, -count, count - 1)});
  } else if (how < 0.8 && count > 0) {
    const int64_t rank = static_cast<int64_t>(m.tensor(sequence).items()[0].dims().size()), fresh = m.choose.between(0, 1);
    m.add("ConcatFromSequence", {sequence}, make_attributes({{"axis", m.choose.between(-rank - fresh, rank)}, {"new_axis", fresh}}));
  } else {
    m.add("SequenceLength", {sequence});
  }
}

}  // namespace

void add_sequence(GraphMaker& m) {
  Value* sequence = begun(m);
  for (int64_t i = m.choose.between(0, 3); i > 0 && sequence; --i) {
    if (m.choose.chance(0.15)) read(m, sequence);
    if (Value* next = changed(m, sequence)) sequence = next;
  }
  if (!sequence) return;
  read(m, sequence);
  if (m.choose.chance(0.3)) read(m, sequence);
}

void add_optional(GraphMaker& m) {
  Value* x = m.existing_real();
  Value* optional = m.container("Optional", {x});
  if (!optional) return;
  m.add("OptionalGetElement", {optional});
  if (m.choose.chance(0.5)) m.add("OptionalHasElement", {optional});
}

}  // namespace svengine::differential

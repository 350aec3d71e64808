// What a backward pass needs of the forward pass is kept for most of the step. Much of it is not worth its place: it is computed
// from other kept values in a pass or two over memory. Such a value dies after its first uses and is computed again in front of the
// late ones:
//
//   Conv ─> c ─> BatchNorm ─> Relu ─> r ─> Conv ..  ..   dW(r)        keeps c and r until the end
//
//   Conv ─> c ─> BatchNorm ─> Relu ─> r ─> Conv ..  ..  c ─> BatchNorm' ─> Relu' ─> r' ─> dW(r')        keeps c
//
// The copies are the same operators on the same values, so their results are the same bits. A training batch norm becomes
// the inference mode with the mean and variance that the batch had (outputs 3 and 4), which is how it computes its own result.
//
// Which values: the pass looks at the node where most memory is live. Of the values that lie idle there, the one that frees most
// for the bytes its copies move goes, if that lowers the peak; then it looks again. What a copy reads is kept from then on, so no
// chain of copies grows behind one another. At the end every copy is tried without: peaks that have moved elsewhere may have made
// it useless.
//
// No copy reads an input of the graph that may have been written over by then: weights that an optimiser's step changes in place,
// running statistics.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "engine/graph/passes/recompute.h"
#include "engine/graph/passes/repeat.h"

namespace svengine {
namespace {

constexpr int kDeepest = 4;             // nodes from what is kept to what is wanted: norm, activation, a view or reorder, one more
constexpr double kMostFlopsPerByte = 1;  // above it a node computes (a depthwise convolution: 2); below it moves memory
constexpr double kMostTraffic = 5;      // bytes moved for a byte of result: a residual sum moves 3, a 3x3 pooling of stride 2 five
constexpr int64_t kSmall = 16;          // a value that many times smaller than what it helps to free may live longer for it

bool is_cheap(const Node& node) {
  if (node.op().traits.is_view) return true;
  const Cost cost = cost_of(node);
  return cost.flops <= kMostFlopsPerByte * cost.bytes && cost.bytes <= kMostTraffic * stored_bytes(node.output()->type);
}

/// One storage that is given up between its early and its late uses.
struct Candidate {
  Node* before = nullptr;             // the first late use
  std::vector<Value*> wanted;         // values with late uses
  std::vector<Node*> originals;       // whose copies give them, in order
  std::vector<const Value*> sources;  // what the copies read
  double gain = 0, traffic = 0;       // bytes freed, bytes moved
};

/// Finds out what has to be copied to have a value again at a node.
class Recipe {
 public:
  Recipe(const Graph& graph, const LiveMemory& memory, int storage, Candidate& out)
      : graph_(graph), memory_(memory), storage_(storage), position_(memory.at(out.before)), out_(out) {
    bytes_ = memory.storages()[static_cast<size_t>(storage)].bytes;
    out_.gain = static_cast<double>(bytes_);
  }

  bool need(Value* value, int depth = kDeepest) {
    if (!value || value->is_constant() || made_.count(value)) return true;
    if (is_there(value)) {
      out_.sources.push_back(value);
      return true;
    }
    Node* node = value->producer();
    if (depth == 0 || !node || value != node->output() || !can_repeat(*node) || !is_cheap(*node)) return false;
    for (Value* in : inputs_of_copy(*node))
      if (!need(in, depth - 1)) return false;
    made_.insert(value);
    out_.originals.push_back(node);
    out_.traffic += cost_of(*node).bytes;
    return true;
  }

 private:
  /// May be read at the node, where it is in memory anyway or is small.
  bool is_there(const Value* value) {
    if (!value->producer())
      return !is_written_over(graph_, memory_, value, position_);
    const int storage = memory_.storage_of(value);
    if (storage < 0) return graph_.is_output(value);
    const LiveMemory::Storage& s = memory_.storages()[static_cast<size_t>(storage)];
    if (storage == storage_ || memory_.overwritten_at(value) <= position_) return false;
    if (s.last >= position_) return true;
    if (s.bytes * kSmall > bytes_) return false;
    out_.gain -= static_cast<double>(s.bytes);
    return true;
  }

  const Graph& graph_;
  const LiveMemory& memory_;
  const int storage_, position_;
  int64_t bytes_ = 0;
  Candidate& out_;
  std::unordered_set<const Value*> made_;
};

class Recomputation {
 public:
  explicit Recomputation(Graph& graph) : graph_(graph) {}

  void run() {
    while (lower_peak()) {
    }
    remove_useless();
  }

 private:
  struct Done {
    Candidate what;
    std::vector<Node*> copies;
    std::vector<RedirectedUse> uses;
  };

  bool lower_peak();
  std::vector<Candidate> candidates(const LiveMemory& memory) const;
  std::optional<Candidate> candidate(const LiveMemory& memory, int storage) const;
  Done apply(const Candidate& candidate, const LiveMemory& memory);
  void undo(const Done& done);
  bool others_read(const Done& done) const;
  void remove_useless();

  Graph& graph_;
  std::vector<Done> done_;
  std::unordered_set<const Value*> settled_;  // kept for copies, or tried in vain
  std::unordered_set<const Node*> copies_;
};

std::optional<Candidate> Recomputation::candidate(const LiveMemory& memory, int storage) const {
  const LiveMemory::Storage& s = memory.storages()[static_cast<size_t>(storage)];
  const int peak = memory.peak_at();
  if (s.first >= peak || s.last <= peak) return std::nullopt;
  Candidate out;
  for (Value* v : s.values) {
    if (settled_.count(v) || copies_.count(v->producer())) return std::nullopt;
    const int made = memory.at(v->producer());
    if (made == peak) return std::nullopt;
    if (made > peak) continue;  // lies where an earlier value lay, and is not kept over the peak
    bool late = false;
    for (Node* user : v->users()) {
      const int at = memory.at(user);
      if (at == peak) return std::nullopt;
      if (at < peak) continue;
      late = true;
      if (!out.before || at < memory.at(out.before)) out.before = user;
    }
    if (late) out.wanted.push_back(v);
  }
  if (!out.before) return std::nullopt;
  Recipe recipe(graph_, memory, storage, out);
  for (Value* v : out.wanted)
    if (!recipe.need(v)) return std::nullopt;
  if (2 * out.gain < static_cast<double>(s.bytes)) return std::nullopt;
  return out;
}

/// The best first.
std::vector<Candidate> Recomputation::candidates(const LiveMemory& memory) const {
  std::vector<Candidate> out;
  for (size_t i = 0; i < memory.storages().size(); ++i)
    if (std::optional<Candidate> c = candidate(memory, static_cast<int>(i))) out.push_back(std::move(*c));
  const auto better = [](const Candidate& a, const Candidate& b) { return a.gain * b.traffic > b.gain * a.traffic; };
  std::stable_sort(out.begin(), out.end(), better);
  return out;
}

Recomputation::Done Recomputation::apply(const Candidate& candidate, const LiveMemory& memory) {
  Done done{candidate, {}, {}};
  const std::unordered_map<const Value*, Value*> copy_of = copy_nodes(graph_, candidate.originals, candidate.before);
  for (const Node* original : candidate.originals) done.copies.push_back(copy_of.at(original->output())->producer());
  for (Value* v : candidate.wanted) redirect_uses(graph_, memory, v, copy_of.at(v), memory.at(candidate.before), done.uses);
  return done;
}

void Recomputation::undo(const Done& done) {
  for (const RedirectedUse& use : done.uses) graph_.set_input(use.node, use.slot, use.original);
  for (auto it = done.copies.rbegin(); it != done.copies.rend(); ++it) graph_.erase(*it);
}

/// Whether later copies were made of nodes that had come to read this one's: then it stays.
bool Recomputation::others_read(const Done& done) const {
  const auto own = [&](const Node* user) {
    return std::find(done.copies.begin(), done.copies.end(), user) != done.copies.end() ||
           std::any_of(done.uses.begin(), done.uses.end(), [&](const RedirectedUse& use) { return use.node == user; });
  };
  return std::any_of(done.copies.begin(), done.copies.end(), [&](const Node* copy) {
    const std::vector<Node*>& users = copy->output()->users();
    return !std::all_of(users.begin(), users.end(), own);
  });
}

/// One value less is kept. False when the peak cannot be lowered.
bool Recomputation::lower_peak() {
  const LiveMemory before(graph_);
  if (before.nodes().empty()) return false;
  const Node* highest = before.nodes()[static_cast<size_t>(before.peak_at())];
  for (const Candidate& c : candidates(before)) {
    Done done = apply(c, before);
    const LiveMemory after(graph_);
    const int64_t freed = before.peak() - after.live()[static_cast<size_t>(after.at(highest))];
    if (after.peak() <= before.peak() && 2 * static_cast<double>(freed) >= c.gain) {
      settled_.insert(c.sources.begin(), c.sources.end());
      copies_.insert(done.copies.begin(), done.copies.end());
      done_.push_back(std::move(done));
      return true;
    }
    undo(done);
    settled_.insert(c.wanted.begin(), c.wanted.end());
  }
  return false;
}

void Recomputation::remove_useless() {
  const int64_t peak = LiveMemory(graph_).peak();
  std::stable_sort(done_.begin(), done_.end(), [](const Done& a, const Done& b) { return a.what.traffic > b.what.traffic; });
  for (Done& done : done_) {
    if (others_read(done)) continue;
    undo(done);
    const LiveMemory without(graph_);
    if (without.peak() > peak) apply(done.what, without);
  }
}

}  // namespace

void recompute_cheap(Graph& graph) { Recomputation(graph).run(); }

}  // namespace svengine

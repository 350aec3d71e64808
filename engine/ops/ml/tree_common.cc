#include "engine/ops/ml/tree_common.h"

#include <algorithm>
#include <map>

#include "engine/ops/element.h"

namespace svengine::ops {
namespace {

/// Tasks of trees and rows: so many of each, that a batch of one uses threads too, and what a task walks stays in the cache.
constexpr int64_t kRowsOfTask = 64, kTreesOfTask = 128, kManyRows = 1024;

Result<TreeMode> tree_mode(const std::string& name) {
  constexpr std::pair<const char*, TreeMode> kModes[] = {
      {"BRANCH_LEQ", TreeMode::leq}, {"BRANCH_LT", TreeMode::lt},   {"BRANCH_GTE", TreeMode::gte}, {"BRANCH_GT", TreeMode::gt},
      {"BRANCH_EQ", TreeMode::eq},   {"BRANCH_NEQ", TreeMode::neq}, {"LEAF", TreeMode::leaf}};
  for (const auto& [known, mode] : kModes)
    if (name == known) return mode;
  return error("nodes_modes has '{}', needs BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ or LEAF", name);
}

using NodeName = std::pair<int64_t, int64_t>;  // tree, node

struct TreeNames {
  std::map<NodeName, TreeRef> places;
  std::map<NodeName, size_t> leaves;
};

Status read_votes(const Attributes& attributes, const std::string& prefix, const TreeNames& names, TreeSpec& spec) {
  const std::vector<int64_t> trees = attributes.get_ints(prefix + "_treeids"), nodes = attributes.get_ints(prefix + "_nodeids");
  const std::vector<int64_t> ids = attributes.get_ints(prefix + "_ids");
  const std::vector<double> weights = real_list(attributes, (prefix + "_weights").c_str());
  if (trees.size() != ids.size() || nodes.size() != ids.size() || weights.size() != ids.size())
    return error("{0}_treeids, {0}_nodeids, {0}_ids and {0}_weights have {1}, {2}, {3} and {4} entries, need as many", prefix,
                 trees.size(), nodes.size(), ids.size(), weights.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!names.places.count({trees[i], nodes[i]})) return error("{}: tree {} has no node {}", prefix, trees[i], nodes[i]);
    const auto leaf = names.leaves.find({trees[i], nodes[i]});
    if (leaf != names.leaves.end()) spec.leaves[leaf->second].emplace_back(ids[i], weights[i]);
  }
  return {};
}

/// Lists of attributes, all as long as there are nodes.
struct NodeLists {
  std::vector<int64_t> trees, ids, features, on_true, on_false, missing;
  std::vector<double> values;
  std::vector<std::string> modes;

  explicit NodeLists(const Attributes& a)
      : trees(a.get_ints("nodes_treeids")),
        ids(a.get_ints("nodes_nodeids")),
        features(a.get_ints("nodes_featureids")),
        on_true(a.get_ints("nodes_truenodeids")),
        on_false(a.get_ints("nodes_falsenodeids")),
        missing(a.get_ints("nodes_missing_value_tracks_true")),
        values(real_list(a, "nodes_values")),
        modes(string_list(a, "nodes_modes")) {}

  Status check() const {
    const size_t n = trees.size();
    for (const auto* list : {&ids, &features, &on_true, &on_false})
      if (list->size() != n) return error("nodes_* lists have {} and {} entries, need as many", n, list->size());
    if (values.size() != n || modes.size() != n || (!missing.empty() && missing.size() != n))
      return error("{} nodes, but {} nodes_values, {} nodes_modes and {} nodes_missing_value_tracks_true", n, values.size(),
                   modes.size(), missing.size());
    return {};
  }
};

/// What a task of trees and rows knows.
template <class Key>
struct TreeWork {
  std::shared_ptr<const Forest<Key>> forest;
  TreeAggregate aggregate;
  int64_t targets, stride;

  template <class T>
  void load_keys(const T* x, int64_t features, int64_t rows, Key* keys) const {
    using Wide = std::conditional_t<std::is_same_v<Key, int32_t>, float, double>;
    constexpr Key kGreatest = std::numeric_limits<Key>::max(), kLeast = std::numeric_limits<Key>::min();
    for (int64_t r = 0; r < rows; ++r)
      for (const TreeColumn& column : forest->columns) {
        const auto value = static_cast<Wide>(x[r * features + column.feature]);
        *keys++ = value == value ? tree_key(value) : column.missing_least ? kLeast : kGreatest;
      }
  }

  void vote(int32_t leaf, double* scores, uint8_t* voted) const {
    const auto at = static_cast<size_t>(leaf);
    for (int32_t v = forest->first_vote[at]; v < forest->first_vote[at + 1]; ++v) {
      const int32_t target = forest->vote_targets[static_cast<size_t>(v)];
      add(forest->vote_weights[static_cast<size_t>(v)], scores[target], voted[target]);
    }
  }
  void add(double weight, double& score, uint8_t& voted) const {
    if (aggregate == TreeAggregate::min)
      score = voted ? std::min(score, weight) : weight;
    else if (aggregate == TreeAggregate::max)
      score = voted ? std::max(score, weight) : weight;
    else
      score += weight;
    voted = 1;
  }
};

/// A row's scores in each chunk of trees: `targets` numbers, and bytes that say who had a vote.
struct ScoreMemory {
  Buffer scores, voted;
  int64_t chunks, targets;
  double* at(const Run& run, int64_t row, int64_t chunk) const {
    return run.get<double>(scores) + (row * chunks + chunk) * targets;
  }
  uint8_t* voted_at(const Run& run, int64_t row, int64_t chunk) const {
    return run.get<uint8_t>(voted) + (row * chunks + chunk) * targets;
  }
};

template <class Key, class T>
void emit_walk(LowerContext& c, const TreeWork<Key>& work, const ScoreMemory& memory, Rows rows) {
  const Buffer x = c.in(0);
  const int64_t blocks = ceil_div(rows.count, kRowsOfTask),
                scratch = kRowsOfTask * work.stride * static_cast<int64_t>(sizeof(Key));
  c.emit(
      "trees", blocks * memory.chunks,
      [=](const Run& run, int64_t begin, int64_t end) -> const char* {
        Key* keys = run.scratch<Key>();
        const Forest<Key>& forest = *work.forest;
        const auto trees = static_cast<int64_t>(forest.roots.size());
        for (int64_t task = begin; task < end; ++task) {
          const int64_t chunk = task % memory.chunks, first = task / memory.chunks * kRowsOfTask;
          const int64_t count = std::min(kRowsOfTask, rows.count - first);
          std::fill(keys + count * work.stride, keys + round_up(count, kTreeRows) * work.stride, Key{0});
          if (trees > 0) work.load_keys(run.get<const T>(x) + first * rows.features, rows.features, count, keys);
          for (int64_t r = 0; r < count; ++r) {
            std::fill_n(memory.at(run, first + r, chunk), memory.targets, 0.0);
            std::fill_n(memory.voted_at(run, first + r, chunk), memory.targets, uint8_t{0});
          }
          for (int64_t t = trees * chunk / memory.chunks; t < trees * (chunk + 1) / memory.chunks; ++t)
            for (int64_t r = 0; r < count; r += kTreeRows) {
              int32_t leaves[kTreeRows];
              walk_tree(forest, forest.roots[static_cast<size_t>(t)], keys + r * work.stride, work.stride, count - r, leaves);
              for (int64_t i = r; i < std::min(count, r + kTreeRows); ++i)
                work.vote(leaves[i - r], memory.at(run, first + i, chunk), memory.voted_at(run, first + i, chunk));
            }
        }
        return nullptr;
      },
      scratch);
}

/// Memory for the scores of so many rows and trees.
Result<ScoreMemory> score_memory(LowerContext& c, int64_t rows, int64_t trees, int64_t targets) {
  ScoreMemory memory{{}, {}, 1, targets};
  if (rows < kManyRows) memory.chunks = std::max<int64_t>(1, trees / kTreesOfTask);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(rows * memory.chunks, targets * 9, &bytes) || bytes > int64_t{1} << 46)
    return unimplemented("{} rows of {} targets are more than this operator works on", rows, targets);
  memory.scores = c.temporary(rows * memory.chunks * targets * 8);
  memory.voted = c.temporary(rows * memory.chunks * targets);
  return memory;
}

template <class Key>
Status emit_forest_steps(LowerContext& c, std::shared_ptr<const Forest<Key>> forest, TreeAggregate aggregate, const FinishRow& finish) {
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  const auto trees = static_cast<int64_t>(forest->roots.size());
  SV_ASSIGN(const ScoreMemory memory, score_memory(c, rows.count, trees, forest->targets));
  const auto stride = static_cast<int64_t>(forest->columns.size());
  const TreeWork<Key> work{std::move(forest), aggregate, memory.targets, stride};
  SV_TRY(check_columns(work.forest->columns, trees > 0, rows.features));
  with_feature_type(c.in_type(0).dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, float> == std::is_same_v<Key, int32_t>) emit_walk<Key, T>(c, work, memory, rows);
  });
  const int64_t scratch = (memory.targets + 1) * 9;
  c.emit(
      "tree_scores", ceil_div(rows.count, kRowsOfTask),
      [=](const Run& run, int64_t begin, int64_t end) -> const char* {
        double* scores = run.scratch<double>();
        auto* voted = reinterpret_cast<uint8_t*>(scores + memory.targets + 1);
        for (int64_t row = begin * kRowsOfTask; row < std::min(rows.count, end * kRowsOfTask); ++row) {
          std::fill_n(scores, memory.targets + 1, 0.0);
          std::fill_n(voted, memory.targets + 1, uint8_t{0});
          for (int64_t chunk = 0; chunk < memory.chunks; ++chunk)
            for (int64_t t = 0; t < memory.targets; ++t)
              if (memory.voted_at(run, row, chunk)[t]) work.add(memory.at(run, row, chunk)[t], scores[t], voted[t]);
          if (aggregate == TreeAggregate::average)
            for (int64_t t = 0; t < memory.targets; ++t) scores[t] /= static_cast<double>(trees);
          finish(run, row, {scores, voted});
        }
        return nullptr;
      },
      scratch);
  return {};
}

}  // namespace

std::vector<AttributeDef> tree_attributes() {
  return {ml_ints("nodes_treeids"),
          ml_ints("nodes_nodeids"),
          ml_ints("nodes_featureids"),
          ml_floats("nodes_values"),
          ml_tensor("nodes_values_as_tensor"),
          ml_floats("nodes_hitrates"),
          ml_tensor("nodes_hitrates_as_tensor"),
          ml_strings("nodes_modes"),
          ml_ints("nodes_truenodeids"),
          ml_ints("nodes_falsenodeids"),
          ml_ints("nodes_missing_value_tracks_true"),
          ml_floats("base_values"),
          ml_tensor("base_values_as_tensor"),
          ml_post_transform()};
}

Result<TreeSpec> read_trees(const Attributes& attributes, const std::string& prefix, int64_t targets) {
  const NodeLists lists(attributes);
  SV_TRY(lists.check());
  TreeSpec spec;
  spec.targets = targets;
  TreeNames names;
  std::vector<size_t> sources;  // of spec.nodes
  std::map<int64_t, bool> seen;
  for (size_t i = 0; i < lists.trees.size(); ++i) {
    SV_ASSIGN(const TreeMode mode, tree_mode(lists.modes[i]));
    const NodeName name{lists.trees[i], lists.ids[i]};
    const bool leaf = mode == TreeMode::leaf;
    const TreeRef place{static_cast<int64_t>(leaf ? spec.leaves.size() : spec.nodes.size()), leaf};
    if (!names.places.emplace(name, place).second) return error("tree {} has two nodes {}", name.first, name.second);
    if (seen.emplace(name.first, true).second) spec.roots.push_back(place);
    if (leaf) {
      names.leaves.emplace(name, spec.leaves.size());
      spec.leaves.emplace_back();
      continue;
    }
    sources.push_back(i);
    spec.nodes.push_back({mode, lists.features[i], lists.values[i], !lists.missing.empty() && lists.missing[i] != 0, {}, {}});
  }
  for (size_t n = 0; n < sources.size(); ++n) {
    const size_t i = sources[n];
    const auto on_true = names.places.find({lists.trees[i], lists.on_true[i]}),
               on_false = names.places.find({lists.trees[i], lists.on_false[i]});
    if (on_true == names.places.end() || on_false == names.places.end())
      return error("node {} of tree {} leads to nodes {} and {}, which are not both there", lists.ids[i], lists.trees[i],
                   lists.on_true[i], lists.on_false[i]);
    spec.nodes[n].on_true = on_true->second;
    spec.nodes[n].on_false = on_false->second;
  }
  SV_TRY(read_votes(attributes, prefix, names, spec));
  return spec;
}

Status check_columns(const std::vector<TreeColumn>& columns, bool has_trees, int64_t features) {
  for (const TreeColumn& column : columns)
    if (column.feature >= features && (has_trees || column.feature != 0))
      return error("a tree looks at feature {}, but rows have {}", column.feature, features);
  return {};
}

Status emit_forest(LowerContext& c, std::shared_ptr<const Forest<int32_t>> forest, TreeAggregate aggregate, const FinishRow& finish) {
  return emit_forest_steps(c, std::move(forest), aggregate, finish);
}
Status emit_forest(LowerContext& c, std::shared_ptr<const Forest<int64_t>> forest, TreeAggregate aggregate, const FinishRow& finish) {
  return emit_forest_steps(c, std::move(forest), aggregate, finish);
}

FinishRow finish_regression(Buffer y, DType type, int64_t targets, std::vector<double> base, PostTransform how) {
  return [=](const Run& run, int64_t row, TreeScores s) {
    for (int64_t t = 0; t < targets; ++t)
      if (!base.empty()) s.scores[t] += base[static_cast<size_t>(t)];
    const int64_t n = finish_scores(how, SecondScore::no, s.scores, targets);
    for (int64_t t = 0; t < n; ++t) {
      if (type == DType::f64)
        run.get<double>(y)[row * targets + t] = s.scores[t];
      else
        run.get<float>(y)[row * targets + t] = static_cast<float>(s.scores[t]);
    }
  };
}

}  // namespace svengine::ops

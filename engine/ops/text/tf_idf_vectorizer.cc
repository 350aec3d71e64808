// TfIdfVectorizer: how often each n-gram of a pool occurs in a row, with up to `max_skip_count` items left out between its items;
// IDF and TFIDF weight that by the n-gram, as the specification and ONNX Runtime do.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "engine/ops/lowering.h"
#include "engine/ops/text/text_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kLargestGramIndex = int64_t{1} << 31;

using Items = std::vector<int64_t>;

/// How often each n-gram occurs in a row, and which ones do: all zeros between rows, so that a row costs what occurs in it.
class GramCounts {
 public:
  /// In memory of bytes(size).
  GramCounts(uint32_t* memory, int64_t size) : counts_(memory), found_(memory + size) { std::fill_n(counts_, size, 0u); }
  static int64_t bytes(int64_t size) { return (2 * size + 1) * 4; }

  void add(int64_t gram) {
    found_[count_] = static_cast<uint32_t>(gram);  // one too many, if it was found before
    count_ += counts_[gram]++ == 0;
  }
  /// Calls f(n-gram, how often) for those that occurred, and forgets them.
  template <class F>
  void take(const F& f) {
    for (int64_t i = 0; i < count_; ++i) f(found_[i], std::exchange(counts_[found_[i]], 0u));
    count_ = 0;
  }

 private:
  uint32_t *counts_, *found_;
  int64_t count_ = 0;
};

/// The n-grams as a tree: an edge is an item, a node whose output is not negative ends an n-gram. All edges are in one table with open addressing.
class GramTree {
 public:
  void add(std::span<const int64_t> gram, int64_t output) {
    uint32_t node = 0;
    for (const int64_t item : gram) {
      if (2 * outputs_.size() >= edges_.size()) grow();
      Edge& edge = edges_[slot_of(node, item)];
      if (edge.to == 0) {
        edge = {item, node, static_cast<uint32_t>(outputs_.size())};
        outputs_.push_back(-1);
      }
      node = edge.to;
    }
    outputs_[node] = output;
  }

  /// Counts what occurs in `row` with exactly `distance` from item to item.
  void count(std::span<const int64_t> row, size_t distance, int64_t shortest, int64_t longest, GramCounts& counts) const {
    for (size_t start = 0; start < row.size(); ++start) {
      uint32_t node = 0;
      int64_t length = 1;
      for (size_t i = start; i < row.size() && length <= longest; i += distance, ++length) {
        node = edges_[slot_of(node, row[i])].to;
        if (node == 0) break;
        if (length >= shortest && outputs_[node] >= 0) counts.add(outputs_[node]);
      }
    }
  }

 private:
  struct Edge {
    int64_t item = 0;
    uint32_t from = 0, to = 0;  // 0, the root, is the end of none: the slot is free
  };

  /// Of the edge, or where it would be.
  size_t slot_of(uint32_t from, int64_t item) const {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
    const uint64_t once = (static_cast<uint64_t>(item) ^ uint64_t{from} << 40) * kGolden;
    size_t i = static_cast<size_t>(((once ^ once >> 32) * kGolden) >> 32) & (edges_.size() - 1);
    while (edges_[i].to != 0 && (edges_[i].item != item || edges_[i].from != from)) i = (i + 1) & (edges_.size() - 1);
    return i;
  }

  void grow() {
    std::vector<Edge> old(edges_.size() * 2);
    old.swap(edges_);
    for (const Edge& edge : old)
      if (edge.to != 0) edges_[slot_of(edge.from, edge.item)] = edge;
  }

  std::vector<Edge> edges_{8};  // a power of two, half of them free at least
  std::vector<int64_t> outputs_{-1};
};

struct Vectorizer {
  GramTree tree;
  std::unordered_map<std::string, int64_t> words;  // of a pool of strings: what stands for each in the tree
  int64_t shortest, longest, skips, size;
  bool counts_once;  // IDF
  std::vector<float> weights, none;  // none: with weights, of a row in which nothing occurs; else that is zeros

  float value(uint32_t count, int64_t gram) const {
    return static_cast<float>(counts_once ? std::min(count, 1u) : count) * (weights.empty() ? 1 : weights[static_cast<size_t>(gram)]);
  }

  void row(std::span<const int64_t> items, GramCounts& counts, float* out) const {
    int64_t least = shortest;
    for (int64_t distance = 1; distance - 1 <= skips && distance <= std::max<int64_t>(1, static_cast<int64_t>(items.size()));
         ++distance) {
      tree.count(items, static_cast<size_t>(distance), least, longest, counts);
      least = std::max<int64_t>(least, 2);  // single items know no distance
      if (least > longest) break;
    }
    if (none.empty()) std::fill_n(out, size, 0.0f);
    else std::copy(none.begin(), none.end(), out);
    counts.take([&](int64_t gram, uint32_t count) { out[gram] = value(count, gram); });
  }
};

Result<int64_t> tf_idf_size(const Attributes& attributes) {
  int64_t size = 0;
  for (const int64_t i : attributes.get_ints("ngram_indexes")) {
    if (i < 0 || i >= kLargestGramIndex) return error("ngram_indexes has {}, needs 0 to {}", i, kLargestGramIndex - 1);
    size = std::max(size, i + 1);
  }
  if (size == 0) return error("ngram_indexes is empty");
  return size;
}

/// The pool as numbers, and for strings what they stand for.
Items pool_items(const Attributes& attributes, Vectorizer& v) {
  const auto* strings = attributes.get<std::vector<std::string>>("pool_strings");
  if (!strings) return attributes.get_ints("pool_int64s");
  Items items;
  for (const std::string& s : *strings) items.push_back(v.words.emplace(s, static_cast<int64_t>(v.words.size())).first->second);
  return items;
}

Status fill_tree(const Attributes& attributes, const Items& pool, Vectorizer& v) {
  const std::vector<int64_t> starts = attributes.get_ints("ngram_counts"), places = attributes.get_ints("ngram_indexes");
  size_t id = 0;
  for (size_t k = 0; k < starts.size(); ++k) {
    const auto length = static_cast<int64_t>(k) + 1;
    const int64_t begin = starts[k], end = k + 1 < starts.size() ? starts[k + 1] : static_cast<int64_t>(pool.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool.size()) || (end - begin) % length != 0)
      return error("ngram_counts: {}-grams from item {} to {} of a pool of {}", length, begin, end, pool.size());
    for (int64_t at = begin; at < end; at += length, ++id) {
      if (id >= places.size()) return error("the pool has more n-grams than the {} of ngram_indexes", places.size());
      if (length >= v.shortest && length <= v.longest)
        v.tree.add(std::span(pool).subspan(static_cast<size_t>(at), static_cast<size_t>(length)), places[id]);
    }
  }
  return {};
}

Result<Vectorizer> make_vectorizer(const Attributes& attributes) {
  if (attributes.has("pool_strings") == attributes.has("pool_int64s")) return error("needs one of pool_strings and pool_int64s");
  Vectorizer v;
  v.shortest = attributes.get_int("min_gram_length");
  v.longest = attributes.get_int("max_gram_length");
  v.skips = attributes.get_int("max_skip_count");
  SV_ASSIGN(v.size, tf_idf_size(attributes));
  if (v.shortest < 1 || v.longest < v.shortest || v.skips < 0)
    return error("n-grams of {} to {} items with up to {} skipped: needs 1 <= least <= most, 0 <= skipped", v.shortest,
                 v.longest, v.skips);
  const std::string mode = attributes.get_string("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") return error("mode is '{}', needs TF, IDF or TFIDF", mode);
  v.counts_once = mode == "IDF";
  if (const auto* weights = attributes.get<std::vector<float>>("weights"); weights && mode != "TF" && !weights->empty()) {
    const std::vector<int64_t> places = attributes.get_ints("ngram_indexes");
    if (weights->size() != places.size()) return error("{} weights for {} n-grams", weights->size(), places.size());
    v.weights.resize(static_cast<size_t>(v.size));
    for (size_t i = 0; i < places.size(); ++i) v.weights[static_cast<size_t>(places[i])] = (*weights)[i];
  }
  for (int64_t i = 0; i < v.size && !v.weights.empty(); ++i) v.none.push_back(v.value(0, i));
  SV_TRY(fill_tree(attributes, pool_items(attributes, v), v));
  return v;
}

Status infer_tf_idf(InferContext& c) {
  SV_ASSIGN(const auto v, table_of<make_vectorizer>(c.attributes()));
  SV_TRY(require_dtype(c, 0, c.attributes().has("pool_strings") ? kStringType : kIndexTypes));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    c.set(0, DType::f32, Shape());
    return {};
  }
  if (x.rank() > 2) return error("X is {}: needs a list, or a matrix with a row for each", svengine::to_string(x));
  c.set(0, DType::f32, x.rank() == 2 ? Shape{x[0], Dim(v->size)} : Shape{Dim(v->size)});
  return {};
}

/// Input dimensions as rows of items.
std::pair<int64_t, int64_t> rows_of(const Dims& dims) {
  if (dims.size() == 2) return {dims[0], dims[1]};
  return {1, element_count(dims)};
}

Status lower_tf_idf(LowerContext& c) {
  SV_ASSIGN(const auto v, table_of<make_vectorizer>(c.attributes()));
  const auto [rows, items] = rows_of(c.in_dims(0));
  const bool wide = c.in_type(0).dtype == DType::i64;
  const Buffer x = c.in(0), y = c.out();
  const int64_t count_bytes = (GramCounts::bytes(v->size) + 7) / 8 * 8, scratch = count_bytes + items * 8;
  c.emit(
      "tf_idf", rows,
      [=, items = items](const Run& run, int64_t begin, int64_t end) -> const char* {
        GramCounts counts(run.scratch<uint32_t>(), v->size);
        int64_t* row = reinterpret_cast<int64_t*>(run.scratch<std::byte>() + count_bytes);
        for (int64_t r = begin; r < end; ++r) {
          for (int64_t i = 0; i < items; ++i)
            row[i] = wide ? run.get<const int64_t>(x)[r * items + i] : run.get<const int32_t>(x)[r * items + i];
          v->row({row, static_cast<size_t>(items)}, counts, run.get<float>(y) + r * v->size);
        }
        return nullptr;
      },
      scratch);
  return {};
}

Status evaluate_tf_idf(EvaluateContext& c) {
  SV_ASSIGN(const auto v, table_of<make_vectorizer>(c.attributes()));
  const auto [rows, items] = rows_of(c.input(0).dims());
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::f32, c.input(0).dims().size() == 2 ? Dims{rows, v->size} : Dims{v->size}));
  std::vector<uint32_t> memory(static_cast<size_t>(GramCounts::bytes(v->size) / 4));
  GramCounts counts(memory.data(), v->size);
  for (int64_t r = 0; r < rows; ++r) {
    Items row;
    for (const std::string& s : c.input(0).strings().subspan(static_cast<size_t>(r * items), static_cast<size_t>(items))) {
      const auto known = v->words.find(s);
      row.push_back(known == v->words.end() ? -1 : known->second);
    }
    v->row(row, counts, out.data<float>().data() + r * v->size);
  }
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_tf_idf_vectorizer() {
  return {
      .name = "TfIdfVectorizer",
      .since = 9,
      .inputs = "X",
      .attributes = {{"mode", AttributeKind::kString, true},
                     {"min_gram_length", AttributeKind::kInt, true},
                     {"max_gram_length", AttributeKind::kInt, true},
                     {"max_skip_count", AttributeKind::kInt, true},
                     {"ngram_counts", AttributeKind::kInts, true},
                     {"ngram_indexes", AttributeKind::kInts, true},
                     {"pool_int64s", AttributeKind::kInts},
                     {"pool_strings", AttributeKind::kStrings},
                     {"weights", AttributeKind::kFloats}},
      .infer = infer_tf_idf,
      .lower = lower_tf_idf,
      .evaluate = evaluate_tf_idf,
      .samples = R"((int64[12] 1 to 9) {mode = "TF", min_gram_length = 1, max_gram_length = 2, max_skip_count = 0, ngram_counts = [0, 4], )"
                 "ngram_indexes = [0, 1, 2, 3, 4, 5, 6], pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "
                 "weights = [1.0, 2.0, 0.5, 3.0, 1.0, 0.25, 2.0]}"
                 R"((int32[3, 9] 1 to 9) {mode = "TFIDF", min_gram_length = 2, max_gram_length = 2, max_skip_count = 5, )"
                 "ngram_counts = [0, 4], ngram_indexes = [0, 1, 2, 3, 4, 5, 6], pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "
                 "weights = [1.0, 2.0, 0.5, 3.0, 1.0, 0.25, 2.0]}"
                 R"((int64[2, 0] 1 to 9) {mode = "IDF", min_gram_length = 1, max_gram_length = 2, max_skip_count = 1, ngram_counts = [0, 4], )"
                 "ngram_indexes = [0, 1, 2, 3, 4, 5, 6], pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "
                 "weights = [1.0, 2.0, 0.5, 3.0, 1.0, 0.25, 2.0]}"
                 R"((int32[2, 20] 1 to 9) {mode = "IDF", min_gram_length = 1, max_gram_length = 2, max_skip_count = 3, )"
                 "ngram_counts = [0, 4], ngram_indexes = [0, 1, 2, 3, 4, 5, 6], pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "
                 "weights = [1.0, 2.0, 0.5, 3.0, 1.0, 0.25, 2.0]}",
  };
}

}  // namespace svengine::ops

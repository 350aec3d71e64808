// What Einsum answers, beside a loop over all of an equation's letters: every way that sums are computed, and relatives that are
// nearly it. On every kernel set.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/plan/plan.h"

namespace einsum_test {
using namespace svengine;

namespace {

struct Equation {
  std::vector<std::string> terms;
  std::string output;
};

/// "ij,jk->ik" without blanks or dots.
Equation equation_of(const std::string& text) {
  Equation e;
  e.output = text.substr(text.find("->") + 2);
  std::string term;
  for (const char letter : text.substr(0, text.find("->")) + ",") {
    if (std::isalpha(static_cast<unsigned char>(letter))) {
      term += letter;
    } else {
      e.terms.push_back(term);
      term.clear();
    }
  }
  return e;
}

/// Where the element at `letters`' values is in a dense tensor of these dimensions; dimensions of 1 repeat.
int64_t place_of(const std::string& term, const Dims& dims, const std::map<char, int64_t>& at) {
  int64_t place = 0;
  for (size_t i = 0; i < dims.size(); ++i) place = place * dims[i] + (dims[i] == 1 ? 0 : at.at(term[i]));
  return place;
}

template <class T>
struct Sums {
  Dims dims;
  std::vector<double> values;
};

template <class T>
Sums<T> einsum_by_definition(const Equation& e, const std::vector<Tensor>& inputs) {
  std::map<char, int64_t> size, at;
  for (size_t t = 0; t < e.terms.size(); ++t)
    for (size_t i = 0; i < e.terms[t].size(); ++i) size[e.terms[t][i]] = std::max(size[e.terms[t][i]], inputs[t].dims()[i]);
  Sums<T> sums;
  int64_t results = 1, all = 1;
  for (const char letter : e.output) sums.dims.push_back(size[letter]), results *= size[letter];
  for (const auto& [letter, n] : size) all *= n;
  sums.values.resize(static_cast<size_t>(results));
  for (int64_t flat = 0; flat < all; ++flat) {
    int64_t rest = flat;
    for (const auto& [letter, n] : size) at[letter] = rest % n, rest /= n;
    double product = 1;
    for (size_t t = 0; t < e.terms.size(); ++t)
      product *= static_cast<double>(inputs[t].data<T>()[static_cast<size_t>(place_of(e.terms[t], inputs[t].dims(), at))]);
    sums.values[static_cast<size_t>(place_of(e.output, sums.dims, at))] += product;
  }
  return sums;
}

/// Small whole numbers, whose sums are exact in every type.
template <class T>
void check_einsum(DType type, const std::string& text, const std::vector<Dims>& dims) {
  std::vector<Tensor> inputs;
  for (const Dims& d : dims) {
    MutableTensor t = Tensor::allocate(type, d).value();
    for (size_t i = 0; i < t.data<T>().size(); ++i) t.data<T>()[i] = static_cast<T>((i * 7 + inputs.size() * 5 + i / 3) % 11);
    inputs.push_back(std::move(t));
  }
  const Sums<T> want = einsum_by_definition<T>(equation_of(text), inputs);
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
    INFO(text << " in " << name_of(type) << ", " << set->name);
    Graph graph;
    std::vector<Value*> values;
    for (const Tensor& t : inputs) values.push_back(graph.add_constant("c", t));
    Node* node = graph.add_node(*all_ops().find("", "Einsum"), "n", std::move(values), 1, make_attributes({{"equation", text}}));
    if (Status s = infer_types(*node); !s.ok()) FAIL(s.error().message());
    const Result<std::vector<Tensor>> got = evaluate(*node, *set);
    if (!got.ok()) FAIL(got.error().message());
    REQUIRE((*got)[0].dims() == want.dims);
    const auto data = (*got)[0].data<T>();
    CHECK(std::equal(data.begin(), data.end(), want.values.begin(), [](T x, double y) { return static_cast<double>(x) == y; }));
  }
}

const std::vector<std::pair<std::string, std::vector<Dims>>>& equations() {
  static const std::vector<std::pair<std::string, std::vector<Dims>>> all{
      {"bchw->bhwc", {{2, 5, 3, 7}}},
      {"ii->i", {{9, 9}}},
      {"bij->bj", {{3, 5, 17}}},
      {"abcd->ca", {{3, 5, 7, 2}}},
      {"abcd->dba", {{3, 5, 1, 2}}},
      {"bii->b", {{3, 7, 7}}},
      {"ij->", {{9, 31}}},
      {"abcdefghij->acegi", {{2, 3, 2, 3, 2, 3, 2, 3, 2, 3}}},
      {"bi,bj->bij", {{3, 9}, {3, 20}}},
      {"ba,ca->abc", {{3, 9}, {20, 9}}},
      {"bld,bdn->bldn", {{2, 9, 5}, {2, 5, 6}}},
      {"i,->i", {{33}, {}}},
      {"ij,ij->ji", {{1, 7}, {6, 7}}},
      {"aab,b->ba", {{5, 5, 4}, {4}}},
      {"abcdefghi,ihgfedcba->abcdefghi", {{2, 3, 2, 3, 2, 3, 2, 3, 2}, {2, 3, 2, 3, 2, 3, 2, 3, 2}}},
      {"ija,ab->ijb", {{3, 40, 1}, {1, 12}}},
      {"acbe,aecd->abcd", {{1, 3, 7, 19}, {1, 19, 3, 8}}},
      {"acbe,aecd->abcd", {{2, 3, 7, 19}, {2, 19, 3, 8}}},
      {"bme,ben->nbm", {{2, 7, 19}, {2, 19, 8}}},
      {"bme,ben->bnm", {{2, 7, 19}, {2, 19, 8}}},
      {"mae,ebn->bamn", {{7, 4, 19}, {19, 3, 8}}},
      {"bij,bjk->bik", {{2, 9, 8}, {2, 8, 7}}},
      {"k,kn->n", {{65}, {65, 40}}},
      {"nk,k->n", {{40, 65}, {65}}},
      {"ij,jk,kl->il", {{5, 17}, {17, 9}, {9, 12}}},
      {"ij,ik,jk->k", {{5, 17}, {5, 9}, {17, 9}}},
      {"aij,b->ai", {{2, 0, 3}, {4}}},
      {"aj,jb->ab", {{5, 0}, {0, 60}}},
  };
  return all;
}

}  // namespace

TEST_CASE("Einsum answers what a loop over its letters does") {
  for (const auto& [text, dims] : equations()) {
    check_einsum<float>(DType::f32, text, dims);
    check_einsum<double>(DType::f64, text, dims);
    check_einsum<int32_t>(DType::i32, text, dims);
    check_einsum<uint32_t>(DType::u32, text, dims);
    check_einsum<int64_t>(DType::i64, text, dims);
  }
  check_einsum<uint8_t>(DType::u8, "bij->bj", {{3, 2, 17}});
  check_einsum<int16_t>(DType::i16, "bi,bj->bji", {{3, 9}, {3, 20}});
}
}  // namespace einsum_test

#include "engine/ops/math/einsum_common.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

constexpr int kDots = 0;  // in a parsed term: "..."

/// Letters and kDots of one term.
Result<std::vector<int>> einsum_term(const std::string& text) {
  std::vector<int> term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      term.push_back(static_cast<unsigned char>(text[i]));
    } else if (text.compare(i, 3, "...") == 0) {
      if (std::count(term.begin(), term.end(), kDots)) return error("the term '{}' has two ellipses", text);
      term.push_back(kDots);
      i += 2;
    } else {
      return error("the term '{}' holds '{}'; letters and ... are what an equation is made of", text, text[i]);
    }
  }
  return term;
}

/// A term with its "..." spelled out to `dots` labels.
std::vector<int> spelled_out(const std::vector<int>& term, int64_t dots) {
  std::vector<int> labels;
  for (const int label : term) {
    if (label != kDots) labels.push_back(label);
    for (int64_t i = dots; label == kDots && i-- > 0;) labels.push_back(kEinsumEllipsis + static_cast<int>(i));
  }
  return labels;
}

/// What the output is where the equation does not say: "...", then the letters that occur once, in the alphabet's order.
std::vector<int> implied_output(const std::vector<std::vector<int>>& terms) {
  std::map<int, int> times;
  for (const auto& term : terms)
    for (const int label : term) ++times[label];
  std::vector<int> output;
  for (const auto& [label, count] : times)
    if (label == kDots || count == 1) output.push_back(label);
  return output;
}

Status check_output(const std::vector<int>& output, const std::vector<std::vector<int>>& terms) {
  for (const int label : output) {
    if (label == kDots) continue;
    if (std::count(output.begin(), output.end(), label) > 1) return error("the output has '{}' twice", static_cast<char>(label));
    const auto holds = [label](const std::vector<int>& term) { return std::count(term.begin(), term.end(), label) > 0; };
    if (std::none_of(terms.begin(), terms.end(), holds))
      return error("the output's '{}' is in no operand", static_cast<char>(label));
  }
  return {};
}

}  // namespace

Result<EinsumEquation> einsum_equation(const std::string& text, const std::vector<int64_t>& ranks) {
  std::string plain;
  for (const char ch : text)
    if (!std::isspace(static_cast<unsigned char>(ch))) plain += ch;
  const size_t arrow = plain.find("->");
  const std::string left = plain.substr(0, arrow);
  std::vector<std::vector<int>> terms;
  for (size_t from = 0; from <= left.size();) {
    const size_t comma = std::min(left.find(',', from), left.size());
    SV_ASSIGN(terms.emplace_back(), einsum_term(left.substr(from, comma - from)));
    from = comma + 1;
  }
  if (terms.size() != ranks.size()) return error("equation '{}' has {} terms for {} inputs", text, terms.size(), ranks.size());
  std::vector<int> output = implied_output(terms);
  if (arrow != std::string::npos) {
    SV_ASSIGN(output, einsum_term(plain.substr(arrow + 2)));
  }
  SV_TRY(check_output(output, terms));
  EinsumEquation equation;
  int64_t most = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool dots = std::count(terms[i].begin(), terms[i].end(), kDots) > 0;
    const int64_t letters = static_cast<int64_t>(terms[i].size()) - dots;
    if (ranks[i] < 0 && dots) return error("input {} of unknown rank stands for a term with an ellipsis", i);
    if (ranks[i] >= 0 && (dots ? ranks[i] < letters : ranks[i] != letters))
      return error("input {} has rank {}, its term in '{}' {} dimensions{}", i, ranks[i], text, letters, dots ? " or more" : "");
    equation.terms.push_back(spelled_out(terms[i], dots ? ranks[i] - letters : 0));
    if (dots) most = std::max(most, ranks[i] - letters);
  }
  equation.output = spelled_out(output, most);
  return equation;
}

Result<Dim> einsum_size(const EinsumEquation& equation, const std::vector<Shape>& shapes, int label) {
  Dim size(1);
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t k = 0; shapes[i].has_rank() && k < equation.terms[i].size(); ++k) {
      const Dim& d = shapes[i][k];
      if (equation.terms[i][k] != label || (d.is_static() && d.value() == 1)) continue;
      if (known_different(size, d) && size.value() != 1)
        return error("dimension {} of input {} of shape {} is {}, but {} elsewhere", k, i, to_string(shapes[i]), d.value(),
                     size.value());
      size = size.is_static() && size.value() != 1 ? size : d;
    }
  return size;
}

EinsumLetters::EinsumLetters(const EinsumEquation& equation) {
  for (const auto& term : equation.terms)
    for (const int label : term)
      if (label < kEinsumEllipsis) used_ += static_cast<char>(label);
}

Result<std::string> EinsumLetters::term(const std::vector<int>& labels) {
  std::string text;
  for (const int label : labels) {
    if (label < kEinsumEllipsis) {
      text += static_cast<char>(label);
      continue;
    }
    const auto at = static_cast<size_t>(label - kEinsumEllipsis);
    while (dots_.size() <= at) {
      SV_ASSIGN(const char letter, unused());
      dots_ += letter;
    }
    text += dots_[at];
  }
  return text;
}

Result<char> EinsumLetters::unused() {
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const size_t letter = kAll.find_first_not_of(used_);
  if (letter == std::string_view::npos) return error("has no letter left for another dimension of the equation");
  used_ += kAll[letter];
  return kAll[letter];
}

}  // namespace svengine::ops

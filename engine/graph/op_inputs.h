// Which inputs an operator has, by the names that its specification gives them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/graph/input_set.h"

namespace svengine {

struct Arity {
  int min = 1;
  int max = 1;  // kVariadic: any number
};
inline constexpr int kVariadic = 1 << 20;

/// Names of inputs in their order, separated by ", ". Behind a name stands "?" where a node may leave the input out ("" in a file, or at
/// the end nothing), and "..." behind the last one where it stands for any number of inputs:
///
///   "X, W, B?"                  two or three
///   "inputs..."                 one or more
///   "M?, cond?, v_initial?..."  any number, also none
///
/// Text is kept, not copied, and read by the compiler: what is written otherwise does not compile.
class OpInputs {
 public:
  consteval OpInputs(const char* names) : names_(names) {
    std::string_view left = names;
    while (!left.empty()) {
      if (arity_.max == kVariadic) throw "inputs behind \"...\"";
      add(left.substr(0, left.find(", ")));
      left.remove_prefix(left.find(", ") == left.npos ? left.size() : left.find(", ") + 2);
    }
  }
  /// `least` to `most` inputs, of which the first `least` are required, and which messages know by number alone: of operators that others
  /// define.
  constexpr OpInputs(int least, int most) : arity_{least, most}, count_(most == kVariadic ? least + 1 : most) {
    for (int i = 0; i < least; ++i) required_.insert(i);
  }

  /// How many a node may list: `min` ends with the last that is required.
  constexpr const Arity& arity() const { return arity_; }
  constexpr bool is_variadic() const { return arity_.max == kVariadic; }
  /// The last name's, which stands for all behind it where is_variadic(); -1: there are none.
  constexpr int last() const { return count_ - 1; }
  /// Must it be there, where a node lists so many?
  constexpr bool is_required(size_t input) const { return required_.has(listed(input)); }
  /// "" where it has none.
  std::string_view name(size_t input) const;
  /// For messages: "input 1 (W)".
  std::string described(size_t input) const;
  /// As it was written.
  constexpr std::string_view text() const { return names_; }

 private:
  constexpr size_t listed(size_t input) const {
    return is_variadic() && input > static_cast<size_t>(last()) ? static_cast<size_t>(last()) : input;
  }
  consteval void add(std::string_view name) {
    const bool variadic = name.ends_with("...");
    if (variadic) name.remove_suffix(3);
    const bool optional = name.ends_with('?');
    if (optional) name.remove_suffix(1);
    if (name.empty() || name.find_first_of(" ,?.") != name.npos) throw "no name of an input";
    if (!optional) required_.insert(count_);
    ++count_;
    if (!optional) arity_.min = count_;
    arity_.max = variadic ? kVariadic : count_;
  }

  const char* names_ = "";
  Arity arity_{0, 0};
  int count_ = 0;  // those behind "..." are one
  InputSet required_;
};

}  // namespace svengine

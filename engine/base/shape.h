// Shapes: concrete ones (Dims) and those of a graph, whose dimensions may be symbolic or unknown (Shape).
#pragma once
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

/// A concrete shape: every dimension known, outermost first. Rank 0 is a scalar.
using Dims = std::vector<int64_t>;

/// Product of the dimensions. Only for dims that check_dims() has accepted.
int64_t element_count(std::span<const int64_t> dims);

/// Refuses negative dimensions, more than 32 of them, and products above 2^48 elements.
Status check_dims(std::span<const int64_t> dims);

/// "1x3x224x224"; "scalar" for rank 0.
std::string to_string(std::span<const int64_t> dims);

/// One dimension of a graph value: a number, a name (equal names are equal sizes), or nothing known.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : value_(value) {}
  explicit Dim(std::string symbol) : symbol_(std::move(symbol)) {}

  bool is_static() const { return value_ >= 0; }
  bool is_symbolic() const { return !is_static() && !symbol_.empty(); }
  int64_t value() const { return value_; }
  const std::string& symbol() const { return symbol_; }
  /// Equal and known to be so: two unknown dimensions are not.
  bool same(const Dim& other) const {
    return is_static() ? value_ == other.value_ : is_symbolic() && symbol_ == other.symbol_ && !other.is_static();
  }
  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  int64_t value_ = -1;
  std::string symbol_;
};

/// The shape of a graph value: of unknown rank, or a list of Dim. Nothing is known of a dimension beyond the rank: an operator's rule that
/// asks for one without having compared the rank reads an unknown Dim, and not the memory behind the list (where assertions are compiled,
/// as in the presets dev, asan and fuzz, it ends there).
class Shape {
 public:
  Shape() = default;
  Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  Shape(std::initializer_list<Dim> dims) : dims_(std::vector<Dim>(dims)) {}
  static Shape of(std::span<const int64_t> dims) { return Shape(std::vector<Dim>(dims.begin(), dims.end())); }

  bool has_rank() const { return dims_.has_value(); }
  int64_t rank() const { return dims_ ? static_cast<int64_t>(dims_->size()) : -1; }
  /// None where the rank is unknown.
  const std::vector<Dim>& dims() const { return dims_ ? *dims_ : kNone; }
  const Dim& operator[](size_t i) const {
    assert(i < dims().size());
    return i < dims().size() ? dims()[i] : unknown();
  }
  /// The innermost.
  const Dim& back() const { return (*this)[dims().size() - 1]; }
  /// i is below the rank.
  void set(size_t i, Dim dim) {
    assert(i < dims().size());
    (*dims_)[i] = std::move(dim);
  }
  bool is_static() const;
  /// The concrete dimensions, when all are known.
  std::optional<Dims> concrete() const;
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  static const std::vector<Dim> kNone;
  static const Dim& unknown();
  std::optional<std::vector<Dim>> dims_;
};

/// "Nx3x224x?", "scalar", or "?" for unknown rank, as the text form of a graph prints it.
std::string to_string(const Shape& shape);

}  // namespace svengine

#include "engine/graph/op_inputs.h"

#include <catch2/catch.hpp>

namespace op_inputs_test {
using namespace svengine;

TEST_CASE("names say how many inputs there are, and which must be there") {
  constexpr OpInputs conv = "X, W, B?";
  static_assert(conv.arity().min == 2 && conv.arity().max == 3 && conv.last() == 2 && !conv.is_variadic());
  CHECK(conv.name(1) == "W");
  CHECK(conv.described(2) == "input 2 (B)");
  CHECK(conv.described(3) == "input 3");
  CHECK(conv.is_required(1));
  CHECK_FALSE(conv.is_required(2));
  CHECK_FALSE(conv.is_required(3));

  constexpr OpInputs add = "A, A_zero?, B, B_zero?";
  static_assert(add.arity().min == 3 && add.arity().max == 4);
  CHECK_FALSE(add.is_required(1));
  CHECK(add.is_required(2));

  constexpr OpInputs none = "";
  static_assert(none.arity().max == 0 && none.last() == -1);
  CHECK(none.name(0).empty());
}

TEST_CASE("the last name may stand for any number of inputs") {
  constexpr OpInputs concat = "inputs...", loop = "M?, cond?, v_initial?...";
  static_assert(concat.arity().min == 1 && concat.is_variadic() && loop.arity().min == 0 && loop.is_variadic());
  CHECK(concat.is_required(70));
  CHECK(concat.described(70) == "input 70 (inputs)");
  CHECK(loop.name(1) == "cond");
  CHECK(loop.name(9) == "v_initial");
  CHECK_FALSE(loop.is_required(9));
}

TEST_CASE("inputs without names are known by number") {
  constexpr OpInputs some(1, 3), many(0, kVariadic);
  CHECK(some.described(0) == "input 0");
  CHECK(some.is_required(0));
  CHECK_FALSE(some.is_required(1));
  CHECK(many.described(5) == "input 5");
  CHECK_FALSE(many.is_required(5));
}
}  // namespace op_inputs_test

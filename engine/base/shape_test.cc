#include "engine/base/shape.h"

#include <catch2/catch.hpp>

namespace svengine::shape_test {
namespace {

TEST_CASE("shapes are printed as the text form writes them") {
  CHECK(to_string(Shape({Dim("N"), 3, Dim()})) == "Nx3x?");
  CHECK(to_string(Shape(std::vector<Dim>{})) == "scalar");
  CHECK(to_string(Shape()) == "?");
}

TEST_CASE("an unknown dimension is the same as no other") {
  CHECK(Dim(3).same(Dim(3)));
  CHECK(Dim("N").same(Dim("N")));
  CHECK_FALSE(Dim("N").same(Dim("M")));
  CHECK_FALSE(Dim().same(Dim()));
  CHECK_FALSE(Dim(3).same(Dim("N")));
}

TEST_CASE("a shape of unknown rank lists no dimensions") {
  CHECK(Shape().rank() == -1);
  CHECK(Shape().dims().empty());
}

#ifdef NDEBUG  // elsewhere an assertion ends the program
TEST_CASE("nothing is known of a dimension beyond the rank") {
  const Shape shape{2, 3};
  CHECK(shape[1].value() == 3);
  for (const Dim& beyond : {shape[2], shape[1000], Shape()[0], Shape(std::vector<Dim>{}).back(), Shape().back()}) {
    CHECK_FALSE(beyond.is_static());
    CHECK_FALSE(beyond.is_symbolic());
  }
}
#endif

}  // namespace
}  // namespace svengine::shape_test

// For tests: the value of what must not fail.
#pragma once
#include <catch2/catch.hpp>
#include <utility>

#include "engine/base/status.h"

namespace svengine::tests {

/// Ends the test case with the error's message where there is one.
template <class T>
T must(Result<T> result) {
  if (!result.ok()) FAIL(result.error().message());
  return std::move(result).value();
}

}  // namespace svengine::tests

// What ONNX's own backend tests hold is valid: check says so of every model, and of those of other opsets too.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "validate/check/check_test_util.h"

namespace onnx_models_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr const char* kModels = "/usr/lib/python3/dist-packages/onnx/backend/test/data";  // package libonnx-testdata
#ifdef SVENGINE_EMULATED
constexpr size_t kEvery = 40;  // the same code, and slow
#else
constexpr size_t kEvery = 1;
#endif

std::vector<std::string> backend_models() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kModels))
    if (entry.path().extension() == ".onnx") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("no model of ONNX's backend tests has an error") {
  REQUIRE(std::filesystem::exists(kModels));
  const std::vector<std::string> models = backend_models();
  REQUIRE(models.size() > 900);
  for (size_t i = 0; i < models.size(); i += kEvery) {
    const Result<validate::CheckReport> report = validate::check_model(models[i]);
    INFO(models[i]);
    REQUIRE(report.ok());
    INFO(findings_text(*report));
    CHECK(report->findings.count_of(validate::Level::error) == 0);
  }
}
}  // namespace onnx_models_test

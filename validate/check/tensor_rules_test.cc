// Models that break the rules of tensors, of data in other files, and of weights.
#include <unistd.h>

#include <cmath>
#include <limits>

#include "validate/check/check_test_util.h"
#include "validate/check/sha1.h"

namespace tensor_rules_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

TensorProto* weight(ModelProto& m) { return m.mutable_graph()->mutable_initializer(0); }

/// Weight w with data in a file: twelve bytes that are needed, in w.bin of sixteen.
TensorProto* outside(ModelProto& m, const std::vector<std::pair<std::string, std::string>>& entries) {
  TensorProto* w = weight(m);
  w->clear_raw_data();
  w->set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = w->add_external_data();
    entry->set_key(key), entry->set_value(value);
  }
  return w;
}

std::function<void(ModelProto&)> outside_at(const std::string& key, const std::string& value) {
  return [=](ModelProto& m) {
    if (key == "location")
      outside(m, {{key, value}});
    else
      outside(m, {{"location", "w.bin"}, {key, value}});
  };
}

/// The dense shape [4] with values at these places.
SparseTensorProto* add_sparse(ModelProto& m, const std::vector<int64_t>& indices, int64_t values = 2) {
  SparseTensorProto* sparse = m.mutable_graph()->add_sparse_initializer();
  sparse->mutable_values()->set_name("s");
  fill_raw(sparse->mutable_values(), {values}, std::vector<float>(static_cast<size_t>(values), 1));
  TensorProto* places = sparse->mutable_indices();
  places->set_data_type(TensorProto::INT64);
  places->add_dims(static_cast<int64_t>(indices.size()));
  for (int64_t i : indices) places->add_int64_data(i);
  sparse->add_dims(4);
  return sparse;
}

std::function<void(ModelProto&)> weight_of(float value) {
  return [=](ModelProto& m) { fill_raw(weight(m), {}, {1, value, 3}); };
}

void add_kib(ModelProto& m, const std::string& name) { add_initializer(m, name, {256}, std::vector<float>(256, 1)); }

std::vector<RuleCase> content_cases() {
  return {
      {"tensor-type", "has no element type", [](ModelProto& m) { weight(m)->clear_data_type(); }},
      {"tensor-type", "element type 9999", [](ModelProto& m) { weight(m)->set_data_type(9999); }},
      {"tensor-dims", "-3", [](ModelProto& m) { weight(m)->set_dims(0, -3); }},
      {"tensor-dims", "initializer 'w'", [](ModelProto& m) { weight(m)->set_dims(0, INT64_MAX), weight(m)->add_dims(4); }},
      {"tensor-fields", "two fields", [](ModelProto& m) { weight(m)->add_float_data(1); }},
      {"tensor-fields", "has no data", [](ModelProto& m) { weight(m)->clear_raw_data(); }},
      {"tensor-fields", "strings are kept in string_data", [](ModelProto& m) { weight(m)->set_data_type(TensorProto::STRING); }},
      {"tensor-fields", "in int64_data", [](ModelProto& m) { weight(m)->clear_raw_data(), weight(m)->add_int64_data(1); }},
      {"tensor-data", "raw_data has 11 bytes", [](ModelProto& m) { weight(m)->mutable_raw_data()->pop_back(); }},
      {"tensor-data", "raw_data has 12 bytes, a float32 tensor of shape 0 needs 0", [](ModelProto& m) { weight(m)->set_dims(0, 0); }},
      {"tensor-data", "float_data has 1 elements", [](ModelProto& m) { weight(m)->clear_raw_data(), weight(m)->add_float_data(1); }},
      {"tensor-data", "which is no uint8",
       [](ModelProto& m) {
         weight(m)->clear_raw_data(), weight(m)->set_data_type(TensorProto::UINT8);
         for (int i : {1, 2, 300}) weight(m)->add_int32_data(i);
       }},
      {"tensor-data", "float_data has 3 entries",  // complex numbers are two each
       [](ModelProto& m) {
         weight(m)->clear_raw_data(), weight(m)->set_data_type(TensorProto::COMPLEX64);
         for (int i : {1, 2, 3}) weight(m)->add_float_data(static_cast<float>(i));
       }},
      {"tensor-data", "raw_data has 12 bytes",  // three int4 are two bytes
       [](ModelProto& m) { weight(m)->set_data_type(22); }},
      {"tensor-segment", "segments", [](ModelProto& m) { weight(m)->mutable_segment(); }},
      {"tensor-bool", "1 of 3 bytes",
       [](ModelProto& m) { weight(m)->set_data_type(TensorProto::BOOL), weight(m)->set_raw_data(std::string("\0\1\2", 3)); }},
  };
}

std::vector<RuleCase> sparse_cases() {
  return {
      {"sparse-tensor", "has no values",
       [](ModelProto& m) {
         add_sparse(m, {0, 1})->clear_values();
       }},
      {"sparse-tensor", "has no dimensions",
       [](ModelProto& m) {
         add_sparse(m, {0, 1})->clear_dims();
       }},
      {"sparse-tensor", "dimension 0 is not positive",
       [](ModelProto& m) {
         add_sparse(m, {0, 1})->set_dims(0, 0);
       }},
      {"sparse-tensor", "indices have",
       [](ModelProto& m) {
         add_sparse(m, {0, 1, 2});
       }},
      {"sparse-tensor", "no indices",
       [](ModelProto& m) {
         add_sparse(m, {0, 1})->clear_indices();
       }},
      {"sparse-order", "index 1 is outside",
       [](ModelProto& m) {
         add_sparse(m, {0, 4});
       }},
      {"sparse-order", "index 0 is outside",
       [](ModelProto& m) {
         add_sparse(m, {-1, 1});
       }},
      {"sparse-order", "index 1 is not behind",
       [](ModelProto& m) {
         add_sparse(m, {2, 1});
       }},
  };
}

std::vector<RuleCase> outside_cases() {
  return {
      {"external-location", "without a location", [](ModelProto& m) { outside(m, {}); }},
      {"external-location", "'..'", outside_at("location", "../secret")},
      {"external-location", "'..'", outside_at("location", "a/../../secret")},
      {"external-location", "absolute", outside_at("location", "/etc/passwd")},
      {"external-location", "empty", outside_at("location", "")},
      {"external-location", "NUL", outside_at("location", std::string("w.bin\0x", 7))},
      {"external-location", "5000 bytes", outside_at("location", std::string(5000, 'w'))},
      {"external-file", "No such file", outside_at("location", "missing.bin")},
      {"external-file", "symbolic link", outside_at("location", "link.bin")},
      {"external-file", "hard links", outside_at("location", "hard.bin")},
      {"external-range", "offset '-1'", outside_at("offset", "-1")},
      {"external-range", "offset 'x'", outside_at("offset", "x")},
      {"external-range", "12 bytes from byte 5", outside_at("offset", "5")},
      {"external-range", "length is 11 bytes", outside_at("length", "11")},
      {"external-range", "length is 1000000000000000000 bytes", outside_at("length", "1000000000000000000")},
      {"external-entry", "'colour'", outside_at("colour", "red")},
      {"external-entry", "'location' is there twice", outside_at("location", "w.bin"), 0},
      {"external-checksum", "has the SHA-1", outside_at("checksum", std::string(40, '0'))},
      {"weight-nan", "1 of 3 numbers", weight_of(std::numeric_limits<float>::quiet_NaN())},
      {"weight-infinity", "1 of 3 numbers", weight_of(-std::numeric_limits<float>::infinity())},
      {"weight-subnormal", "1 of 3 numbers", weight_of(std::numeric_limits<float>::denorm_min())},
      {"weight-duplicate", "the same 1024 bytes as initializer 'a'", [](ModelProto& m) { add_kib(m, "a"), add_kib(m, "b"); }},
      {"weights-unread", "'w.bin'",
       [](ModelProto& m) {
         outside(m, {{"location", "w.bin"}});
         for (int i = 0; i < 5; ++i)
           *m.mutable_graph()->add_initializer() = *weight(m), m.mutable_graph()->mutable_initializer(i + 1)->set_name(std::to_string(i));
       }},
  };
}

}  // namespace

TEST_CASE("tensors, data in other files and weights") {
  const TestFolder folder;
  folder.file("w.bin", std::string(16, '\0'));
  REQUIRE(symlink("w.bin", (folder.path() + "/link.bin").c_str()) == 0);
  folder.file("hard.bin", std::string(16, '\0'));
  REQUIRE(link((folder.path() + "/hard.bin").c_str(), (folder.path() + "/hard2.bin").c_str()) == 0);
  std::vector<RuleCase> cases = tensor_cases();
  for (RuleCase& c : cases)
    if (c.says.find("'location' is there twice") != std::string::npos)
      c.breaks = [](ModelProto& m) { outside(m, {{"location", "w.bin"}, {"location", "w.bin"}}); };
  check_cases(cases, folder.path());
}

TEST_CASE("good data in other files have no findings") {
  const TestFolder folder;
  const std::string content(16, '\0');
  folder.file("w.bin", content);
  ModelProto model = good_model();
  outside(model,
          {{"location", "w.bin"}, {"offset", "4"}, {"length", "12"}, {"checksum", validate::sha1_of(std::as_bytes(std::span(content)))}});
  CHECK(findings_of(model, {}, folder.path()) == "");
  CHECK(findings_of(model).find("external-file") != std::string::npos);  // a model without a folder
}

TEST_CASE("weights are left alone on request") {
  ModelProto model = good_model();
  weight_of(std::numeric_limits<float>::quiet_NaN())(model);
  CHECK(findings_of(model, {.weights = false}).empty());
}

TEST_CASE("odd numbers are counted in every format") {
  const auto found = [](int type, const std::string& raw) {
    ModelProto model = good_model();
    weight(model)->set_data_type(type), weight(model)->set_raw_data(raw);
    return findings_of(model);
  };
  const auto bytes = [](auto... bits) {
    std::string out;
    ((out += std::string(reinterpret_cast<const char*>(&bits), sizeof bits)), ...);
    return out;
  };
  using u16 = uint16_t;
  for (const auto& [type, raw] : {std::pair<int, std::string>{TensorProto::FLOAT16, bytes(u16{0x7e00}, u16{0xfc00}, u16{0x0001})},
                                  {TensorProto::BFLOAT16, bytes(u16{0x7fc0}, u16{0xff80}, u16{0x8001})},
                                  {TensorProto::FLOAT, bytes(0x7fc00000u, 0xff800000u, 0x00000001u)},
                                  {TensorProto::DOUBLE, bytes(0x7ff8000000000000u, 0xfff0000000000000u, uint64_t{1})}}) {
    const std::string text = found(type, raw);
    INFO(text);
    CHECK(text.find("1 of 3 numbers are NaN") != std::string::npos);
    CHECK(text.find("1 of 3 numbers are infinite") != std::string::npos);
    CHECK(text.find("1 of 3 numbers are subnormal") != std::string::npos);
  }
}

TEST_CASE("SHA-1 is that of the standard") {
  const auto digest = [](const std::string& text) { return validate::sha1_of(std::as_bytes(std::span(text))); };
  CHECK(digest("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(digest("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  CHECK(digest(std::string(1000000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}
}  // namespace tensor_rules_test

std::vector<svengine::tests::RuleCase> svengine::tests::tensor_cases() {
  using namespace tensor_rules_test;
  return together({content_cases(), sparse_cases(), outside_cases()});
}

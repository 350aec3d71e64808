// Tables that are made of attributes once.
#include "engine/graph/attribute_tables.h"

#include <catch2/catch.hpp>

#include <thread>

#include "engine/graph/builder.h"

namespace attribute_tables_test {
using namespace svengine;

namespace {

int times_made = 0;

Result<std::vector<int64_t>> doubled(const Attributes& attributes) {
  ++times_made;
  std::vector<int64_t> out = attributes.get_ints("numbers");
  if (out.empty()) return error("numbers is empty");
  for (int64_t& i : out) i *= 2;
  return out;
}

Result<int64_t> first_number(const Attributes& attributes) { return attributes.get_ints("numbers").front(); }

}  // namespace

TEST_CASE("a table is made once for attributes and their copies, and again when they change") {
  times_made = 0;
  Attributes attributes = make_attributes({{"numbers", std::vector<int64_t>{1, 2}}});
  Attributes copy = attributes;
  const auto table = table_of<doubled>(attributes).value();
  CHECK(*table == std::vector<int64_t>{2, 4});
  CHECK(table_of<doubled>(copy).value() == table);
  CHECK(*table_of<first_number>(copy).value() == 1);
  CHECK(times_made == 1);
  copy.set("numbers", std::vector<int64_t>{5});
  CHECK(*table_of<doubled>(copy).value() == std::vector<int64_t>{10});
  CHECK(table_of<doubled>(attributes).value() == table);
  CHECK(times_made == 2);
  copy.erase("numbers");
  CHECK(table_of<doubled>(copy).error().message() == "numbers is empty");
  const Attributes moved = std::move(attributes);
  CHECK(table_of<doubled>(moved).value() == table);
}

TEST_CASE("threads that ask at once get one table") {
  const Attributes attributes = make_attributes({{"numbers", std::vector<int64_t>{7}}});
  std::vector<std::shared_ptr<const int64_t>> got(4);
  std::vector<std::thread> threads;
  for (auto& to : got) threads.emplace_back([&] { to = table_of<first_number>(attributes).value(); });
  for (std::thread& t : threads) t.join();
  for (const auto& table : got) CHECK(table == got[0]);
}

TEST_CASE("copies of attributes share their entries until one is changed") {
  Attributes attributes = make_attributes({{"numbers", std::vector<int64_t>{1, 2}}, {"name", std::string("a")}});
  Attributes copy = attributes;
  CHECK(copy.find("numbers") == attributes.find("numbers"));
  copy.set("name", std::string("b"));
  CHECK(attributes.get_string("name") == "a");
  CHECK(copy.get_string("name") == "b");
  copy.erase("numbers");
  CHECK(attributes.has("numbers"));
  CHECK_FALSE(copy.has("numbers"));
  const Attribute* before = attributes.find("name");
  attributes.set("numbers", std::vector<int64_t>{3});
  CHECK(attributes.find("name") == before);
  copy.erase("name");
  CHECK((copy.empty() && copy.begin() == copy.end()));
}
}  // namespace attribute_tables_test

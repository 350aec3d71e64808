// Data sets that are files of records or arrays: IDX, CIFAR, NumPy.
#include <catch2/catch.hpp>

#include "importers/npy/npy.h"
#include "runtime/dataset/arrays.h"
#include "runtime/dataset/cifar.h"
#include "runtime/dataset/idx_files.h"
#include "runtime/dataset/open.h"
#include "runtime/dataset/tensors.h"
#include "runtime/dataset/dataset_test_util.h"

namespace sources_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

/// An IDX file of bytes 0, 1, 2, ..
std::string idx(const std::vector<uint32_t>& dims, int modulus = 256) {
  std::string out("\0\0\x08", 3);
  out += static_cast<char>(dims.size());
  uint32_t count = 1;
  for (uint32_t d : dims) {
    out += big_endian(d);
    count *= d;
  }
  for (uint32_t i = 0; i < count; ++i) out += static_cast<char>(static_cast<int>(i) % modulus);
  return out;
}

/// Record i has label i % labels (the coarse one i % 20) and all pixels i.
std::string cifar(int records, int labels, bool hundred) {
  std::string out;
  for (int i = 0; i < records; ++i) {
    if (hundred) out += static_cast<char>(i % 20);
    out += static_cast<char>(i % labels);
    out += std::string(3072, static_cast<char>(i));
  }
  return out;
}

std::string npy(const TemporaryDirectory& dir, const std::string& name, const Tensor& tensor) {
  const std::string path = dir.path() + "/" + name;
  REQUIRE(save_npy(tensor, path).ok());
  return path;
}

/// ZIP's CRC, bit by bit.
uint32_t crc32_of(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

/// A stored ZIP archive of files, as numpy.savez writes it.
std::string zip(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string body, directory;
  for (const auto& [name, data] : files) {
    const std::string common = little(20, 2) + little(0, 8) + little(crc32_of(data), 4) + little(data.size(), 4) +
                               little(data.size(), 4) + little(name.size(), 2);
    directory += little(0x02014b50, 4) + little(20, 2) + common + std::string(12, '\0') + little(body.size(), 4) + name;
    body += little(0x04034b50, 4) + common + little(0, 2) + name + data;
  }
  return body + directory + little(0x06054b50, 4) + little(0, 4) + little(files.size(), 2) + little(files.size(), 2) +
         little(directory.size(), 4) + little(body.size(), 4) + little(0, 2);
}

}  // namespace

TEST_CASE("IDX images and labels become samples") {
  const TemporaryDirectory dir;
  const std::string images = dir.write("train-images-idx3-ubyte", idx({5, 2, 3})),
                    labels = dir.write("train-labels-idx1-ubyte", idx({5}));
  const DataSetPtr set = must(open_dataset(dir.path()));
  CHECK(set->size() == 5);
  CHECK(set->classes() == 10);
  CHECK(to_string(set->fields()) == "image uint8[1x2x3], label int64[scalar]");
  CHECK(read_as<uint8_t>(*set, 2, 0) == std::vector<uint8_t>{12, 13, 14, 15, 16, 17});
  CHECK(read_as<int64_t>(*set, 4, 1) == std::vector<int64_t>{4});
  CHECK(must(open_dataset(images + "," + labels))->classes() == 5);
  CHECK_THAT(problem(try_read(*set, 5)), Contains("sample 5 does not exist: there are 5"));
  CHECK_THAT(problem(try_read(*set, -1)), Contains("does not exist"));
  CHECK_FALSE(set->read(0, {}).ok());
  CHECK_THAT(problem(open_dataset(dir.path(), {.split = Split::test})), Contains("has no file t10k-images"));
}

TEST_CASE("IDX files that do not fit one another are refused") {
  const TemporaryDirectory dir;
  const std::string images = dir.write("i", idx({3, 2, 2})), labels = dir.write("l", idx({3}));
  CHECK_THAT(problem(open_idx(images, dir.write("four", idx({4})))), Contains("has 4 labels for the 3 images"));
  CHECK_THAT(problem(open_idx(images, labels, 2)), Contains("sample 2 has label 2; labels are 0 to 1"));
  CHECK_THAT(problem(open_idx(labels, labels)), Contains("images are samples x height x width"));
  CHECK_THAT(problem(open_idx(images, images)), Contains("rank 1"));
  CHECK_THAT(problem(open_idx(images, dir.path() + "/none")), Contains("cannot open"));
  CHECK_THAT(problem(open_idx(dir.write("empty", idx({0, 2, 2})), dir.write("no_labels", idx({0})))), Contains("no samples"));
  const std::string whole = idx({3, 2, 2});
  for (size_t cut = 0; cut < whole.size(); ++cut) CHECK_FALSE(open_idx(dir.write("cut", whole.substr(0, cut)), labels).ok());
}

TEST_CASE("Debian's Fashion-MNIST, where it is installed") {
  const std::string directory = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(directory)) return;
  const DataSetPtr test = must(open_dataset(directory, {.split = Split::test}));
  CHECK(test->size() == 10000);
  CHECK(read_as<int64_t>(*test, 0, 1) == std::vector<int64_t>{9});  // an ankle boot
  CHECK(read_as<uint8_t>(*test, 0, 0).size() == 784);
}

TEST_CASE("CIFAR-10 and CIFAR-100 by their files' names") {
  const TemporaryDirectory dir, hundred;
  for (int i = 1; i <= 5; ++i) dir.write(fmt::format("data_batch_{}.bin", i), cifar(i, 10, false));
  dir.write("test_batch.bin", cifar(12, 10, false));
  dir.write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const DataSetPtr train = must(open_dataset(dir.path())), test = must(open_dataset(dir.path(), {.split = Split::test}));
  CHECK(train->size() == 15);
  CHECK(test->size() == 12);
  CHECK(test->classes() == 10);
  CHECK(test->class_names().at(9) == "j");
  CHECK(test->fields()[0] == Field{"image", DType::u8, {3, 32, 32}});
  CHECK(read_as<int64_t>(*test, 11, 1) == std::vector<int64_t>{1});
  CHECK(read_as<uint8_t>(*train, 14, 0) == std::vector<uint8_t>(3072, 4));  // the last of the fifth file
  hundred.write("train.bin", cifar(130, 100, true));
  CHECK(read_as<int64_t>(*must(open_dataset(hundred.path())), 99, 1) == std::vector<int64_t>{99});
  const DataSetPtr coarse = must(open_cifar_directory(hundred.path(), Split::train, true));
  CHECK(coarse->classes() == 20);
  CHECK(read_as<int64_t>(*coarse, 99, 1) == std::vector<int64_t>{19});
}

TEST_CASE("damaged CIFAR files are refused") {
  const TemporaryDirectory dir;
  const std::string good = cifar(2, 10, false);
  const auto open = [&](const std::string& bytes) { return open_cifar({dir.write("c.bin", bytes)}, Cifar::ten); };
  CHECK(open(good).ok());
  CHECK_THAT(problem(open("")), Contains("is empty"));
  for (size_t cut : {size_t{1}, size_t{3072}, size_t{3074}, good.size() - 1})
    CHECK_THAT(problem(open(good.substr(0, cut))), Contains("cut off"));
  std::string wrong = good;
  wrong[3073] = 10;
  CHECK_THAT(problem(open(wrong)), Contains("record 1 has label 10; CIFAR-10 has labels 0 to 9"));
  CHECK_THAT(problem(open_cifar({dir.path() + "/none.bin"}, Cifar::ten)), Contains("cannot open"));
  CHECK_THAT(problem(open_cifar({dir.path()}, Cifar::ten)), Contains("a directory"));
  CHECK_THAT(problem(open_cifar({}, Cifar::hundred)), Contains("no CIFAR-100 file"));
  dir.write("data_batch_1.bin", good);
  CHECK_THAT(problem(open_dataset(dir.path())), Contains("data_batch_2.bin"));
}

TEST_CASE("NumPy arrays become samples, with their labels checked") {
  const TemporaryDirectory dir;
  const std::string x = npy(dir, "x.npy", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})),
                    y = npy(dir, "y.npy", Tensor::of<int32_t>({3, 1}, {0, 2, 1}));
  const DataSetPtr set = must(open_dataset(x + "," + y));
  CHECK(to_string(set->fields()) == "data float32[2], label int64[scalar]");
  CHECK(set->classes() == 3);
  CHECK(read_as<float>(*set, 1, 0) == std::vector<float>{3, 4});
  CHECK(read_as<int64_t>(*set, 1, 1) == std::vector<int64_t>{2});
  CHECK(to_string(must(open_dataset(x))->fields()) == "data float32[2]");
  const DataSetPtr npz = must(open_dataset(dir.write("all.npz", zip({{"x.npy", content_of(x)}, {"y.npy", content_of(y)}}))));
  CHECK(to_string(npz->fields()) == "x float32[2], label int64[scalar]");
  CHECK(read_as<float>(*npz, 2, 0) == std::vector<float>{5, 6});
  CHECK_THAT(problem(open_npz(dir.path() + "/all.npz", {.label = "z"})),
             Contains("no array 'z' for the labels; there are: x, y"));
  CHECK_THAT(problem(open_npz(dir.path() + "/all.npz", {.label = "", .classes = 2})), Contains("sample 1 has label 2"));
  CHECK_THAT(problem(open_npz(dir.path() + "/all.npz", {.label = "x"})), Contains("rank 1"));
}

TEST_CASE("arrays that do not fit one another are refused") {
  const TemporaryDirectory dir;
  const std::string three = npy(dir, "3.npy", Tensor::of<float>({3}, {1, 2, 3})),
                    two = npy(dir, "2.npy", Tensor::of<float>({2}, {1, 2}));
  CHECK_THAT(problem(open_arrays({{"a", three}, {"b", two}})), Contains("'b' has 2 samples and 'a' has 3"));
  CHECK_THAT(problem(open_arrays({{"a", three}, {"a", three}})), Contains("two tensors are called 'a'"));
  CHECK_THAT(problem(open_arrays({{"a", npy(dir, "s.npy", Tensor::scalar<float>(1))}})), Contains("one number"));
  CHECK_THAT(problem(open_arrays({})), Contains("needs a tensor"));
  CHECK_THAT(problem(make_labels(Tensor::of<float>({1}, {1}), 0)), Contains("labels are integers, not float32"));
  CHECK_THAT(problem(make_labels(Tensor::of<int64_t>({2}, {0, -1}), 0)), Contains("sample 1 has label -1"));
  CHECK_THAT(problem(make_labels(Tensor::of<int64_t>({1}, {int64_t{1} << 40}), 0)), Contains("not believed"));
}

TEST_CASE("a path that is no data set says what one would be") {
  const TemporaryDirectory dir;
  CHECK_THAT(problem(open_dataset(dir.path())), Contains("looked for train-images-idx3-ubyte"));
  CHECK_THAT(problem(open_dataset(dir.path() + "/none")), Contains("does not exist"));
  CHECK_THAT(problem(open_dataset(dir.write("a.pdf", "x"))), Contains("is no data set"));
}
}  // namespace sources_test

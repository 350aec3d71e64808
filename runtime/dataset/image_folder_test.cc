#include "runtime/dataset/image_folder.h"

#include <sys/stat.h>
#include <catch2/catch.hpp>

#include "runtime/dataset/open.h"
#include "runtime/dataset/dataset_test_util.h"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace image_folder_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

/// A PNG of one colour.
std::string png(int width, int height, int red, int green = 0, int blue = 0) {
  std::vector<uint8_t> data;
  for (int i = 0; i < width * height; ++i)
    for (int c : {red, green, blue}) data.push_back(static_cast<uint8_t>(c));
  std::string out;
  const auto append = [](void* to, void* bytes, int size) {
    static_cast<std::string*>(to)->append(static_cast<char*>(bytes), static_cast<size_t>(size));
  };
  stbi_write_png_to_func(append, &out, width, height, 3, data.data(), width * 3);
  return out;
}

ImageFolderOptions exactly(int width, int height) {
  ImageFolderOptions options;
  options.image.width = width;
  options.image.height = height;
  return options;
}

}  // namespace

TEST_CASE("folders are classes, in the order of their names") {
  const TemporaryDirectory dir;
  dir.write("dog/b.png", png(3, 2, 20));
  dir.write("dog/a.PNG", png(3, 2, 10));
  dir.write("cat/more/deep/c.png", png(3, 2, 30, 31, 32));
  dir.write("cat/.hidden.png", "no image");
  dir.write("cat/readme.txt", "no image");
  dir.write("notes.txt", "not in a class");
  const DataSetPtr set = must(open_image_folder(dir.path()));
  CHECK(set->size() == 3);
  CHECK(set->class_names() == std::vector<std::string>{"cat", "dog"});
  CHECK(to_string(set->fields()) == "image uint8[3x2x3], label int64[scalar]");
  const std::vector<uint8_t> cat = read_as<uint8_t>(*set, 0, 0);
  CHECK((cat[0] == 30 && cat[6] == 31 && cat[17] == 32));  // planes
  CHECK(read_as<uint8_t>(*set, 1, 0)[0] == 10);
  CHECK(read_as<int64_t>(*set, 0, 1) == std::vector<int64_t>{0});
  CHECK(read_as<int64_t>(*set, 2, 1) == std::vector<int64_t>{1});
}

TEST_CASE("images of several sizes are resized and cropped, or refused by name") {
  const TemporaryDirectory dir;
  dir.write("a/1.png", png(4, 4, 50));
  dir.write("a/2.png", png(9, 5, 60));
  const DataSetPtr resized = must(open_image_folder(dir.path(), exactly(6, 3)));
  CHECK(resized->fields()[0].dims == Dims{3, 3, 6});
  CHECK(read_as<uint8_t>(*resized, 1, 0) == [] {
    std::vector<uint8_t> red(54, 0);
    std::fill_n(red.begin(), 18, uint8_t{60});
    return red;
  }());
  ImageFolderOptions crop;
  crop.image.shorter_side = 4;
  crop.image.crop_width = crop.image.crop_height = 4;
  CHECK(read_as<uint8_t>(*must(open_image_folder(dir.path(), crop)), 1, 0)[0] == 60);
  const DataSetPtr as_is = must(open_image_folder(dir.path()));
  CHECK_THAT(problem(try_read(*as_is, 1)), Contains("2.png: is 9x5 pixels, the others are 4x4"));
}

TEST_CASE("an image that does not decode is named, at every cut") {
  const TemporaryDirectory dir;
  const std::string good = png(5, 5, 1);
  dir.write("a/0.png", "this is no image");
  dir.write("a/1.png", good);
  const DataSetPtr set = must(open_image_folder(dir.path()));  // the size is the second one's
  CHECK(read_as<uint8_t>(*set, 1, 0)[0] == 1);
  CHECK_THAT(problem(try_read(*set, 0)), Contains("a/0.png: is neither a PNG nor a JPEG image"));
  for (size_t cut = 0; cut + 12 < good.size(); ++cut) {  // its last chunk, of 12 bytes, has no pixels
    dir.write("a/0.png", good.substr(0, cut));
    REQUIRE_THAT(problem(try_read(*set, 0)), Contains("a/0.png"));
  }
  std::filesystem::remove(dir.path() + "/a/0.png");
  CHECK_THAT(problem(try_read(*set, 0)), Contains("cannot open"));
  REQUIRE(mkfifo((dir.path() + "/a/0.png").c_str(), 0600) == 0);
  CHECK_THAT(problem(try_read(*set, 0)), Contains("a device or pipe"));
}

TEST_CASE("what is no folder of classes is refused") {
  const TemporaryDirectory dir;
  CHECK_THAT(problem(open_image_folder(dir.path())), Contains("has no folders"));
  CHECK_THAT(problem(open_image_folder(dir.path() + "/none")), Contains("cannot list"));
  dir.write("a/1.txt", "");
  CHECK_THAT(problem(open_image_folder(dir.path())), Contains("a' has no .png"));
  dir.write("a/1.png", "no image");
  CHECK_THAT(problem(open_image_folder(dir.path())), Contains("1.png: is neither"));
  std::string deep = "a";
  for (int i = 0; i < 20; ++i) deep += "/d";
  dir.write(deep + "/1.png", png(1, 1, 0));
  CHECK_THAT(problem(open_image_folder(dir.path())), Contains("folders deep"));
  ImageFolderOptions negative = exactly(-1, 3);
  CHECK_THAT(problem(open_image_folder(dir.path(), negative)), Contains("negative"));
}

TEST_CASE("a link to a folder above is no endless loop") {
  const TemporaryDirectory dir;
  dir.write("a/1.png", png(1, 1, 7));
  std::filesystem::create_directory_symlink(dir.path(), dir.path() + "/a/loop");
  std::filesystem::create_symlink(dir.path() + "/a/1.png", dir.path() + "/a/2.png");
  CHECK(must(open_image_folder(dir.path()))->size() == 2);
}

TEST_CASE("train and val folders are two parts") {
  const TemporaryDirectory dir;
  dir.write("train/a/1.png", png(1, 1, 0));
  dir.write("train/a/2.png", png(1, 1, 0));
  dir.write("val/a/1.png", png(1, 1, 0));
  CHECK(must(open_dataset(dir.path()))->size() == 2);
  CHECK(must(open_dataset(dir.path(), {.split = Split::test}))->size() == 1);
  CHECK(must(open_dataset(dir.path() + "/train"))->size() == 2);
}
}  // namespace image_folder_test

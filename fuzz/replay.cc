// replay CORPUS [TARGET..]: every file of CORPUS/TARGET/ through that target, in any build. Ends by a signal on a finding; the last line
// then names the file. `replay --targets` lists the targets and the length of their inputs.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "fuzz/targets.h"

using namespace svengine::fuzz;

namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) files.insert(entry.path());
  return {files.begin(), files.end()};
}

int replay(const Target& target, const std::filesystem::path& corpus) {
  const auto files = files_of(corpus / target.name);
  for (const auto& path : files) {
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    std::ifstream in(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    target.run(std::as_bytes(std::span(content)));
  }
  std::printf("%s: %zu inputs\n", target.name.data(), files.size());
  return files.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view("--targets")) {
    for (const Target& target : all_targets()) std::printf("%s %zu\n", target.name.data(), target.most_bytes);
    return 0;
  }
  if (argc < 2) {
    std::fprintf(stderr, "replay CORPUS [TARGET..], or replay --targets\n");
    return 2;
  }
  const std::set<std::string_view> wanted(argv + 2, argv + argc);
  int lacking = 0;
  for (const Target& target : all_targets())
    if (wanted.empty() || wanted.contains(target.name)) lacking += replay(target, argv[1]);
  for (const auto& folder : files_of(argv[1]))
    if (!find_target(folder.filename().string())) std::printf("%s: no such target\n", folder.c_str()), ++lacking;
  if (lacking) std::printf("a target without inputs, or inputs without a target\n");
  return lacking ? 1 : 0;
}

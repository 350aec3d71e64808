#include "runtime/weight_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "engine/base/hash.h"
#include "engine/plan/build_id.h"
#include "runtime/locked_file.h"
#include "runtime/file_hash_cache.h"

namespace svengine {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 || errno != ENOENT;
}

Status run_all(Team& team, HashWork& work) {
  return team.run([&](int thread) { work.run(thread, team.threads()); });
}

/// Puts the layouts there are and those just made together. False: the file has all of them already.
bool merge(const PackedFile* there, const std::vector<PackedLayout>& made, bool repair, std::vector<PackedLayout>& all) {
  std::map<Hash128, PackedLayout> layouts;
  if (there) layouts = there->layouts();
  bool news = repair;
  for (const PackedLayout& layout : made) {
    PackedLayout& place = layouts[layout.key];
    news |= !place.bytes.data() || place.checksum != layout.checksum;
    place = layout;
  }
  for (const auto& [key, layout] : layouts) all.push_back(layout);
  return news;
}

}  // namespace

WeightCache::WeightCache(const std::string& folder, const Graph& graph, std::string_view kernel_set, Team& team, WeightStore& store)
    : store_(store) {
  Status status = open(folder, graph, kernel_set, team);
  if (!status.ok()) report_.problem = fmt::format("no cache of packed weights is used: {}", status.error().message());
}

Status WeightCache::open(const std::string& folder, const Graph& graph, std::string_view kernel_set, Team& team) {
  std::error_code problem;
  const std::filesystem::path place = std::filesystem::absolute(folder, problem);
  if (!problem) std::filesystem::create_directories(place, problem);
  if (problem) return error("{}: {}", folder, problem.message());
  SV_TRY(identify((place / "seen").string(), graph, team));
  key_ = hash_of(fmt::format("{} {} {:016x}", to_string(model_), kernel_set, build_id()));
  report_.file = (place / fmt::format("{}-{}-{:016x}.packed", to_string(model_), kernel_set, build_id())).string();
  std::shared_ptr<const PackedFile> file;
  if (exists(report_.file)) {
    Result<std::shared_ptr<const PackedFile>> there = PackedFile::open(report_.file, key_);
    if (there.ok()) file = *there;
    else report_.problem = fmt::format("cached weights are not used, but packed anew: {}", there.error().message());
  }
  usable_ = true;
  store_.use_cache(std::move(file), {sources_.begin(), sources_.end()});
  return {};
}

Status WeightCache::identify(const std::string& seen_path, const Graph& graph, Team& team) {
  std::string others;
  graph.for_each_value([&](Value& v) {
    if (!v.is_constant()) return;
    const Tensor& t = v.constant();
    if (!mapped_file(t.owner())) others += to_string(hash_of({t.raw(), t.byte_size()}));
    else if (std::find(sources_.begin(), sources_.end(), t.owner()) == sources_.end()) sources_.push_back(t.owner());
  });
  const FileHashCache seen(seen_path);
  contents_.resize(sources_.size());
  std::vector<size_t> unknown;
  std::vector<bool> settled;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const MappedFileInfo& file = *mapped_file(sources_[i]);
    if (const auto content = seen.content_of(file.identity)) {
      contents_[i] = *content;
      continue;
    }
    unknown.push_back(i);
    settled.push_back(FileHashCache::settle(file));
  }
  SV_ASSIGN(const std::vector<Hash128> read, read_sources(unknown, team));
  for (size_t n = 0; n < unknown.size(); ++n) {
    contents_[unknown[n]] = read[n];
    if (settled[n]) seen.remember(*mapped_file(sources_[unknown[n]]), read[n]);
  }
  report_.model_read = !unknown.empty();
  for (const Hash128& content : contents_) others += to_string(content);
  model_ = hash_of(others);
  return {};
}

Result<std::vector<Hash128>> WeightCache::read_sources(const std::vector<size_t>& which, Team& team) const {
  HashWork work;
  for (size_t i : which) work.add(mapped_file(sources_[i])->bytes, sources_[i]);
  if (!which.empty()) SV_TRY(run_all(team, work));
  std::vector<Hash128> out;
  for (size_t n = 0; n < which.size(); ++n) out.push_back(work.result(n));
  return out;
}

void WeightCache::save(Team& team) {
  const std::vector<WeightStore::PackedWeight> made = store_.take_packed();
  if (!usable_ || made.empty()) return;
  Status status = write(made, team);
  if (status.ok()) return;
  usable_ = false;
  report_.problem = fmt::format("packed weights are not cached: {}", status.error().message());
}

Status WeightCache::write(const std::vector<WeightStore::PackedWeight>& made, Team& team) {
  std::vector<size_t> all(sources_.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  SV_ASSIGN(const std::vector<Hash128> contents, read_sources(all, team));
  if (contents != contents_) return error("the model's file has changed since it was opened");
  HashWork work;
  for (const WeightStore::PackedWeight& m : made) work.add({m.packed.get(), m.bytes});
  SV_TRY(run_all(team, work));
  std::vector<PackedLayout> layouts;
  for (size_t i = 0; i < made.size(); ++i) layouts.push_back({made[i].key, {made[i].packed.get(), made[i].bytes}, work.result(i)});

  SV_ASSIGN(std::optional<LockedFile> file, LockedFile::create(report_.file));
  if (!file) return {};
  // Somebody may have written it since we looked.
  std::shared_ptr<const PackedFile> there;
  if (auto opened = PackedFile::open(report_.file, key_); opened.ok()) there = *opened;
  const int64_t damaged = store_.cache_counts().damaged;
  std::vector<PackedLayout> merged;
  if (!merge(there.get(), layouts, damaged > repaired_, merged)) return {};
  Status written = write_packed_file(file->descriptor(), key_, merged);
  if (!written.ok()) return std::move(written).error().in(report_.file);
  SV_ASSIGN(const bool replaced, file->finish());
  report_.written |= replaced;
  repaired_ = damaged;
  return {};
}

CacheReport WeightCache::report() const {
  CacheReport report = report_;
  report.layouts = store_.cache_counts();
  if (report.problem.empty() && report.layouts.damaged > 0)
    report.problem = fmt::format("{} of the cached weights in {} were damaged and are packed anew", report.layouts.damaged, report.file);
  return report;
}

}  // namespace svengine

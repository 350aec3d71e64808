#include "runtime/schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <string_view>

namespace svengine {
namespace {

struct Syntax {
  std::string_view name;
  std::vector<std::string_view> keys;  // in the order of text()
};

/// In the order of Schedule::Kind.
const std::vector<Syntax>& syntaxes() {
  static const std::vector<Syntax> all{
      {"constant", {"warmup", "warmup_steps", "from"}},
      {"step", {"every", "every_steps", "at", "at_steps", "factor", "warmup", "warmup_steps", "from"}},
      {"cosine", {"epochs", "steps", "final", "warmup", "warmup_steps", "from"}},
      {"linear", {"epochs", "steps", "final", "power", "warmup", "warmup_steps", "from"}},
      {"noam", {"width", "warmup_steps"}},
  };
  return all;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::string_view w : words) out += fmt::format("{}{}", out.empty() ? "" : ", ", w);
  return out;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (size_t stop = text.find(at); stop != std::string_view::npos; stop = text.find(at)) {
    out.push_back(text.substr(0, stop));
    text.remove_prefix(stop + 1);
  }
  out.push_back(text);
  return out;
}

}  // namespace

/// The keys of one schedule, taken out one by one; every number is checked against what it may be.
class ScheduleParser {
 public:
  Result<Schedule> parse(const std::string& text) {
    const size_t colon = text.find(':');
    const std::string_view name = std::string_view(text).substr(0, colon);
    const auto syntax = std::ranges::find(syntaxes(), name, &Syntax::name);
    if (syntax == syntaxes().end()) {
      std::vector<std::string_view> names;
      for (const Syntax& f : syntaxes()) names.push_back(f.name);
      return error("no schedule is called '{}'; there are: {}", name.substr(0, 40), joined(names));
    }
    out_.kind_ = static_cast<Schedule::Kind>(syntax - syntaxes().begin());
    if (colon != std::string::npos) SV_TRY(take_apart(std::string_view(text).substr(colon + 1), *syntax));
    SV_TRY(read_shape());
    SV_TRY(read_warmup());
    return out_;
  }

 private:
  static constexpr double kMost = 1e12;

  Status take_apart(std::string_view rest, const Syntax& syntax) {
    for (std::string_view item : split(rest, ',')) {
      const size_t equals = item.find('=');
      const std::string_view key = item.substr(0, equals);
      if (equals == std::string_view::npos) return error("'{}' is no key=value", item.substr(0, 40));
      if (std::ranges::find(syntax.keys, key) == syntax.keys.end())
        return error("schedule '{}' has no '{}'; it has: {}", syntax.name, key.substr(0, 40), joined(syntax.keys));
      if (!values_.emplace(key, item.substr(equals + 1)).second) return error("'{}' is given twice", key);
    }
    return {};
  }

  static Status number(std::string_view key, std::string_view text, double least, double most, double& out) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) return error("'{}={}' is no number", key, text.substr(0, 40));
    if (!(value >= least && value <= most))
      return error("'{}={}' is not between {} and {}", key, text.substr(0, 40), least, most);
    out = value;
    return {};
  }

  Status optional(std::string_view key, double least, double most, double& out) {
    const auto found = values_.find(key);
    if (found == values_.end()) return {};
    return number(key, found->second, least, most, out);
  }

  bool has(std::string_view key) const { return values_.contains(key); }

  /// Of the key in epochs or of the one in steps; `needed` if one of them must be there.
  Status duration(std::string_view epochs, std::string_view steps, double least, bool needed, Schedule::Duration& out) {
    if (has(epochs) && has(steps)) return error("only one of '{}' and '{}' can be given", epochs, steps);
    if (needed && !has(epochs) && !has(steps)) return error("'{}' or '{}' is missing", epochs, steps);
    out.in_steps = has(steps);
    SV_TRY(optional(epochs, least, kMost, out.amount));
    return optional(steps, least, kMost, out.amount);
  }

  Status read_marks() {
    const bool in_steps = has("at_steps");
    if (in_steps && has("at")) return error("only one of 'at' and 'at_steps' can be given");
    const std::string_view key = in_steps ? "at_steps" : "at";
    for (std::string_view item : split(values_.at(key), ';')) {
      Schedule::Duration mark{0, in_steps};
      SV_TRY(number(key, item, 0, kMost, mark.amount));
      if (!out_.marks_.empty() && mark.amount <= out_.marks_.back().amount)
        return error("the marks '{}={}' do not rise", key, values_.at(key));
      out_.marks_.push_back(mark);
    }
    return {};
  }

  Status read_shape() {
    using Kind = Schedule::Kind;
    constexpr double kSmallest = 1e-12;
    switch (out_.kind_) {
      case Kind::constant: return {};
      case Kind::step: {
        SV_TRY(optional("factor", 0, 1e6, out_.factor_));
        const bool marks = has("at") || has("at_steps");
        if (marks && (has("every") || has("every_steps"))) return error("a step schedule has 'every' or 'at', not both");
        if (marks) return read_marks();
        return duration("every", "every_steps", kSmallest, true, out_.every_);
      }
      case Kind::noam:
        if (!has("width") || !has("warmup_steps")) return error("'noam' needs 'width' and 'warmup_steps'");
        return optional("width", kSmallest, kMost, out_.width_);
      default:
        SV_TRY(optional("final", 0, 1e6, out_.final_));
        SV_TRY(optional("power", kSmallest, 1e3, out_.power_));
        return duration("epochs", "steps", kSmallest, true, out_.total_);
    }
  }

  Status read_warmup() {
    SV_TRY(optional("from", 0, 1e6, out_.from_));
    const bool noam = out_.kind_ == Schedule::Kind::noam;
    SV_TRY(duration("warmup", "warmup_steps", noam ? 1 : 0, noam, out_.warmup_));
    const bool ends = out_.kind_ == Schedule::Kind::cosine || out_.kind_ == Schedule::Kind::linear;
    if (ends && out_.warmup_.in_steps == out_.total_.in_steps && out_.warmup_.amount >= out_.total_.amount)
      return error("the warm-up of {} does not end before the schedule does, at {}", out_.warmup_.amount, out_.total_.amount);
    return {};
  }

  Schedule out_;
  std::map<std::string_view, std::string_view> values_;
};

Result<Schedule> Schedule::parse(const std::string& text) {
  Result<Schedule> schedule = ScheduleParser().parse(text);
  if (!schedule.ok()) return std::move(schedule).error().in(fmt::format("schedule '{}'", text.substr(0, 100)));
  return schedule;
}

double Schedule::Duration::steps(int64_t steps_per_epoch) const {
  if (amount == 0) return 0;
  return std::max(1.0, std::round(in_steps ? amount : amount * static_cast<double>(steps_per_epoch)));
}

double Schedule::decay(double step, int64_t steps_per_epoch) const {
  const double begin = warmup_.steps(steps_per_epoch), end = total_.steps(steps_per_epoch);
  const double p = end > begin ? std::clamp((step - begin) / (end - begin), 0.0, 1.0) : 1.0;
  switch (kind_) {
    case Kind::constant: return 1;
    case Kind::step: {
      if (marks_.empty()) return std::pow(factor_, std::floor(step / every_.steps(steps_per_epoch)));
      const auto passed =
          std::ranges::count_if(marks_, [&](const Duration& mark) { return mark.steps(steps_per_epoch) <= step; });
      return std::pow(factor_, static_cast<double>(passed));
    }
    case Kind::cosine: return final_ + (1 - final_) * (1 + std::cos(std::numbers::pi * p)) / 2;
    case Kind::linear: return final_ + (1 - final_) * std::pow(1 - p, power_);
    default: {
      const double n = step + 1;
      return std::min(1 / std::sqrt(n), n / (begin * std::sqrt(begin))) / std::sqrt(width_);
    }
  }
}

double Schedule::factor(int64_t step, int64_t steps_per_epoch) const {
  const double now = static_cast<double>(step), warmup = warmup_.steps(steps_per_epoch);
  if (kind_ != Kind::noam && now < warmup) return from_ + (1 - from_) * (now + 1) / warmup;
  return decay(now, steps_per_epoch);
}

std::string Schedule::text() const {
  std::string out(syntaxes()[static_cast<size_t>(kind_)].name);
  const auto add = [&](std::string_view key, const auto& value) {
    out += fmt::format("{}{}={}", out.find(':') == std::string::npos ? ":" : ",", key, value);
  };
  const auto add_duration = [&](std::string_view epochs, std::string_view steps, const Duration& d) {
    add(d.in_steps ? steps : epochs, d.amount);
  };
  if (kind_ == Kind::noam) add("width", width_);
  if (kind_ == Kind::step && marks_.empty()) add_duration("every", "every_steps", every_);
  if (!marks_.empty()) {
    std::string marks;
    for (const Duration& mark : marks_) marks += fmt::format("{}{}", marks.empty() ? "" : ";", mark.amount);
    add(marks_[0].in_steps ? "at_steps" : "at", marks);
  }
  if (kind_ == Kind::step) add("factor", factor_);
  if (kind_ == Kind::cosine || kind_ == Kind::linear) {
    add_duration("epochs", "steps", total_);
    add("final", final_);
  }
  if (kind_ == Kind::linear) add("power", power_);
  if (warmup_.amount > 0) {
    add_duration("warmup", "warmup_steps", warmup_);
    if (kind_ != Kind::noam) add("from", from_);
  }
  return out;
}

}  // namespace svengine

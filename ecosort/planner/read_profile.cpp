// The file of a profile. Every part is looked at, also those that the sorter does not need: a damaged file is not believed.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/errors.h"
#include "planner/profile.h"

namespace ecosort::planner {

namespace {

constexpr std::string_view family = "ecosort.profile/", version = "2";
constexpr std::size_t most_bytes = std::size_t{4} << 20U;  // one of a machine with many drives has 100 KB

std::string contents_of(const std::string& path) {
  const auto close = [](std::FILE* file) { (void)std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "re"), close);
  if (file == nullptr && errno == ENOENT)
    throw UsageError(fmt::format("profile '{}' does not exist; ecosort tune probe writes one", path));
  std::string text(most_bytes + 1, '\0');
  if (file != nullptr) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (file == nullptr || std::ferror(file.get()) != 0)
    throw UsageError(fmt::format("profile '{}' cannot be read: {}", path, std::strerror(errno)));
  if (text.size() > most_bytes) throw UsageError(fmt::format("'{}' is too large for a profile", path));
  return text;
}

// A part of the document that must be what it is read as. std::invalid_argument names the part that is not.
class Part {
 public:
  Part(const toml::table& table, std::string where) : table_(table), where_(std::move(where)) {}

  [[nodiscard]] std::string text(std::string_view name) const { return value<std::string>(name, "a text"); }

  [[nodiscard]] std::uint64_t whole(std::string_view name) const {
    const auto number = value<std::int64_t>(name, "a whole number");
    if (number < 0) wrong(name, "negative");
    return static_cast<std::uint64_t>(number);
  }

  // Not negative; TOML distinguishes 1 and 1.0, we do not.
  [[nodiscard]] double real(std::string_view name) const {
    const toml::node* const node = table_.get(name);
    if (node == nullptr) wrong(name, "missing");
    if (!node->is_number()) wrong(name, "not a number");
    const double number = node->value<double>().value_or(-1.0);
    if (!std::isfinite(number) || number < 0) wrong(name, "not a number from 0 on");
    return number;
  }

  [[nodiscard]] Part part(std::string_view name) const {
    const toml::table* const table = table_[name].as_table();
    if (table == nullptr) wrong(name, has(name) ? "not a table" : "missing");
    return {*table, fmt::format("{}.{}", where_, name)};
  }

  // One that is absent has no entries.
  [[nodiscard]] std::vector<Part> parts(std::string_view name) const {
    std::vector<Part> found;
    if (!has(name)) return found;
    const toml::array* const array = table_[name].as_array();
    if (array == nullptr) wrong(name, "not a list");
    for (const toml::node& node : *array) {
      if (!node.is_table()) wrong(name, "not a list of tables");
      found.emplace_back(*node.as_table(), fmt::format("{}.{}[{}]", where_, name, found.size()));
    }
    return found;
  }

  [[nodiscard]] std::map<std::string, double> reals(std::string_view name) const {
    const Part inner = part(name);
    std::map<std::string, double> found;
    for (const auto& [key, node] : inner.table_) found.emplace(key.str(), inner.real(key.str()));
    return found;
  }

  [[nodiscard]] bool has(std::string_view name) const { return table_.contains(name); }

  [[noreturn]] void wrong(std::string_view name, std::string_view what) const {
    throw std::invalid_argument(fmt::format("{}.{} is {}", where_, name, what));
  }

 private:
  template <class T>
  [[nodiscard]] T value(std::string_view name, const char* kind) const {
    const toml::node* const node = table_.get(name);
    if (node == nullptr) wrong(name, "missing");
    std::optional<T> found = node->value_exact<T>();
    if (!found) wrong(name, fmt::format("not {}", kind));
    return *std::move(found);
  }

  const toml::table& table_;
  std::string where_;
};

Rate rate_from(const Part& part) {
  for (const char* name : {"latency_s", "cpu_s_per_gb", "spread"}) (void)part.real(name);
  (void)part.whole("repetitions");
  return {part.text("mode"), part.whole("block_bytes"), part.whole("depth"), part.real("read_bytes_per_s"),
          part.real("write_bytes_per_s")};
}

Drive drive_from(const Part& part) {
  for (const char* name : {"device", "file_system", "engine"}) (void)part.text(name);
  (void)part.whole("file_bytes");
  Drive drive{.role = part.text("role"), .directory = part.text("directory"), .rates = {}};
  for (const Part& rate : part.parts("rates")) drive.rates.push_back(rate_from(rate));
  return drive;
}

void check_evidence(const Part& part) {
  (void)part.real("error");
  (void)part.whole("runs");
}

void read_models(const Part& document, Profile& profile) {
  if (document.has("kernels")) profile.kernel_ns = document.part("kernels").reals("ns_per_record");
  if (document.has("time")) {
    profile.time_factor = document.part("time").reals("factor");
    check_evidence(document.part("time"));
  }
  if (document.has("cpu")) {
    const Part cpu = document.part("cpu");
    check_evidence(cpu);
    profile.cpu = CpuModel{cpu.real("fixed_s"),          cpu.real("per_record_s"),      cpu.real("per_byte_s"),
                           cpu.real("per_comparison_s"), cpu.real("per_memory_byte_s"), cpu.real("per_request_s")};
  }
  if (document.has("power")) {
    const Part power = document.part("power");
    check_evidence(power);
    profile.power = PowerModel{power.real("idle_w"), power.real("core_w"), power.real("gb_j")};
  }
}

Profile profile_from(const Part& document) {
  Profile profile;
  profile.created = document.text("created");
  (void)document.text("version");
  const Part machine = document.part("machine");
  profile.machine = {machine.text("machine_id"), machine.text("processor"), machine.whole("cpus"), machine.whole("memory_bytes")};
  for (const Part& drive : document.parts("drive")) profile.drives.push_back(drive_from(drive));
  read_models(document, profile);
  for (const Part& setting : document.parts("setting"))
    profile.settings.push_back({setting.text("option"), setting.text("value"), setting.text("because"),
                                setting.has("memory_bytes") ? setting.whole("memory_bytes") : 0});
  return profile;
}

// First of all, because other versions may differ in everything else.
void check_version(const toml::table& document, const std::string& path) {
  const std::string schema = document["schema"].value_or(std::string());
  if (!schema.starts_with(family)) throw UsageError(fmt::format("'{}' is no profile of ecosort tune", path));
  if (const std::string theirs = schema.substr(family.size()); theirs != version)
    throw UsageError(fmt::format("profile '{}' has the version {}, this program reads {}: run ecosort tune probe again", path,
                                 theirs, version));
}

}  // namespace

Profile read_profile(const std::string& path, const MachineIdentity& here) {
  try {
    const toml::table document = toml::parse(contents_of(path));
    check_version(document, path);
    Profile profile = profile_from(Part(document, "profile"));
    if (const auto reason = difference(here, profile.machine))
      throw UsageError(
          fmt::format("profile '{}' is of another machine: {}; ecosort tune probe makes one for this machine", path, *reason));
    return profile;
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("profile '{}' is damaged: line {}: {}", path, error.source().begin.line, error.description()));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("profile '{}' is damaged: {}", path, error.what()));
  }
}

}  // namespace ecosort::planner

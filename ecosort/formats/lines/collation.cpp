#include "formats/lines/collation.h"

#include <fmt/format.h>

#include "base/errors.h"

#ifdef ECOSORT_ICU
#include <dlfcn.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>
#endif

namespace ecosort::lines {

#ifdef ECOSORT_ICU
namespace {

// The functions of ICU that are called, by their names without the version that ICU adds to them.
struct Icu {
  decltype(&ucol_open) open = nullptr;
  decltype(&ucol_close) close = nullptr;
  decltype(&ucol_getSortKey) sort_key = nullptr;
  decltype(&ucol_getVersion) version_of = nullptr;
  decltype(&ucol_getLocaleByType) locale_of = nullptr;
  decltype(&ucol_getFunctionalEquivalent) equivalent_of = nullptr;
  decltype(&u_strFromUTF8WithSub) from_utf8 = nullptr;
  decltype(&u_getVersion) version = nullptr;
  decltype(&uloc_forLanguageTag) locale_of_tag = nullptr;
  decltype(&uloc_getKeywordValue) keyword = nullptr;
};

constexpr int built_with = U_ICU_VERSION_MAJOR_NUM;

// Its second library needs the first one, so that both are looked at.
template <class Function>
bool find(void* library, int major, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, fmt::format("{}_{}", name, major).c_str()));
  return function != nullptr;
}

std::optional<Icu> load_version(int major) {
  void* const library = ::dlopen(fmt::format("libicui18n.so.{}", major).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Icu icu;
  const bool has_all =
      find(library, major, "ucol_open", icu.open) && find(library, major, "ucol_close", icu.close) &&
      find(library, major, "ucol_getSortKey", icu.sort_key) && find(library, major, "ucol_getVersion", icu.version_of) &&
      find(library, major, "ucol_getLocaleByType", icu.locale_of) &&
      find(library, major, "ucol_getFunctionalEquivalent", icu.equivalent_of) &&
      find(library, major, "u_strFromUTF8WithSub", icu.from_utf8) && find(library, major, "u_getVersion", icu.version) &&
      find(library, major, "uloc_forLanguageTag", icu.locale_of_tag) && find(library, major, "uloc_getKeywordValue", icu.keyword);
  return has_all ? std::optional(icu) : std::nullopt;
}

// The interface of these functions is that of all versions: the one of the build, else the newest that is there.
Icu load() {
  if (const auto icu = load_version(built_with)) return *icu;
  constexpr int newest = 99, oldest = 60;
  for (int major = newest; major >= oldest; --major)
    if (const auto icu = load_version(major)) return *icu;
  throw UsageError(
      fmt::format("the order of a language needs ICU (libicui18n.so.{}), which is not installed here; install the "
                  "package libicu{}",
                  built_with, built_with));
}

const Icu& icu() {
  static const Icu loaded = load();
  return loaded;
}

using LocaleName = std::array<char, 256>;

[[noreturn]] void refuse_locale(const std::string& locale, const std::string& why) {
  throw UsageError(
      fmt::format("locale '{}': {}; give a language, such as de, sv, zh or root, with options as ICU has them, such as "
                  "de-u-kn-true",
                  locale, why));
}

// The locale of a language tag of BCP 47, all of it.
LocaleName locale_of_tag(const std::string& tag) {
  LocaleName name{};
  UErrorCode status = U_ZERO_ERROR;
  int32_t read = 0;
  icu().locale_of_tag(tag.c_str(), name.data(), static_cast<int32_t>(name.size()) - 1, &read, &status);
  const bool is_whole = static_cast<std::size_t>(std::max(read, int32_t{0})) == tag.size();
  if (U_FAILURE(status) || !is_whole) refuse_locale(tag, "is no language tag of BCP 47");
  return name;
}

// ICU takes another collation where it does not have the one that is named, as in de-u-co-nonsense.
void check_collation_type(const std::string& locale, const LocaleName& name) {
  LocaleName type{}, found{};
  UErrorCode status = U_ZERO_ERROR;
  const int32_t size = icu().keyword(name.data(), "collation", type.data(), static_cast<int32_t>(type.size()) - 1, &status);
  if (U_FAILURE(status) || size <= 0 || std::string_view(type.data()) == "standard") return;
  icu().equivalent_of(found.data(), static_cast<int32_t>(found.size()) - 1, "collation", name.data(), nullptr, &status);
  if (std::string_view(found.data()).find(fmt::format("collation={}", type.data())) == std::string_view::npos)
    refuse_locale(locale, fmt::format("ICU has no collation '{}' for it", type.data()));
}

// ICU takes the order of all languages for a language that it does not know.
void check_language(const std::string& locale, const UCollator* collator) {
  UErrorCode status = U_ZERO_ERROR;
  const char* const valid = icu().locale_of(collator, ULOC_VALID_LOCALE, &status);
  const bool is_root = locale == "root" || locale.starts_with("root-") || locale.starts_with("und");
  const std::string_view known = U_FAILURE(status) || valid == nullptr ? "" : valid;
  if (!is_root && (known.empty() || known == "root")) refuse_locale(locale, "ICU has no such language");
}

}  // namespace

struct Collation::Opened {
  explicit Opened(const std::string& locale) {
    const std::string tag = locale.starts_with("root-") ? "und" + locale.substr(4) : locale;
    const LocaleName name = locale == "root" ? LocaleName{'r', 'o', 'o', 't'} : locale_of_tag(tag);
    UErrorCode status = U_ZERO_ERROR;
    collator = icu().open(name.data(), &status);
    if (U_FAILURE(status)) refuse_locale(locale, "has options that ICU does not know");
    check_language(locale, collator);
    check_collation_type(locale, name);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { icu().close(collator); }

  UCollator* collator = nullptr;
};

bool Collation::encode(Text text, Code& code, Invalid invalid) const {
  constexpr std::size_t usual_units = 256;
  UChar usual[usual_units];
  std::vector<UChar> more;
  UChar* units = usual;
  if (text.size() > usual_units) {
    more.resize(text.size());
    units = more.data();
  }
  UErrorCode status = U_ZERO_ERROR;
  int32_t count = 0;
  const auto size = static_cast<int32_t>(text.size());  // rows are shorter than 2 GiB
  constexpr UChar32 replacement = 0xfffd, none = -1;
  icu().from_utf8(units, std::max(size, int32_t{1}), &count, text.data() == nullptr ? "" : text.data(), size,
                  invalid == Invalid::is_replaced ? replacement : none, nullptr, &status);
  if (U_FAILURE(status)) return false;
  constexpr std::size_t usual_key = 200;
  code.resize(usual_key);
  const auto key = [&] {
    return static_cast<std::size_t>(icu().sort_key(opened_->collator, units, count, reinterpret_cast<std::uint8_t*>(code.data()),
                                                   static_cast<int32_t>(code.size())));
  };
  const std::size_t bytes = key();
  const bool fits = bytes <= usual_key;
  code.resize(bytes);
  if (!fits) (void)key();
  return true;
}

std::string collation_version() {
  UVersionInfo version{}, data{};
  icu().version(version);
  UErrorCode status = U_ZERO_ERROR;
  UCollator* const root = icu().open("root", &status);
  if (U_FAILURE(status)) throw UsageError("ICU has no data on the order of languages; install it again");
  icu().version_of(root, data);
  icu().close(root);
  return fmt::format("ICU {}.{}, collation {}.{}", version[0], version[1], data[0], data[1]);
}

#else
namespace {

[[noreturn]] void refuse_without_icu() {
  throw UsageError(
      "this program was built without ICU, which knows the order of languages; install libicu-dev and build it again");
}

}  // namespace

struct Collation::Opened {
  explicit Opened(const std::string& /*locale*/) { refuse_without_icu(); }
};

bool Collation::encode(Text /*text*/, Code& /*code*/, Invalid /*invalid*/) const { refuse_without_icu(); }
std::string collation_version() { refuse_without_icu(); }
#endif

Collation::Collation(const std::string& locale) : locale_(locale), opened_(std::make_shared<const Opened>(locale)) {}
bool Collation::encode(Text text, Code& code) const { return encode(text, code, Invalid::is_refused); }
void Collation::encode_any(Text text, Code& code) const { (void)encode(text, code, Invalid::is_replaced); }

}  // namespace ecosort::lines

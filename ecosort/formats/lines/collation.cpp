#include "formats/lines/collation.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "formats/lines/key_bytes.h"

#ifdef ECOSORT_ICU
#include <dlfcn.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <array>
#include <memory>
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
  decltype(&ucol_strcollUTF8) compare = nullptr;
  decltype(&ucol_setAttribute) set_attribute = nullptr;
  decltype(&ucol_getAttribute) attribute = nullptr;
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
      find(library, major, "ucol_getSortKey", icu.sort_key) && find(library, major, "ucol_strcollUTF8", icu.compare) &&
      find(library, major, "ucol_setAttribute", icu.set_attribute) && find(library, major, "ucol_getAttribute", icu.attribute) &&
      find(library, major, "ucol_getVersion", icu.version_of) && find(library, major, "ucol_getLocaleByType", icu.locale_of) &&
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

struct CloseCollator {
  void operator()(UCollator* collator) const noexcept { icu().close(collator); }
};
using Collator = std::unique_ptr<UCollator, CloseCollator>;

Collator open_collator(const std::string& locale) {
  const std::string tag = locale.starts_with("root-") ? "und" + locale.substr(4) : locale;
  const LocaleName name = locale == "root" ? LocaleName{'r', 'o', 'o', 't'} : locale_of_tag(tag);
  UErrorCode status = U_ZERO_ERROR;
  Collator collator(icu().open(name.data(), &status));
  if (U_FAILURE(status)) refuse_locale(locale, "has options that ICU does not know");
  check_language(locale, collator.get());
  check_collation_type(locale, name);
  return collator;
}

constexpr Text level_ends("\x01\x00", 2);

// A text in UTF-16.
class Units {
 public:
  explicit Units(Text text) {
    if (text.size() > std::size(usual_)) more_.resize(text.size());
    UErrorCode status = U_ZERO_ERROR;
    int32_t count = 0;
    const auto size = static_cast<int32_t>(text.size());  // rows are shorter than 2 GiB
    constexpr UChar32 replacement = 0xfffd;
    icu().from_utf8(data(), size, &count, text.data(), size, replacement, nullptr, &status);
    size_ = static_cast<std::size_t>(count);
  }

  [[nodiscard]] const UChar* data() const noexcept { return more_.empty() ? usual_ : more_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] UChar* data() noexcept { return more_.empty() ? usual_ : more_.data(); }

  UChar usual_[256];
  std::vector<UChar> more_;
  std::size_t size_ = 0;
};

// The whole sort key of a text, which ends with a zero byte.
std::string sort_key(const UCollator* collator, Text text) {
  const Units units(text);
  const auto count = static_cast<int32_t>(units.size());
  constexpr std::size_t bytes_per_unit = 4;  // as a first guess
  std::string key(bytes_per_unit * (units.size() + bytes_per_unit), '\0');
  const auto make = [&] {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(key.data());
    return static_cast<std::size_t>(icu().sort_key(collator, units.data(), count, bytes, static_cast<int32_t>(key.size())));
  };
  const std::size_t size = make(), before = key.size();
  key.resize(size);
  if (size > before) (void)make();
  return key;
}

// The bytes of the primary weights of a text: all in front of the byte that ends a level. At most as many as the key has room
// for.
using Key = std::array<std::uint8_t, 1024>;

Text primary_bytes(const UCollator* collator, const UChar* units, std::size_t count, Key& key) {
  const int32_t made = icu().sort_key(collator, units, static_cast<int32_t>(count), key.data(), static_cast<int32_t>(key.size()));
  const Text all(reinterpret_cast<const char*>(key.data()), std::min(static_cast<std::size_t>(made), key.size()));
  return all.substr(0, all.find_first_of(level_ends));
}

// Primary weights of characters that have the same ones in any text of such characters.
class WeightTable {
 public:
  static constexpr std::size_t characters = 256;

  // `primary` ignores all but primary weights.
  explicit WeightTable(const UCollator* primary) {
    Key key;
    for (UChar c = ' '; c < characters; ++c) {
      const Text bytes = primary_bytes(primary, &c, 1, key);
      if (bytes.size() > most_bytes) continue;
      std::ranges::copy(bytes, weights_[c].bytes);
      weights_[c].size = static_cast<std::uint8_t>(bytes.size());
    }
    // First go those whose weights change beside any other, or all would differ beside them; and signs go before letters: one of
    // two that change each other stays.
    for (const bool beside_all : {false, true})
      for (UChar c = characters; c-- > ' ';)
        if (weights_[c].is_known() && !is_alike_beside_others(primary, c, beside_all)) weights_[c].size = unknown;
  }

  // Writes bytes depth ... of the weights; returns how many, at most `room`, or nothing where a character in front of their end,
  // or the one behind it, is not known.
  [[nodiscard]] std::optional<std::size_t> take(Text text, std::size_t depth, unsigned char* to,
                                                std::size_t room) const noexcept {
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size();) {
      const Weight* const weight = weight_at(text, at);
      if (weight == nullptr) return std::nullopt;
      if (count == room) return room;
      for (std::size_t i = 0; i < weight->size && count < room; ++i) {
        if (depth > 0)
          --depth;
        else
          to[count++] = weight->bytes[i];
      }
    }
    return count;
  }

  // Compares the weights of two texts: negative where a goes first. Nothing where characters up to the one behind those that
  // decide are not known.
  [[nodiscard]] std::optional<int> compare(Text a, Text b) const noexcept {
    Bytes x{*this, a}, y{*this, b};
    int one = 0, other = 0;
    do {
      one = x.next();
      other = y.next();
    } while (one == other && one > 0);
    if (one < 0 || other < 0 || !x.is_next_known() || !y.is_next_known()) return std::nullopt;
    return (one > other) - (one < other);
  }

 private:
  static constexpr std::size_t most_bytes = 3;
  static constexpr std::uint8_t unknown = most_bytes + 1;
  struct Weight {
    unsigned char bytes[most_bytes];
    std::uint8_t size = unknown;
    [[nodiscard]] bool is_known() const noexcept { return size != unknown; }
  };

  // The bytes of the weights of a text, one by one.
  struct Bytes {
    const WeightTable& table;
    Text text;
    std::size_t at = 0;
    const Weight* weight = nullptr;
    std::size_t given = 0;  // of the weight

    // Returns 0 behind the last one, which is less than any; less where a character is not known.
    [[nodiscard]] int next() noexcept {
      while (weight == nullptr || given == weight->size) {
        if (at == text.size()) return 0;
        weight = table.weight_at(text, at);
        if (weight == nullptr) return -1;
        given = 0;
      }
      return weight->bytes[given++];
    }
    [[nodiscard]] bool is_next_known() const noexcept {
      std::size_t place = at;
      return place == text.size() || table.weight_at(text, place) != nullptr;
    }
  };

  // Returns that of the character at `at`, which is passed; null where it is not known.
  [[nodiscard]] const Weight* weight_at(Text text, std::size_t& at) const noexcept {
    auto c = static_cast<unsigned char>(text[at++]);
    if (c >= 0x80) {
      if ((c != 0xc2 && c != 0xc3) || at == text.size() || (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80) return nullptr;
      c = static_cast<unsigned char>((c & 3U) << 6U | (static_cast<unsigned char>(text[at++]) & 0x3fU));
    }
    return weights_[c].is_known() ? &weights_[c] : nullptr;
  }

  // A character may change its neighbours: "ch" of Czech and "aa" of Danish are letters, digits may be numbers, and sort keys
  // shorten some weights. So it is looked at beside all others, in either order.
  [[nodiscard]] bool is_alike_beside_others(const UCollator* primary, UChar c, bool beside_all) const {
    std::array<UChar, 2 * characters + 1> units{};
    std::array<char, (2 * characters + 1) * most_bytes> wanted{};
    std::size_t count = 0, bytes = 0;
    const auto add = [&](UChar unit) {
      units[count++] = unit;
      for (std::size_t i = 0; i < weights_[unit].size; ++i) wanted[bytes++] = static_cast<char>(weights_[unit].bytes[i]);
    };
    for (UChar other = ' '; other < characters; ++other) {
      if (!weights_[other].is_known() || (!beside_all && other != c && other != 'e')) continue;
      add(c);
      add(other);
    }
    add(c);
    Key key;
    return bytes < key.size() && primary_bytes(primary, units.data(), count, key) == Text(wanted.data(), bytes);
  }

  std::array<Weight, characters> weights_{};
};

// Compares less than `collator` does, and faster.
Collator primary_of(const std::string& locale) {
  Collator primary = open_collator(locale);
  UErrorCode status = U_ZERO_ERROR;
  icu().set_attribute(primary.get(), UCOL_STRENGTH, UCOL_PRIMARY, &status);
  return primary;
}

// ICU compares from the first difference on. What is in front of it decides whether a mark counts where signs are ignored
// (shifted), and which mark comes first where the last one of a text decides (French) or the texts themselves do (identical):
// this makes cycles, which sort keys do not.
bool compares_in_cycles(const UCollator* collator) {
  UErrorCode status = U_ZERO_ERROR;
  const auto has = [&](UColAttribute attribute, UColAttributeValue value) {
    return icu().attribute(collator, attribute, &status) == value;
  };
  return has(UCOL_ALTERNATE_HANDLING, UCOL_SHIFTED) || has(UCOL_FRENCH_COLLATION, UCOL_ON) || has(UCOL_STRENGTH, UCOL_IDENTICAL);
}

}  // namespace

struct Collation::Opened {
  explicit Opened(const std::string& locale)
      : collator(open_collator(locale)),
        primary(primary_of(locale)),
        table(primary.get()),
        needs_keys(compares_in_cycles(collator.get())) {}

  Collator collator, primary;
  WeightTable table;
  bool needs_keys;
};

// Bytes depth ... of the primary weights, at most window_room.
std::size_t Collation::weights(Text text, std::size_t depth, unsigned char* to) const {
  if (const auto count = opened_->table.take(text, depth, to, window_room)) return *count;
  const Units units(text);
  Key key;
  return copy_from(primary_bytes(opened_->primary.get(), units.data(), units.size(), key), depth, to);
}

records::KeyWindow Collation::window(Text text, std::size_t depth, bool descends) const {
  unsigned char bytes[window_room];
  const std::size_t count = weights(text, depth, bytes);
  const std::uint32_t mark = count > window_bytes ? has_more - window_room : ends_here;
  records::KeyWindow window = make_window(bytes, count, false);
  window.extension += mark;
  return descends ? complement(window) : window;
}

int Collation::compare(Text a, Text b) const {
  if (a == b) return 0;
  if (const auto order = opened_->table.compare(a, b); order.value_or(0) != 0) return *order;
  if (opened_->needs_keys) return sort_key(opened_->collator.get(), a).compare(sort_key(opened_->collator.get(), b));
  UErrorCode status = U_ZERO_ERROR;
  return icu().compare(opened_->collator.get(), a.data(), static_cast<int32_t>(a.size()), b.data(),
                       static_cast<int32_t>(b.size()), &status);
}

std::string collation_version() {
  UVersionInfo version{}, data{};
  icu().version(version);
  UErrorCode status = U_ZERO_ERROR;
  const Collator root(icu().open("root", &status));
  if (U_FAILURE(status)) throw UsageError("ICU has no data on the order of languages; install it again");
  icu().version_of(root.get(), data);
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

records::KeyWindow Collation::window(Text /*text*/, std::size_t /*depth*/, bool /*descends*/) const { refuse_without_icu(); }
int Collation::compare(Text /*a*/, Text /*b*/) const { refuse_without_icu(); }
std::string collation_version() { refuse_without_icu(); }
#endif

Collation::Collation(const std::string& locale) : locale_(locale), opened_(std::make_shared<const Opened>(locale)) {}

}  // namespace ecosort::lines

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <regex>
#include <string>

#include "base/errors.h"
#include "cpp/formats/records/encoder_checks.h"
#include "cpp/formats/records/test_support.h"
#include "formats/records/decimal_key.h"
#include "formats/records/encoder.h"

namespace ecosort::records {
namespace {

// --- the definition of each type, spelled out ---

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

std::uint64_t number_in(const RecordKey& field, const std::byte* record) {
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < field.length; ++i) {
    const std::uint32_t at = field.is_big_endian ? i : field.length - 1 - i;
    number = number << 8U | std::to_integer<std::uint64_t>(record[field.offset + at]);
  }
  return number;
}

std::int64_t signed_number_in(const RecordKey& field, const std::byte* record) {
  const std::uint32_t unused = 64 - 8 * field.length;
  return static_cast<std::int64_t>(number_in(field, record) << unused) >> unused;
}

double floating_number_in(const RecordKey& field, const std::byte* record) {
  const std::uint64_t bits = number_in(field, record);
  return field.length == 4 ? double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))} : std::bit_cast<double>(bits);
}

int order_of_floating(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return order(std::isnan(a), std::isnan(b));
  if (a != b) return order(a, b);
  return order(std::signbit(b), std::signbit(a));
}

std::string text_in(const RecordKey& field, const std::byte* record) {
  return {reinterpret_cast<const char*>(record + field.offset), field.length};
}

// A number as a text of fixed length that compares like it: sign apart, 600 digits before and behind the point.
struct Decimal {
  int sign;
  std::string digits;
};

std::optional<Decimal> decimal_in(const std::string& text) {
  static const std::string blanks(" \t\r\n\0", 5);
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return std::nullopt;
  const std::string trimmed = text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
  static const std::regex form("([+-]?)([0-9]*)\\.?([0-9]*)");
  std::smatch match;
  if (!std::regex_match(trimmed, match, form) || match.length(2) + match.length(3) == 0) return std::nullopt;
  constexpr std::size_t width = 600;
  std::string digits(width - static_cast<std::size_t>(match.length(2)), '0');
  digits += match.str(2) + match.str(3);
  digits.resize(2 * width, '0');
  const bool is_zero = digits.find_first_not_of('0') == std::string::npos;
  return Decimal{is_zero ? 0 : match.str(1) == "-" ? -1 : 1, digits};
}

int order_of_decimal(const std::optional<Decimal>& x, const std::optional<Decimal>& y) {
  if (!x || !y) return order(x.has_value(), y.has_value());
  if (x->sign != y->sign) return order(x->sign, y->sign);
  return x->sign * order(x->digits, y->digits);
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

int order_of_field(const RecordKey& field, const std::byte* a, const std::byte* b) {
  const auto unsigned_less = [](const std::string& x, const std::string& y) {
    return sign(std::memcmp(x.data(), y.data(), x.size()));
  };
  switch (field.type) {
    case RecordKeyType::bytes:
      return unsigned_less(text_in(field, a), text_in(field, b));
    case RecordKeyType::nocase:
      return unsigned_less(upper(text_in(field, a)), upper(text_in(field, b)));
    case RecordKeyType::dec:
      return order_of_decimal(decimal_in(text_in(field, a)), decimal_in(text_in(field, b)));
    case RecordKeyType::unsigned_integer:
      return order(number_in(field, a), number_in(field, b));
    case RecordKeyType::signed_integer:
      return order(signed_number_in(field, a), signed_number_in(field, b));
    case RecordKeyType::floating:
      return order_of_floating(floating_number_in(field, a), floating_number_in(field, b));
    default:  // tests/test_mainframe_keys.py has the others
      return 0;
  }
}

int order_of_records(const RecordFormat& format, const std::byte* a, const std::byte* b) {
  for (const RecordKey& field : format.keys)
    if (const int result = order_of_field(field, a, b); result != 0) return field.descends ? -result : result;
  return 0;
}

// --- random formats and records ---

RecordKey random_field(std::mt19937_64& random, std::uint32_t record_size) {
  RecordKey field;
  field.type = static_cast<RecordKeyType>(random() % 6);
  field.descends = random() % 3 == 0;
  field.is_big_endian = random() % 2 == 0;
  const bool floating = field.type == RecordKeyType::floating;
  if (floating && record_size < 4) field.type = RecordKeyType::unsigned_integer;
  if (field.type < RecordKeyType::unsigned_integer) {
    field.length = static_cast<std::uint32_t>(1 + random() % record_size);
  } else {
    field.length = field.type == RecordKeyType::floating ? 4U << random() % 2 : 1U << random() % 4;
    while (field.length > record_size) field.length /= 2;
  }
  field.offset = static_cast<std::uint32_t>(random() % (record_size - field.length + 1));
  return field;
}

RecordFormat random_format(std::mt19937_64& random) {
  RecordFormat format;
  format.record_size = static_cast<std::uint32_t>(1 + random() % (random() % 2 == 0 ? 12 : 60));
  format.keys.clear();
  for (std::uint64_t fields = 1 + random() % 2 * (random() % 4); fields > 0; --fields)
    format.keys.push_back(random_field(random, format.record_size));
  return format;
}

// Bytes of any kind, or text that is mostly numbers.
Bytes random_record(std::uint32_t size, std::mt19937_64& random) {
  Bytes record = random_bytes(size, random, random() % 2 == 0 ? 2 : 256);
  static constexpr char text[] = "0011959999..-+  aAzZ\0";
  if (random() % 2 == 0)
    for (std::uint32_t i = 0; i < size; ++i) record[i] = static_cast<std::byte>(text[random() % (random() % 2 == 0 ? 12 : 21)]);
  return record;
}

// The key, 8 bytes at a time.
std::vector<std::uint8_t> key_of(const Encoder& encoder, const std::byte* record) {
  std::vector<std::uint8_t> key;
  for (std::uint64_t skip = 0; skip < encoder.key_length() + 20; skip += 8) {
    const std::uint64_t word = encoder.window(record, skip).prefix;
    for (unsigned i = 0; i < 8; ++i) key.push_back(static_cast<std::uint8_t>(word >> (56 - 8 * i)));
  }
  return key;
}

void check_windows(const Encoder& encoder, const std::byte* record, const std::vector<std::uint8_t>& key) {
  ASSERT_EQ(encoder.prefix(record), number_from(key, 0, 8));
  ASSERT_EQ(encoder.extension(record), number_from(key, 8, 4));
  for (std::uint64_t skip = 0; skip <= encoder.key_length(); ++skip) {
    ASSERT_EQ(encoder.window(record, skip).prefix, number_from(key, skip, 8)) << skip;
    ASSERT_EQ(encoder.window(record, skip).extension, number_from(key, skip + 8, 4)) << skip;
    encoder.with_reader([&]<class Reader>() { ASSERT_EQ(Reader(encoder, skip)(record), number_from(key, skip, 8)) << skip; },
                        skip);
  }
}

void check_pair(const RecordFormat& format, const Encoder& encoder, const std::byte* a, const std::byte* b) {
  const int expected = order_of_records(format, a, b);
  ASSERT_EQ(sign(encoder.compare(a, b)), expected);
  const auto key_a = key_of(encoder, a), key_b = key_of(encoder, b);
  ASSERT_EQ(order(key_a, key_b), expected) << "the windows, one after the other";
  const auto same = static_cast<std::uint64_t>(std::mismatch(key_a.begin(), key_a.end(), key_b.begin()).first - key_a.begin());
  for (std::uint64_t skip = 0; skip <= std::min(same, encoder.key_length()); ++skip)
    ASSERT_EQ(encoder.common_key_bytes(a, b, skip), std::min(same, encoder.key_length())) << skip;
  check_leading_bytes(encoder, a, b, expected);
}

std::string shown(const RecordFormat& format) {
  std::string text = "record size " + std::to_string(format.record_size);
  for (const RecordKey& field : format.keys) text += " " + to_string(field);
  return text;
}

TEST(TypedKeys, KeepTheContractOfTheEngineForAnyFormat) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 6000; ++round) {
    const RecordFormat format = random_format(random);
    const Encoder encoder(format);
    const Bytes a = random_record(format.record_size, random), b = random_record(format.record_size, random);
    if (random() % 2 == 0) std::copy_n(a.get(), random() % (format.record_size + 1), b.get());
    check_windows(encoder, a.get(), key_of(encoder, a.get()));
    check_pair(format, encoder, a.get(), b.get());
    check_pair(format, encoder, b.get(), a.get());
    if (HasFatalFailure()) FAIL() << "round " << round << " " << shown(format);
  }
}

TEST(TypedKeys, AreExtractedAsTheyAreRead) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 1000; ++round) {
    const RecordFormat format = random_format(random);
    const Encoder encoder(format);
    constexpr std::uint32_t count = 9;
    const Bytes records = random_bytes(count * format.record_size, random);
    check_extract(encoder, format.record_size, records.get(), count);
    if (HasFatalFailure()) FAIL() << shown(format);
  }
}

TEST(TypedKeys, OfOneNumberAreDecidedByThePrefix) {
  for (const char* text : {"0:u8", "0:i16", "0:u32be", "0:f32", "0:i64", "0:f64:desc"}) {
    EXPECT_TRUE(Encoder(make_record_format(16, {text})).prefix_decides()) << text;
  }
  EXPECT_TRUE(Encoder(make_record_format(100, {"0:14:dec"})).prefix_decides());
  EXPECT_FALSE(Encoder(make_record_format(100, {"0:15:dec"})).prefix_decides());
  EXPECT_TRUE(Encoder(make_record_format(100, {"0:22:dec"})).decides());
  EXPECT_FALSE(Encoder(make_record_format(100, {"0:23:dec"})).decides());
}

// --- every value that matters, of every number type ---

std::vector<std::uint64_t> patterns() {
  std::vector<std::uint64_t> values{0, 1, 2, 0x7f800000, 0x7f800001, 0xff800000, 0xff800001, 0x7fc00000, 0xffffffff};
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    values.insert(values.end(), {power, power - 1, ~power, ~power + 1, 0 - power});
  }
  for (const std::uint64_t exponent : {0x7ffULL, 0xfffULL, 0x000ULL, 0x800ULL, 0x3ffULL, 0xbffULL})
    for (const std::uint64_t fraction : {0ULL, 1ULL, 0x8000000000000ULL, 0xfffffffffffffULL})
      values.push_back(exponent << 52U | fraction);
  return values;
}

TEST(TypedKeys, OrderEveryPairOfExtremeNumbers) {
  for (const char* type : {"u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"}) {
    for (const char* ending : {"", "be", ":desc", "be:desc"}) {
      if (type[1] == '8' && ending[0] == 'b') continue;
      const RecordFormat format = make_record_format(9, {std::string("1:") + type + ending});
      const Encoder encoder(format);
      std::vector<Bytes> records;
      for (const std::uint64_t value : patterns()) {
        std::mt19937_64 random(value);
        records.push_back(random_bytes(9, random));
        std::memcpy(records.back().get() + 1, &value, 8);
      }
      for (const Bytes& a : records)
        for (const Bytes& b : records) {
          const int expected = order_of_records(format, a.get(), b.get());
          ASSERT_EQ(order(encoder.prefix(a.get()), encoder.prefix(b.get())), expected) << shown(format);
        }
    }
  }
}

// --- decimal numbers ---

std::vector<std::uint64_t> decimal_words(const std::string& text) {
  const DecimalKey key(reinterpret_cast<const std::byte*>(text.data()), static_cast<std::uint32_t>(text.size()));
  std::vector<std::uint64_t> words;
  for (std::uint64_t skip = 0; skip < DecimalKey::key_bytes(static_cast<std::uint32_t>(text.size())); skip += 8)
    words.push_back(key.word(skip));
  return words;
}

TEST(DecimalKey, OrdersNumbersByTheirValuesAtEveryLength) {
  std::mt19937_64 random(3);
  static constexpr char text[] = "0123456789000999...--++  \t\0x";
  for (const std::size_t length : {1, 2, 3, 4, 7, 14, 15, 22, 62, 63, 64, 65, 300}) {
    std::vector<std::string> fields;
    for (int i = 0; i < 150; ++i) {
      std::string field;
      const std::uint64_t symbols = random() % 3 == 0 ? sizeof text - 1 : 16;
      for (std::size_t at = 0; at < length; ++at) field += text[random() % symbols];
      if (random() % 2 == 0) field[random() % length] = '.';
      if (random() % 2 == 0) field[0] = random() % 2 == 0 ? '-' : ' ';
      if (random() % 3 == 0 && !fields.empty()) field = fields[random() % fields.size()].substr(0, length - 1) + field.back();
      fields.push_back(field);
    }
    std::vector<decltype(decimal_words(text))> words;
    std::vector<std::optional<Decimal>> numbers;
    for (const std::string& field : fields) {
      words.push_back(decimal_words(field));
      numbers.push_back(decimal_in(field));
    }
    for (std::size_t a = 0; a < fields.size(); ++a)
      for (std::size_t b = 0; b < fields.size(); ++b)
        ASSERT_EQ(order(words[a], words[b]), order_of_decimal(numbers[a], numbers[b])) << fields[a] << "\n" << fields[b];
  }
}

TEST(DecimalKey, HoldsTheLargestAndTheSmallestMagnitudeOfEveryLength) {
  for (const std::size_t length : {5UL, 63UL, 64UL, 16'383UL, 16'384UL, 1UL << 20U}) {
    const auto field = [&](std::string begin, char fill, std::string end) {
      return begin + std::string(length - begin.size() - end.size(), fill) + end;
    };
    const std::vector<std::string> ascending{
        field("x", '0', "0"),  field("-", '9', "9"), field("-9", '0', "0"), field("-", '0', "1"), field("-.", '0', "2"),
        field("-.", '0', "1"), field("", '0', "0"),  field(".", '0', "1"),  field("", '0', ".1"), field("", '0', "1"),
        field("9", '0', "0"),  field("", '9', "8"),  field("", '9', "9")};
    for (std::size_t i = 1; i < ascending.size(); ++i)
      EXPECT_LT(decimal_words(ascending[i - 1]), decimal_words(ascending[i])) << length << " " << i;
  }
}

// --- the grammar ---

TEST(KeySpec, ReadsTypesAndShorthands) {
  EXPECT_EQ(RecordKey("8:8:u64le"), (RecordKey{8, 8, false, RecordKeyType::unsigned_integer, false}));
  EXPECT_EQ(RecordKey("8:8:u64"), RecordKey("8:u64le"));
  EXPECT_EQ(RecordKey("8:i32be:desc"), (RecordKey{8, 4, true, RecordKeyType::signed_integer, true}));
  EXPECT_EQ(RecordKey("1:f32"), (RecordKey{1, 4, false, RecordKeyType::floating, false}));
  EXPECT_EQ(RecordKey("3:20:dec:desc"), (RecordKey{3, 20, true, RecordKeyType::dec, false}));
  EXPECT_EQ(RecordKey("3:20:nocase"), (RecordKey{3, 20, false, RecordKeyType::nocase, false}));
  EXPECT_EQ(RecordKey("3:u8"), (RecordKey{3, 1, false, RecordKeyType::unsigned_integer, false}));
}

TEST(RecordFormat, ReverseTurnsEveryFieldRound) {
  EXPECT_EQ(make_record_format(16, {"8:8", "0:4:u32:desc"}, true).keys,
            (std::vector{RecordKey{8, 8, true}, RecordKey{0, 4, false, RecordKeyType::unsigned_integer}}));
  EXPECT_EQ(make_record_format(100, {}, true).keys, (std::vector{RecordKey{0, 10, true}}));
}

// Checks the grammar as one expression; lengths of numbers apart.
bool is_key(const std::string& text) {
  static const std::regex form(
      "[0-9]+:([0-9]+(:(bytes|nocase|dec|([uif](8|16|32|64)(le|be)?)))?|([uif](8|16|32|64)(le|be)?))(:desc)?");
  std::smatch match;
  if (!std::regex_match(text, match, form)) return false;
  const bool has_length = match[4].matched || !match[7].matched;
  const std::string number = match[4].matched ? match.str(4) : match.str(7);
  if (!number.empty()) {
    static const std::regex numbers("[ui]8|[ui](16|32|64)(le|be)?|f(32|64)(le|be)?");
    if (!std::regex_match(number, numbers)) return false;
  }
  const std::size_t colon = text.find(':');
  const auto fits = [](const std::string& digits) { return digits.size() < 18 && std::stoull(digits) <= UINT32_MAX; };
  if (!fits(text.substr(0, colon))) return false;
  if (!has_length) return true;
  const std::string length = text.substr(colon + 1, text.find(':', colon + 1) - colon - 1);
  if (!fits(length) || std::stoull(length) == 0) return false;
  return number.empty() || std::stoull(length) == std::stoull(number.substr(1)) / 8;
}

TEST(KeySpec, TakesWhatTheGrammarSaysAndNothingElse) {
  std::mt19937_64 random(11);
  static constexpr const char* pieces[] = {":",   ":",   ":",   ":",  ":",   "0",          "1",          "2",     "4",
                                           "8",   "10",  "007", "u8", "u16", "u32",        "u64",        "i8",    "i64",
                                           "f32", "f64", "f16", "le", "be",  "desc",       "dec",        "bytes", "nocase",
                                           "",    "-",   "+",   " ",  "x",   "4294967295", "4294967296", "u",     "DESC"};
  std::size_t taken = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    if (random() % 2 == 0) {
      for (std::uint64_t i = random() % 9; i > 0; --i) text += pieces[random() % std::size(pieces)];
    } else {  // nearly right
      static constexpr const char* types[] = {"", ":u64", ":u32le", ":i16be", ":f64", ":dec", ":bytes", ":nocase", ":u8", ":f16"};
      static constexpr const char* lengths[] = {"1", "2", "4", "8", "12", "u64", "f32be", "dec", "i8"};
      text = std::to_string(random() % 200) + ":" + lengths[random() % 9] + types[random() % 10] +
             (random() % 3 == 0 ? ":desc" : "");
      if (random() % 4 == 0) text.insert(random() % text.size(), 1, static_cast<char>(1 + random() % 255));
    }
    bool accepted = true;
    try {
      const RecordKey field = RecordKey(text);
      ASSERT_EQ(RecordKey(to_string(field)), field) << text;
      ASSERT_FALSE(explain(field).empty());
      ++taken;
    } catch (const UsageError& error) {
      accepted = false;
      ASSERT_NE(std::string(error.what()).find("OFFSET:LENGTH"), std::string::npos);
    }
    ASSERT_EQ(accepted, is_key(text)) << "'" << text << "'";
  }
  EXPECT_GT(taken, 2'500U);
}

}  // namespace
}  // namespace ecosort::records

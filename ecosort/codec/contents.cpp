#include "codec/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "codec/facts.h"

namespace ecosort::codec {
namespace {

using std::string_view_literals::operator""sv;

unsigned byte_at(std::string_view first, std::size_t at) noexcept {
  return at < first.size() ? static_cast<unsigned char>(first[at]) : 0;
}

std::uint64_t number_at(std::string_view first, std::size_t at, std::size_t bytes) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;) number = number << 8U | byte_at(first, at + i);
  return number;
}

// Returns whether it has control characters that no text has.
bool is_binary(std::string_view first) noexcept {
  return std::ranges::any_of(first, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' && (byte < '\b' || byte > '\r') && byte != 0x1b;
  });
}

// A number of bits from 9 to 16, and two bits that no one uses.
bool has_bits_of_compress(std::string_view first) noexcept {
  const unsigned flags = byte_at(first, 2), bits = flags & 0x1fU;
  return bits >= 9 && bits <= 16 && (flags & 0x60U) == 0;
}

// The header has properties, the size of the dictionary, which is 2^n or 2^n + 2^(n-1), and that of the data, if it is known; the
// first byte behind it is always 0.
bool has_header_of_lzma(std::string_view first) noexcept {
  constexpr std::size_t size_at = 5, data_at = 13;
  constexpr std::uint64_t unknown = UINT64_MAX, most = std::uint64_t{1} << 38U;
  const std::uint64_t size = number_at(first, size_at, 8);
  return first.size() > data_at && may_be_lzma(first) && first[data_at] == '\0' && (size == unknown || size < most);
}

// RFC 1950: the first two bytes as a number are a multiple of 31; a window of 32 KiB, no dictionary.
bool has_header_of_zlib(std::string_view first) noexcept {
  constexpr unsigned reserved_block = 3;
  const unsigned flags = byte_at(first, 1);
  return first.size() > 2 && (0x7800U + flags) % 31 == 0 && (flags & 0x20U) == 0 &&
         (byte_at(first, 2) >> 1U & 3U) != reserved_block && is_binary(first);
}

// Thirteen numbers of eight hexadecimal digits, of which the twelfth is the length of the name, which a zero ends.
bool has_header_of_cpio(std::string_view first) noexcept {
  constexpr std::size_t header = 110;
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  return first.size() > header && std::ranges::all_of(first.substr(0, header), is_digit) &&
         first.substr(header).find('\0') != std::string_view::npos;
}

// The older header has numbers of eleven columns with octal digits, and the length of the name among them.
bool has_header_of_old_cpio(std::string_view first) noexcept {
  constexpr std::size_t header = 76;
  return first.size() > header && std::ranges::all_of(first.substr(0, header), [](char c) { return c >= '0' && c <= '7'; }) &&
         first.substr(header).find('\0') != std::string_view::npos;
}

// A version, then the opcode of a frame with its length, or of a value.
bool has_frame_of_pickle(std::string_view first) noexcept {
  constexpr unsigned oldest_framed = 4, newest = 5;
  constexpr std::size_t length_at = 3;
  constexpr std::uint64_t most = std::uint64_t{1} << 32U;
  const unsigned version = byte_at(first, 1);
  return version >= oldest_framed && version <= newest && byte_at(first, 2) == 0x95 && number_at(first, length_at, 8) < most;
}

// Its version is a line of its own; all that follows may be text.
bool has_header_of_pdf(std::string_view first) noexcept {
  constexpr std::size_t end_at = 8;
  return byte_at(first, end_at) == '\n' || byte_at(first, end_at) == '\r' || is_binary(first);
}

bool has_version_of_netcdf(std::string_view first) noexcept {
  const unsigned version = byte_at(first, 3);
  return version == 1 || version == 2 || version == 5;
}

bool has_method_of_lha(std::string_view first) noexcept { return byte_at(first, 6) == '-' && is_binary(first.substr(0, 22)); }

struct Row {
  std::string_view magic;
  Contents contents;
  bool (*agrees)(std::string_view first) noexcept = nullptr;  // null: the magic number says all
  std::size_t at = 0;
};

constexpr Contents compressed(std::string_view name, std::string_view is, std::string_view advice) {
  return {name, is, advice, {}};
}
constexpr Contents archive(std::string_view name, std::string_view is, std::string_view advice) { return {name, is, advice, {}}; }
constexpr Contents doubtful(Contents contents) {
  contents.is_certain = false;
  return contents;
}

constexpr auto old_zstd = compressed("zstd", "compressed by a zstd before 0.8", "decompress it first: zstd -dc");
constexpr auto zip = archive("zip", "an archive (zip, xlsx, ods)", "unpack it, or export its tables as CSV");
constexpr auto sqlite_log = archive("SQLite log", "the log of a database (SQLite)", "its rows are in the database: sqlite3 -csv");
constexpr auto unpack = "unpack it first"sv;
constexpr auto export_first = "export its rows as CSV first"sv;

// Lists what EcoSort itself cannot read, and .lzma. The first row counts where several begin alike. Sources: RFC 1950, 1952,
// 8878; the LZ4 frame format 1.6; the .xz file format 1.2.1 and lzma-file-format.txt; the formats' own documents; magic(5) of
// file 5.44.
constexpr std::array all_known{
    Row{""sv, {"lzma", "compressed by lzma", "decompress it first: xz -dc", Codec::xz}, has_header_of_lzma},

    Row{"\x1f\x9d"sv, compressed("compress", "compressed by compress", "decompress it first: zcat"), has_bits_of_compress},
    Row{"\x1f\xa0"sv, doubtful(compressed("lzh", "compressed by compress -H", "decompress it first: zcat"))},
    Row{"\x1f\x1e"sv, doubtful(compressed("pack", "compressed by pack", "decompress it first: zcat"))},
    Row{"LZIP\x01"sv, compressed("lzip", "compressed by lzip", "decompress it first: lzip -dc")},
    Row{"\x89LZO\0\r\n\x1a\n"sv, compressed("lzop", "compressed by lzop", "decompress it first: lzop -dc")},
    Row{"\x02\x21\x4c\x18"sv, compressed("lz4 -l", "compressed by lz4 -l", "decompress it first: lz4 -dc")},
    Row{"\x1e\xb5\x2f\xfd"sv, old_zstd},
    Row{"\x22\xb5\x2f\xfd"sv, old_zstd},
    Row{"\x23\xb5\x2f\xfd"sv, old_zstd},
    Row{"\x24\xb5\x2f\xfd"sv, old_zstd},
    Row{"\x25\xb5\x2f\xfd"sv, old_zstd},
    Row{"\x26\xb5\x2f\xfd"sv, old_zstd},
    Row{"\x27\xb5\x2f\xfd"sv, old_zstd},
    Row{"\x37\xa4\x30\xec"sv, archive("zstd dictionary", "a dictionary of zstd", "it holds no rows")},
    Row{"\xff\x06\0\0sNaPpY"sv, compressed("snappy", "compressed by snappy", "decompress it first: snzip -dc")},
    Row{"LRZI\0"sv, compressed("lrzip", "compressed by lrzip", "decompress it first: lrzip -d")},
    Row{"RZIP\x02"sv, compressed("rzip", "compressed by rzip", "decompress it first: rzip -d")},
    Row{"BZ3v1"sv, compressed("bzip3", "compressed by bzip3", "decompress it first: bzip3 -dc"), is_binary},
    Row{"bvx2"sv, compressed("lzfse", "compressed by lzfse", "decompress it first: lzfse -decode"), is_binary},
    Row{"x"sv, doubtful(compressed("zlib", "zlib data", "decompress it first: pigz -dc")), has_header_of_zlib},

    Row{"PK\x03\x04"sv, zip},
    Row{"PK\x05\x06"sv, zip},
    Row{"PK\x07\x08"sv, zip},
    Row{"7z\xbc\xaf"sv, archive("7z", "an archive (7z)", unpack)},
    Row{"Rar!\x1a\x07"sv, archive("rar", "an archive (rar)", unpack)},
    Row{"ustar"sv, archive("tar", "an archive (tar)", "unpack it first: tar -xf"), nullptr, 257},
    Row{"070701"sv, archive("cpio", "an archive (cpio)", unpack), has_header_of_cpio},
    Row{"070702"sv, archive("cpio", "an archive (cpio)", unpack), has_header_of_cpio},
    Row{"070707"sv, archive("cpio", "an archive (cpio)", unpack), has_header_of_old_cpio},
    Row{"\xc7\x71"sv, archive("cpio", "an archive (cpio)", unpack), is_binary},
    Row{"!<arch>\n"sv, archive("ar", "an archive (ar, deb)", unpack)},
    Row{"!<thin>\n"sv, archive("ar", "an archive (ar)", unpack)},
    Row{"\xed\xab\xee\xdb"sv, archive("rpm", "a package (rpm)", unpack)},
    Row{"MSCF\0\0\0\0"sv, archive("cab", "an archive (cab)", unpack)},
    Row{"xar!\0"sv, archive("xar", "an archive (xar)", unpack)},
    Row{"-lh"sv, archive("lha", "an archive (lha)", unpack), has_method_of_lha, 2},
    Row{"hsqs"sv, archive("squashfs", "a file system (squashfs)", unpack), is_binary},
    Row{"MSWIM\0\0\0"sv, archive("wim", "an archive (wim)", unpack)},

    Row{"PAR1"sv, archive("Parquet", "Parquet", "ecosort parquet sorts it"), is_binary},
    Row{"PARE"sv, archive("Parquet", "encrypted Parquet", export_first), is_binary},
    Row{"ARROW1\0\0"sv, archive("Arrow", "Arrow (Feather)", "Python's ecosort.sort_table() sorts what pyarrow reads of it")},
    Row{"FEA1"sv, archive("Feather", "Feather", "Python's ecosort.sort_table() sorts what pyarrow reads of it"), is_binary},
    Row{"ORC"sv, archive("ORC", "ORC", "Python's ecosort.sort_table() sorts what pyarrow reads of it"), is_binary},
    Row{"Obj\x01"sv, archive("Avro", "Avro", export_first)},
    Row{"SEQ\x06"sv, archive("SequenceFile", "a SequenceFile of Hadoop", export_first)},
    Row{"SQLite format 3\0"sv, archive("SQLite", "a database (SQLite)", "export its tables first: sqlite3 -csv")},
    Row{"\x37\x7f\x06\x82"sv, sqlite_log},
    Row{"\x37\x7f\x06\x83"sv, sqlite_log},
    Row{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"sv, sqlite_log},
    Row{"DUCK"sv, archive("DuckDB", "a database (DuckDB)", "export its tables first: duckdb -csv"), is_binary, 8},
    Row{"\0\x01\0\0Standard "sv, archive("Access", "a database (Access)", export_first)},
    Row{"PGDMP"sv, archive("pg_dump", "a dump of PostgreSQL", "make text of it first: pg_restore -f -"), is_binary},
    Row{"PGCOPY\n\xff\r\n\0"sv, archive("PGCOPY", "a binary copy of PostgreSQL", export_first)},
    Row{"\x89HDF\r\n\x1a\n"sv, archive("HDF5", "HDF5", export_first)},
    Row{"CDF"sv, archive("NetCDF", "NetCDF", export_first), has_version_of_netcdf},
    Row{"MATLAB 5.0 MAT-file"sv, archive("MAT", "data of MATLAB", export_first), is_binary},
    Row{"\x80"sv, archive("pickle", "a pickle of Python", export_first), has_frame_of_pickle},
    Row{"\x93NUMPY"sv, archive("npy", "an array of NumPy", "Python's ecosort.sort_memmap() sorts it")},
    Row{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, archive("xls", "an old document of Office (xls, doc)", export_first)},

    Row{"BAM\x01"sv, archive("BAM", "alignments (BAM)", "samtools sort orders them; lines: samtools view -h")},
    Row{"BCF\x02"sv, archive("BCF", "variants (BCF)", "bcftools sort orders them; lines: bcftools view")},
    Row{"CRAM"sv, archive("CRAM", "alignments (CRAM)", "samtools sort orders them; lines: samtools view -h"), is_binary},
    Row{"TBI\x01"sv, archive("tbi", "an index of tabix", "it holds no rows")},
    Row{"CSI\x01"sv, archive("csi", "an index of bcftools", "it holds no rows")},
    Row{"BAI\x01"sv, archive("bai", "an index of samtools", "it holds no rows")},

    Row{"\x7f"
        "ELF"sv,
        archive("ELF", "a program (ELF)", "it holds no rows")},
    Row{"\xca\xfe\xba\xbe\0"sv, archive("class", "a program (Java class, Mach-O)", "it holds no rows")},
    Row{"\0asm\x01\0\0\0"sv, archive("wasm", "a program (WebAssembly)", "it holds no rows")},
    Row{"%PDF-"sv, archive("PDF", "a document (PDF)", export_first), has_header_of_pdf},
    Row{"\x89PNG\r\n\x1a\n"sv, archive("PNG", "a picture (PNG)", "it holds no rows")},
    Row{"GIF87a"sv, archive("GIF", "a picture (GIF)", "it holds no rows"), is_binary},
    Row{"GIF89a"sv, archive("GIF", "a picture (GIF)", "it holds no rows"), is_binary},
    Row{"\xff\xd8\xff"sv, doubtful(archive("JPEG", "a picture (JPEG)", "it holds no rows")), is_binary},
    Row{"Salted__"sv, archive("OpenSSL", "encrypted by openssl", "decrypt it first"), is_binary},
    Row{"age-encryption.org/"sv, archive("age", "encrypted by age", "decrypt it first: age -d")},
    Row{"LUKS\xba\xbe"sv, archive("LUKS", "an encrypted volume (LUKS)", "open it first")},
};

constexpr Row brotli{".br"sv, compressed("brotli", "compressed by brotli", "decompress it first: brotli -dc")};

const Contents* by_magic(std::string_view first) noexcept {
  const auto begins_so = [&](const auto& row, std::size_t at) {
    return first.substr(std::min(at, first.size())).starts_with(row.magic) && (row.agrees == nullptr || row.agrees(first));
  };
  for (const CodecFacts* const codec : all_facts)
    if (!codec->magic.empty() && begins_so(*codec, 0)) return &codec->contents;
  for (const Row& row : all_known)
    if (begins_so(row, row.at)) return &row.contents;
  return nullptr;
}

// Returns what follows the frames to be skipped, as far as they lie in `first`.
std::string_view behind_skippable(std::string_view first) noexcept {
  constexpr std::size_t header = 8;
  while (is_skippable_frame(first))
    first.remove_prefix(static_cast<std::size_t>(std::min<std::uint64_t>(header + number_at(first, 4, 4), first.size())));
  return first;
}

}  // namespace

bool is_skippable_frame(std::string_view head) noexcept {
  return head.size() >= 4 && (byte_at(head, 0) & 0xf0U) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18"sv;
}

bool may_be_lzma(std::string_view head) noexcept {
  constexpr unsigned most_properties = 9 * 5 * 5;
  const auto dictionary = static_cast<std::uint32_t>(number_at(head, 1, 4));
  const bool is_size = dictionary == UINT32_MAX || std::has_single_bit(dictionary) ||
                       (std::popcount(dictionary) == 2 && (dictionary & dictionary << 1U) != 0);
  return head.size() > 4 && byte_at(head, 0) < most_properties && is_size;
}

const Contents* contents_of(std::string_view first, std::string_view name) noexcept {
  const std::string_view data = behind_skippable(first);
  const bool has_skippable = data.size() < first.size();
  first = data.substr(0, contents_bytes);
  const Contents* const found = by_magic(first);
  if (has_skippable) return found != nullptr && found->codec == Codec::lz4 ? found : &zstd_facts.contents;
  if (found != nullptr) return found;
  return name.ends_with(brotli.magic) && is_binary(first) ? &brotli.contents : nullptr;
}

std::string text_of(const Contents& contents) {
  if (!contents.codec) return fmt::format("{}; {}", contents.is, contents.advice);
  return fmt::format("{} data where rows should be: compressed twice, or not to be decompressed; {}", contents.name,
                     contents.advice);
}

std::string_view magic_of(Codec codec) noexcept { return facts_of(reader_of(codec)).magic; }

}  // namespace ecosort::codec

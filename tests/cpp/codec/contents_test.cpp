// Files are known by their first bytes, and text is none of them.
#include "codec/contents.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ecosort::codec {
namespace {

using std::string_literals::operator""s;

std::string name_of_contents(std::string_view first, std::string_view name = {}) {
  const Contents* const found = contents_of(first, name);
  return found == nullptr ? "-" : std::string(found->name);
}

std::string skippable(std::size_t bytes) {
  const std::string size{static_cast<char>(bytes & 0xffU), static_cast<char>(bytes >> 8U), 0, 0};
  return "\x5a\x2a\x4d\x18"s + size + std::string(bytes, 'x');
}

TEST(Contents, AreKnownByTheirFirstBytes) {
  const std::string zstd = "\x28\xb5\x2f\xfd"s, lz4 = "\x04\x22\x4d\x18"s, lzma_size(8, '\xff');
  const std::vector<std::pair<std::string, std::string>> known{
      {"\x1f\x8b\x08\0"s, "gzip"},
      {zstd, "zstd"},
      {lz4, "lz4"},
      {"\xfd"
       "7zXZ\0"s,
       "xz"},
      {"BZh91AY&SY", "bzip2"},
      {"BZh9\x17\x72\x45\x38\x50\x90", "bzip2"},
      {"]\0\0\x80\0"s + lzma_size + "\0\x1a"s, "lzma"},
      {"]\0\0\x10\0"s + "\x05\0\0\0\0\0\0\0\0"s, "lzma"},
      {"\x5e\0\0\xc0\0"s + lzma_size + '\0', "lzma"},  // 2^23 + 2^22
      {skippable(4) + zstd, "zstd"},
      {skippable(0) + skippable(300) + lz4, "lz4"},
      {skippable(300), "zstd"},
      {skippable(300).substr(0, 64), "zstd"},  // no one knows yet
      {"\x1f\x9d\x90"s, "compress"},
      {"LZIP\x01"s, "lzip"},
      {"\x89LZO\0\r\n\x1a\n"s, "lzop"},
      {"\x02\x21\x4c\x18"s, "lz4 -l"},
      {"\x24\xb5\x2f\xfd"s, "zstd"},
      {"\xff\x06\0\0sNaPpY"s, "snappy"},
      {"RZIP\x02\x01\0\0"s, "rzip"},
      {"BZ3v1\0\0\x10\0"s, "bzip3"},
      {"\xc7\x71\x01\0\x05\0"s, "cpio"},
      {"x\x9c\x4b\x04\0\0b\0b"s, "zlib"},
      {"x^\x05\x80\x31\x0d"s, "zlib"},
      {"PK\x03\x04\x14\0"s, "zip"},
      {"7z\xbc\xaf\x27\x1c", "7z"},
      {"Rar!\x1a\x07\x01", "rar"},
      {"n.txt"s + std::string(252, '\0') + "ustar  ", "tar"},
      {"PAR1\x15\x04"s, "Parquet"},
      {"ARROW1\0\0"s, "Arrow"},
      {"SQLite format 3\0"s, "SQLite"},
      {"\x89HDF\r\n\x1a\n"s, "HDF5"},
      {"\x93NUMPY\x01", "npy"},
      {"070701" + std::string(104, '0') + "a\0"s, "cpio"},
      {"!<arch>\ndebian-binary", "ar"},
      {"!<thin>\n/               0\n", "ar"},
      {"070707" + std::string(70, '1') + "a\0"s, "cpio"},
      {"\x37\x7f\x06\x82\0\x2d\xe2\x18"s, "SQLite log"},
      {"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"s, "SQLite log"},
      {"CDF\x02\0\0\0\0"s, "NetCDF"},
      {"MATLAB 5.0 MAT-file"s + std::string(105, ' ') + "\0\x01IM"s, "MAT"},
      {"\x80\x04\x95\x0a\0\0\0\0\0\0\0]"s, "pickle"},
      {"\xca\xfe\xba\xbe\0\0\0\x41"s, "class"},
      {"\0asm\x01\0\0\0"s, "wasm"},
      {"GIF89a\x01\0\x01\0"s, "GIF"},
      {"%PDF-1.7\n%\xe2\xe3\x01", "PDF"},
      {"%PDF-1.4\n1 0 obj\n", "PDF"},
  };
  for (const auto& [first, name] : known) EXPECT_EQ(name_of_contents(first), name) << first;
  EXPECT_EQ(name_of_contents("\x8b\x02\x80\0"s, "a.br"), "brotli");
  EXPECT_TRUE(is_skippable_frame(skippable(1)));
}

TEST(Contents, AreNoText) {
  for (const std::string& text : {""s,
                                  "a\nb\n"s,
                                  "BZh is how this line begins"s,
                                  "BZh9"s,
                                  "]\n0\n"s,
                                  "x^2 + y^2\n"s,
                                  "x\x01"s,
                                  "PAR1 and PAR2\n"s,
                                  "PK: a key\n"s,
                                  "070701 is a number\n"s,
                                  "070701"s + std::string(200, '0'),
                                  "ORC, a file format\n"s,
                                  "7z a.7z b\n"s,
                                  "LZIP is a program\n"s,
                                  "Rar! is none\n"s,
                                  "bvx2\n"s,
                                  "%PDF-1.7 is what it begins with\n"s,
                                  "070707"s + std::string(200, '1'),
                                  "GIF89a or GIF87a\n"s,
                                  "CDF\n"s,
                                  "\x80\x04\x95\x0a\0\0\0\x01\0\0\0]"s,
                                  "xar!\n"s,
                                  "12-lh5-\n"s,
                                  "Obj\n"s,
                                  "DUCKDUCK"s,
                                  "\x1f"s,
                                  "\x1f\x8b"s,
                                  "\x1f\x9d\x05"s,
                                  "]\0\0\x90\0"s + std::string(9, '\0'),
                                  "]\0\0\x80\0"s + std::string(8, '\xff') + "\x01"s,
                                  std::string(300, 'u') + "ustar",
                                  "\xe4\xf6\xfc\n"s})
    EXPECT_EQ(name_of_contents(text), "-") << text;
  EXPECT_EQ(name_of_contents("plain text", "a.br"), "-");
}

TEST(Contents, OfEveryCodecHaveItsMagicNumber) {
  for (const Codec codec : all_codecs) EXPECT_FALSE(magic_of(codec).empty()) << name_of(codec);
}

TEST(Contents, ThatMayBeNumbersAreDoubtful) {
  EXPECT_FALSE(contents_of("\x1f\x1e")->is_certain);
  EXPECT_FALSE(contents_of("x\x9c\x4b\x04\0\0b\0b"s)->is_certain);
  EXPECT_TRUE(contents_of("\x1f\x8b\x08")->is_certain);
}

}  // namespace
}  // namespace ecosort::codec

#include "codec/codec.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/errors.h"
#include "base/text.h"
#include "codec/encoder.h"
#include "codec/facts.h"

namespace ecosort::codec {
namespace {

constexpr std::string_view older_ending_of_xz = ".lzma";  // xz reads its older format, and does not write it

}  // namespace

const char* name_of(Codec codec) noexcept { return facts_of(codec).name; }

std::optional<Codec> codec_of_word(std::string_view word) noexcept {
  for (const Codec codec : all_codecs)
    if (word == facts_of(codec).name || word == facts_of(codec).ending.substr(1)) return codec;
  return std::nullopt;
}

std::optional<Codec> codec_of_file_name(std::string_view name) noexcept {
  for (const Codec codec : all_codecs)
    if (has_ending(name, facts_of(codec).ending)) return codec;
  return std::nullopt;
}

std::optional<Codec> codec_of_input_name(std::string_view name) noexcept {
  if (has_ending(name, older_ending_of_xz)) return Codec::xz;
  const std::optional<Codec> codec = codec_of_file_name(name);
  return codec ? std::optional(reader_of(*codec)) : std::nullopt;
}

namespace {

// `text(codec)` of all codecs, in their order.
template <class Text>
std::string listed(const Text& text, std::string_view between, std::string_view before_last) {
  std::string list;
  for (const Codec codec : all_codecs) {
    if (!list.empty()) list += codec == all_codecs.back() ? before_last : between;
    list += text(codec);
  }
  return list;
}

}  // namespace

std::string versions() {
  return listed([](Codec codec) { return fmt::format("{} {}", name_of(codec), facts_of(codec).library()); }, ", ", ", ");
}

std::string names_with_bars() {
  return listed([](Codec codec) { return std::string(name_of(codec)); }, "|", "|");
}

std::string endings() {
  return listed([](Codec codec) { return std::string(facts_of(codec).ending); }, " ", " ");
}

std::vector<std::string_view> endings_of_inputs() {
  std::vector<std::string_view> endings;
  endings.reserve(all_codecs.size() + 1);
  for (const Codec codec : all_codecs) endings.push_back(facts_of(codec).ending);
  endings.push_back(older_ending_of_xz);
  return endings;
}

std::string levels() {
  const auto text = [](Codec codec) {
    const Levels levels = facts_of(codec).levels;
    return fmt::format("{} {} to {}", name_of(codec), levels.least, levels.most);
  };
  return listed(text, ", ", ", ");
}

std::string in_front(std::string_view option) { return option.empty() ? "" : fmt::format("{}: ", option); }

bool decompress_of_word(const std::string& word, std::string_view option) {
  if (word != "auto" && word != "never")
    throw UsageError(fmt::format("{}'{}' is neither auto nor never", in_front(option), word));
  return word == "auto";
}

int level_of_word(const std::string& word, std::string_view option) {
  int level = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), level);
  if (error != std::errc() || end != word.data() + word.size())
    throw UsageError(fmt::format("{}'{}' is no number", in_front(option), word));
  return level;
}

std::optional<OutputCodec> output_codec_of(const Compression& terms, const std::string& output) {
  const std::string& word = terms.output;
  std::optional<Codec> codec = codec_of_word(word);
  if (word == "auto")
    codec = codec_of_file_name(output);
  else if (word != "none" && !codec)
    throw UsageError(fmt::format("'{}' is none of auto, none, {}, with which an output can be compressed", word,
                                 listed([](Codec each) { return std::string(name_of(each)); }, ", ", " and ")));
  if (!codec) {
    if (terms.level) throw UsageError("a level is for a compressed output; say what compresses it, such as zstd");
    return std::nullopt;
  }
  const Levels levels = levels_of(*codec);
  const int level = terms.level.value_or(levels.usual);
  if (level < levels.least || level > levels.most)
    throw UsageError(fmt::format("level {}: {} has levels {} to {}", level, name_of(*codec), levels.least, levels.most));
  return OutputCodec{*codec, level};
}

}  // namespace ecosort::codec

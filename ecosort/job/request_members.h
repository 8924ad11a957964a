// The members of a request's structures, each listed once (each_member), for what writes, reads and describes its text.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/json.h"
#include "base/text_json.h"
#include "ecosort/request.hpp"

namespace ecosort::job {

inline constexpr std::string_view request_schema_name = "ecosort.request/1";

constexpr std::array<std::string_view, 3> names_of(PlaceKind /*of*/) { return {"file", "resumable", "in_place"}; }
constexpr std::array<std::string_view, 3> names_of(GroupsThatStay /*of*/) { return {"all", "repeated", "singles"}; }
constexpr std::array<std::string_view, 2> names_of(RowThatStays /*of*/) { return {"first", "last"}; }
constexpr std::array<std::string_view, 3> names_of(InputOrder /*of*/) { return {"any", "sorted", "believed"}; }

template <class Type>
concept Enumeration = std::is_enum_v<Type>;

template <class Type>
concept Key = std::same_as<Type, RecordKey> || std::same_as<Type, ValueKey> || std::same_as<Type, LineKey>;

template <class Type>
concept Structured = std::is_class_v<Type> && !Key<Type>;

template <class Type>
concept WholeNumber = std::unsigned_integral<Type> && !std::same_as<Type, bool>;

template <class Structure, class Each>
void each_member_of_rows(Structure& of, Each&& each) {
  using Type = std::remove_const_t<Structure>;
  if constexpr (std::is_same_v<Type, Records>) {
    each("record_size", of.record_size);
    each("keys", of.keys);
    each("reverse", of.reverse);
    each("skip_bytes", of.skip_bytes);
  } else if constexpr (std::is_same_v<Type, Lines>) {
    each("keys", of.keys);
    each("ordering", of.ordering);
    each("separator", of.separator);
    each("terminator", of.terminator);
    each("stable", of.stable);
    each("header_lines", of.header_lines);
    each("header_mark", of.header_mark);
    each("random_source", of.random_source);
    each("random_salt", of.random_salt);
    each("collate", of.collate);
    each("collation_version", of.collation_version);
    each("paragraphs", of.paragraphs);
    each("record_lines", of.record_lines);
    each("record_start", of.record_start);
  } else {
    each("keys", of.keys);
    each("nulls_first", of.nulls_first);
    each("strict", of.strict);
    each("date_format", of.date_format);
    each("collation_version", of.collation_version);
    each("bad_rows", of.bad_rows);
    if constexpr (std::is_same_v<Type, Csv>) {
      each("delimiter", of.delimiter);
      each("quote", of.quote);
      each("escape", of.escape);
      each("header", of.header);
      each("comment", of.comment);
      each("skip_lines", of.skip_lines);
    } else {
      each("allow_missing", of.allow_missing);
    }
  }
}

template <class Type>
concept Rows = std::same_as<Type, Records> || std::same_as<Type, Lines> || std::derived_from<Type, Values>;

template <class Structure, class Each>
void each_member_of_groups(Structure& of, Each&& each) {
  each("by", of.by);
  each("whole_rows", of.whole_rows);
  each("only", of.only);
  each("keep", of.keep);
  each("count", of.count);
  each("count_name", of.count_name);
}

template <class Structure, class Each>
void each_member_of_compression(Structure& of, Each&& each) {
  each("decompress", of.decompress);
  each("output", of.output);
  each("level", of.level);
  each("runs", of.runs);
  each("program", of.program);
  each("assumed_ratio", of.assumed_ratio);
  each("energy", of.energy);
}

template <class Structure, class Each>
void each_member_of_means(Structure& of, Each&& each) {
  each("memory_bytes", of.memory_bytes);
  each("memory_is_a_wish", of.memory_is_a_wish);
  each("threads", of.threads);
  each("merge_threads", of.merge_threads);
  each("temp_directories", of.temp_directories);
  each("io", of.io);
  each("request_bytes", of.request_bytes);
  each("request_depth", of.request_depth);
  each("keep_free_bytes", of.keep_free_bytes);
  each("gather", of.gather);
  each("run_records", of.run_records);
  each("batch_size", of.batch_size);
}

template <class Structure, class Each>
void each_member(Structure& of, Each&& each) {
  using Type = std::remove_const_t<Structure>;
  if constexpr (Rows<Type>) {
    each_member_of_rows(of, each);
  } else if constexpr (std::is_same_v<Type, Groups>) {
    each_member_of_groups(of, each);
  } else if constexpr (std::is_same_v<Type, Place>) {
    each("output", of.output);
    each("kind", of.kind);
    each("space_bytes", of.space_bytes);
    each("as_is", of.as_is);
    each("split", of.split);
    each("claim", of.claim);
  } else if constexpr (std::is_same_v<Type, EnergyTerms>) {
    each("idle_w", of.idle_w);
    each("core_w", of.core_w);
    each("gb_j", of.gb_j);
  } else if constexpr (std::is_same_v<Type, Compression>) {
    each_member_of_compression(of, each);
  } else if constexpr (std::is_same_v<Type, Means>) {
    each_member_of_means(of, each);
  } else if constexpr (std::is_same_v<Type, Verification>) {
    each("reread", of.reread);
    each("checksum", of.checksum);
    each("expected_hash", of.expected_hash);
  } else if constexpr (std::is_same_v<Type, Shuffle>) {
    each("seed", of.seed);
    each("skip", of.skip);
  } else {
    static_assert(std::is_same_v<Type, Request>);
    each("inputs", of.inputs);
    each("unique", of.unique);
    each("groups", of.groups);
    each("limit", of.limit);
    each("by_group", of.by_group);
    each("input_order", of.input_order);
    each("shuffle", of.shuffle);
    each("place", of.place);
    each("means", of.means);
    each("compression", of.compression);
    each("verification", of.verification);
  }
}

// The values of single members.
inline Json json_of(bool value) { return value; }
inline Json json_of(WholeNumber auto value) { return value; }
inline Json json_of(int value) { return value; }
inline Json json_of(double value) { return value; }
inline Json json_of(const std::string& text) { return text_json(text); }
inline Json json_of(char byte) { return json_of(std::string(1, byte)); }
inline Json json_of(Enumeration auto value) { return names_of(value)[static_cast<std::size_t>(value)]; }

}  // namespace ecosort::job

#include "demsort_inplace/job_records.h"

#include <algorithm>
#include <bit>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/uint128.h"
#include "demsort_inplace/kept_keys.h"
#include "run/description.h"

namespace ecosort::demsort_inplace {

namespace {

class Writer : public ByteWriter {
 public:
  using ByteWriter::add;
  void add(const hash::MultisetHash& hash) {
    add(hash.low);
    add(hash.high);
    add(hash.count);
  }
};

class Reader : public ByteReader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : ByteReader(bytes, [] { fail(); }) {}
  hash::MultisetHash next_hash() {
    hash::MultisetHash hash;
    hash.low = next();
    hash.high = next();
    hash.count = next();
    return hash;
  }
  [[noreturn]] static void fail() {
    throw IoError("the journal holds a record that this version cannot read; finish the job with the version that began it");
  }
};

constexpr std::uint64_t format_version = 11;
// Runs of records keep no keys of their forecast, and no run has blocks of truncated rows.
constexpr std::uint64_t version_before_keys = 10;
constexpr std::uint64_t version_of_words = 9;  // likewise, and jobs of rows keep the words of a command line, and no request

// The direction of a key, its type and its byte order in one word.
std::uint64_t kind_of(const RecordKey& key) {
  return std::uint64_t{key.descends} | std::uint64_t{static_cast<std::uint8_t>(key.type)} << 8U |
         std::uint64_t{key.is_big_endian} << 16U;
}

void set_kind(RecordKey& key, std::uint64_t kind) {
  key.descends = (kind & 0xff) != 0;
  key.type = static_cast<RecordKeyType>(kind >> 8U & 0xff);
  key.is_big_endian = (kind >> 16U & 0xff) != 0;
  if (kind >> 24U != 0) Reader::fail();
}

// Checks runs of records and of rows.
void check_head(const Layout& layout) {
  if (!std::has_single_bit(layout.unit) || layout.unit < page_bytes) Reader::fail();
  if (layout.head_bytes > run::most_head_bytes || layout.head_bytes % layout.unit != 0) Reader::fail();
}

// Checks what the arithmetic of a Layout takes for granted.
void check(const Layout& layout) {
  const bool has_sizes = layout.records > 0 && layout.record_size > 0 && layout.piece_records > 0 && layout.run_block.records > 0;
  const bool fits =
      layout.run_block.bytes % page_bytes == 0 &&
      std::uint64_t{layout.run_block.records} * layout.record_size + planner::run_block_trailer_bytes <= layout.run_block.bytes;
  if (!has_sizes || !fits || layout.records > (std::uint64_t{1} << 62U) / layout.record_size) Reader::fail();
}

void add_packing(Writer& out, const JobHeader& header) {
  out.add(std::uint64_t{header.layout.packs});
  out.add(header.layout.assumed_ratio);
  out.add(std::uint64_t{header.compression.is_auto});
  out.add(static_cast<std::uint64_t>(header.compression.terms.codec));
  out.add(static_cast<std::uint64_t>(header.compression.terms.level));
}

void take_packing(Reader& in, JobHeader& header) {
  constexpr std::uint64_t most_level = 32, most_ratio = std::uint64_t{1} << 32U;
  header.layout.packs = in.next_flag();
  header.layout.assumed_ratio = in.next_below(most_ratio);
  header.compression.is_auto = in.next_flag();
  header.compression.terms.codec = static_cast<codec::BlockCodec>(in.next_below(codec::block_codecs));
  header.compression.terms.level = static_cast<int>(in.next_below(most_level));
  if (header.layout.packs && (header.compression.is_none() || header.is_in_place())) Reader::fail();
}

void add_inputs(Writer& out, const std::vector<InputIdentity>& inputs) {
  out.add(std::uint64_t{inputs.size()});
  for (const InputIdentity& input : inputs) {
    out.add(input.path);
    out.add(input.inode);
    out.add(input.size_bytes);
    out.add(static_cast<std::uint64_t>(input.modified_ns));
  }
}

std::vector<InputIdentity> next_inputs(Reader& in) {
  std::vector<InputIdentity> inputs;
  for (std::uint64_t left = in.next_count(4 * sizeof(std::uint64_t)); left > 0; --left) {
    InputIdentity input;
    input.path = in.next_text();
    input.inode = in.next();
    input.size_bytes = in.next();
    input.modified_ns = static_cast<std::int64_t>(in.next());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void add_format(Writer& out, const records::RecordFormat& format) {
  out.add(std::uint64_t{format.keys.size()});
  for (const RecordKey& key : format.keys) {
    out.add(key.offset);
    out.add(key.length);
    out.add(kind_of(key));
  }
}

records::RecordFormat next_format(Reader& in, std::uint32_t record_size) {
  records::RecordFormat format{record_size, {}};
  for (std::uint64_t left = in.next_count(3 * sizeof(std::uint64_t)); left > 0; --left) {
    RecordKey key;
    key.offset = in.next_32();
    key.length = in.next_32();
    set_kind(key, in.next());
    format.keys.push_back(key);
  }
  return format;
}

void add_terms(Writer& out, const LineTerms& terms) {
  out.add(terms.command);
  out.add(terms.request);
  out.add(terms.mark_bytes);
  out.add(std::uint64_t{terms.first_row.has_value()});
  if (terms.first_row) out.add(*terms.first_row);
  for (const std::uint64_t value : {terms.block_bytes, terms.most_merged, terms.run_places}) out.add(value);
}

LineTerms::OldWords next_words(Reader& in) {
  LineTerms::OldWords old;
  for (std::uint64_t left = in.next_count(sizeof(std::uint64_t)); left > 0; --left) old.words.push_back(in.next_text());
  return old;
}

void take_rules(Reader& in, LineTerms::OldWords& old) {
  old.rules.options_first = in.next_flag();
  old.rules.takes_begin_alone = in.next_flag();
  const std::string salt = in.next_text();
  if (salt.size() != old.salt.size()) Reader::fail();
  std::ranges::copy(salt, old.salt.begin());
}

LineTerms next_terms(Reader& in, std::uint64_t version) {
  LineTerms terms;
  terms.command = in.next_text();
  if (version == version_of_words)
    terms.old = next_words(in);
  else
    terms.request = in.next_text();
  terms.mark_bytes = in.next();
  if (in.next_flag()) terms.first_row = in.next_text();
  if (terms.old) take_rules(in, *terms.old);
  terms.block_bytes = in.next();
  terms.most_merged = in.next();
  terms.run_places = in.next();
  constexpr std::uint64_t most = std::uint64_t{1} << 32U;
  const bool has_sizes = terms.block_bytes > 0 && terms.most_merged > 0 && terms.run_places > 0;
  if (!has_sizes || terms.mark_bytes > formats::RowFormat::most_mark_bytes || terms.block_bytes % page_bytes != 0 ||
      std::max({terms.block_bytes, terms.most_merged, terms.run_places}) > most)
    Reader::fail();
  return terms;
}

}  // namespace

std::vector<std::byte> encode(const JobHeader& header) {
  Writer out;
  const Layout& layout = header.layout;
  for (const std::uint64_t value :
       {format_version, header.job, layout.records, std::uint64_t{layout.record_size}, std::uint64_t{layout.run_block.bytes},
        std::uint64_t{layout.run_block.records}, layout.piece_records, layout.unit, layout.head_bytes, layout.interval_bytes,
        header.memory_bytes})
    out.add(value);
  add_format(out, header.format);
  out.add(std::uint64_t{header.threads});
  out.add(static_cast<std::uint64_t>(header.kind));
  out.add(std::uint64_t{layout.keeps_runs});
  out.add(std::uint64_t{header.reread});
  add_packing(out, header);
  add_inputs(out, header.inputs);
  out.add(std::uint64_t{header.lines.has_value()});
  if (header.lines) add_terms(out, *header.lines);
  if (header.kind == JobHeader::Kind::lines_in_place) out.add(header.lines->total_bytes);
  if (!header.lines) out.add(layout.key_stride);
  return out.take();
}

JobHeader decode_header(std::span<const std::byte> bytes) {
  Reader in(bytes);
  const std::uint64_t version = in.next();
  if (version < version_of_words || version > format_version) Reader::fail();
  JobHeader header;
  header.job = in.next();
  Layout& layout = header.layout;
  layout.records = in.next();
  layout.record_size = in.next_32();
  layout.run_block.bytes = in.next_32();
  layout.run_block.records = in.next_32();
  layout.piece_records = in.next();
  layout.unit = in.next();
  layout.head_bytes = in.next();
  layout.interval_bytes = in.next();
  header.memory_bytes = in.next();
  header.format = next_format(in, layout.record_size);
  header.threads = in.next_32();
  header.kind = static_cast<JobHeader::Kind>(in.next_32());
  if (header.kind < JobHeader::Kind::in_place || header.kind > JobHeader::Kind::lines_in_place) Reader::fail();
  layout.keeps_runs = in.next_flag();
  header.reread = in.next_flag();
  take_packing(in, header);
  header.inputs = next_inputs(in);
  if (in.next_flag()) header.lines = next_terms(in, version);
  if (header.lines.has_value() != (header.kind >= JobHeader::Kind::resumable_lines)) Reader::fail();
  if (header.kind == JobHeader::Kind::lines_in_place) {
    header.lines->total_bytes = in.next();
    if (header.inputs.size() != 1) Reader::fail();
  }
  if (version > version_before_keys && !header.lines) layout.key_stride = in.next();
  in.end();
  check_head(layout);
  if (header.lines) return header;
  check(layout);
  if (kept_keys_bytes(layout.run_run_blocks(0), layout.key_stride) > layout.head_bytes) Reader::fail();
  records::check_record_format(header.format);
  return header;
}

namespace {

void add_line_run(Writer& out, const LineRunDone& run) {
  out.add(run.bytes);
  out.add(run.longest);
  const auto before_end = static_cast<unsigned char>(run.next.before_end);
  for (const std::uint64_t value : {run.next.input, run.next.offset, run.next.lines, std::uint64_t{before_end}}) out.add(value);
  out.add(run.dropped);
  out.add(run.first);
  out.add(run.merged);
  out.add(std::uint64_t{run.is_header});
  out.add(run.blank_lines);
  out.add(run.repeated_header.rows);
  out.add(run.repeated_header.input);
  out.add(run.repeated_header.line);
  out.add(std::uint64_t{run.key_counts.size()});
  for (const formats::KeyCounts& counts : run.key_counts)
    for (const std::uint64_t value : {counts.empty, counts.unparsable, counts.absent}) out.add(value);
  // Few files have such rows. A version that does not count them refuses the record, as it would take another value.
  if (std::ranges::any_of(run.key_counts, [](const formats::KeyCounts& counts) { return counts.repeated > 0; }))
    for (const formats::KeyCounts& counts : run.key_counts) out.add(counts.repeated);
}

LineRunDone next_line_run(Reader& in) {
  LineRunDone run;
  run.bytes = in.next();
  run.longest = in.next();
  run.next.input = in.next();
  run.next.offset = in.next();
  run.next.lines = in.next();
  const std::uint64_t before_end = in.next();
  if (before_end > UINT8_MAX) Reader::fail();
  run.next.before_end = static_cast<char>(before_end);
  run.dropped = in.next_hash();
  run.first = in.next();
  run.merged = in.next();
  run.is_header = in.next_flag();
  run.blank_lines = in.next();
  run.repeated_header.rows = in.next();
  run.repeated_header.input = in.next_text();
  run.repeated_header.line = in.next();
  for (std::uint64_t left = in.next_count(3 * sizeof(std::uint64_t)); left > 0; --left) {
    formats::KeyCounts counts;
    counts.empty = in.next();
    counts.unparsable = in.next();
    counts.absent = in.next();
    run.key_counts.push_back(counts);
  }
  if (in.has_more())
    for (formats::KeyCounts& counts : run.key_counts) counts.repeated = in.next();
  return run;
}

}  // namespace

std::vector<std::byte> encode(const RunDone& done) {
  Writer out;
  out.add(done.run);
  out.add(done.tally.hash);
  out.add(high_half(done.tally.checksum.sum));
  out.add(low_half(done.tally.checksum.sum));
  out.add(done.packed_bytes);
  out.add(std::uint64_t{done.lines.has_value()});
  if (done.lines) add_line_run(out, *done.lines);
  return out.take();
}

RunDone decode_run(std::span<const std::byte> bytes) {
  Reader in(bytes);
  RunDone done;
  done.run = in.next();
  done.tally.hash = in.next_hash();
  const std::uint64_t high = in.next();
  done.tally.checksum.sum = make_uint128(high, in.next());
  done.packed_bytes = in.next();
  if (done.packed_bytes % page_bytes != 0) Reader::fail();
  if (in.next_flag()) done.lines = next_line_run(in);
  in.end();
  return done;
}

std::vector<std::byte> encode(const State& state) {
  Writer out;
  out.add(static_cast<std::uint64_t>(state.kind));
  out.add(state.records);
  out.add(state.hash);
  out.add(state.consumed.size());
  for (const std::uint64_t records : state.consumed) out.add(records);
  out.add(state.tail);
  out.add(std::uint64_t{state.lines.has_value()});
  if (state.lines) {
    for (const std::uint64_t value : {state.lines->bytes, state.lines->last_row, state.lines->blank_lines}) out.add(value);
    out.add(state.lines->dropped);
  }
  return out.take();
}

State decode_state(std::span<const std::byte> bytes) {
  Reader in(bytes);
  State state;
  const std::uint32_t kind = in.next_32();
  if (kind < static_cast<std::uint32_t>(State::Kind::merging) || kind > static_cast<std::uint32_t>(State::Kind::abandoned))
    Reader::fail();
  state.kind = static_cast<State::Kind>(kind);
  state.records = in.next();
  state.hash = in.next_hash();
  for (std::uint64_t left = in.next_count(sizeof(std::uint64_t)); left > 0; --left) state.consumed.push_back(in.next());
  state.tail = in.next_bytes();
  if (in.next_flag()) {
    state.lines.emplace();
    state.lines->bytes = in.next();
    state.lines->last_row = in.next();
    state.lines->blank_lines = in.next();
    state.lines->dropped = in.next_hash();
  }
  in.end();
  return state;
}

std::uint64_t state_bytes(const JobHeader& header) noexcept {
  constexpr std::uint64_t common = 8, of_lines = 6;
  if (header.lines) return (common + of_lines + header.lines->most_merged) * sizeof(std::uint64_t);
  return (common + header.layout.runs()) * sizeof(std::uint64_t) + header.layout.unit;
}

}  // namespace ecosort::demsort_inplace

#include "engine/fixed/group_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace ecosort::engine::fixed {
namespace {

constexpr std::uint32_t size = 4;  // a key of one byte, then three that make the record known again

std::string some_records(unsigned groups) {
  std::string records;
  for (unsigned group = 0, number = 0; group < groups; ++group)
    for (unsigned i = 0; i <= group * 7 % 5; ++i, ++number)
      records += {static_cast<char>(group), static_cast<char>(number), static_cast<char>(number >> 8U), 'x'};
  return records;
}

std::string counted(std::uint64_t count, const std::string& record) {
  std::string text;
  for (unsigned byte = 0; byte < count_bytes; ++byte) text += static_cast<char>(count >> 8U * byte);
  return text + record;
}

std::string expected(const std::string& records, const GroupPolicy& policy) {
  std::string out;
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && records[end] == records[begin]) end += size;
    const std::uint64_t rows = (end - begin) / size;
    if (!policy.stays(rows)) continue;
    const std::string record = records.substr(policy.keeps_last ? end - size : begin, size);
    out += policy.counts ? counted(rows, record) : record;
  }
  return out;
}

// Puts what goes out of each batch in the place of the counts that lie before it, and of records that were looked at.
std::string reduced(const std::string& records, const GroupPolicy& policy, std::size_t batch, Tally& out, Tally& dropped) {
  const RecordGroups groups{policy, {size, {{0, 1}}}};
  const std::size_t lead = batch * (groups.output_bytes(size) - size);
  GroupRecords reducer(groups);
  std::string result;
  std::vector<std::byte> block(lead + batch * size);
  for (std::size_t at = 0; at < records.size(); at += batch * size) {
    const std::string part = records.substr(at, batch * size);
    std::memcpy(block.data() + lead, part.data(), part.size());
    const std::uint64_t bytes = reducer.reduce(block.data() + lead, part.size() / size, block.data(), out, dropped);
    result.append(reinterpret_cast<const char*>(block.data()), bytes);
  }
  const std::uint64_t bytes = reducer.end(block.data(), out, dropped);
  result.append(reinterpret_cast<const char*>(block.data()), bytes);
  return result;
}

TEST(GroupRecords, OneRecordOfEachGroupGoesOutWhereverBatchesEnd) {
  using Only = GroupPolicy::Only;
  const std::string records = some_records(60);
  hash::MultisetHash all;
  all.add_records(reinterpret_cast<const std::byte*>(records.data()), records.size() / size, size);
  for (const Only only : {Only::all, Only::repeated, Only::singles})
    for (const bool keeps_last : {false, true})
      for (const bool counts : {false, true})
        for (const std::size_t batch : {2UL, 3UL, 7UL, 1000UL}) {
          const GroupPolicy policy{.is_on = true, .keeps_last = keeps_last, .counts = counts, .only = only};
          Tally out, dropped;
          EXPECT_EQ(reduced(records, policy, batch, out, dropped), expected(records, policy)) << batch;
          EXPECT_EQ(out.hash + dropped.hash, all);
        }
}

}  // namespace
}  // namespace ecosort::engine::fixed

#include "formats/records/key_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace ecosort::records {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(KeySpec, ReadsOffsetAndLength) {
  EXPECT_EQ(RecordKey("0:10"), (RecordKey{0, 10, false}));
  EXPECT_EQ(RecordKey("90:4:bytes"), (RecordKey{90, 4, false}));
  EXPECT_EQ(RecordKey("7:1:desc"), (RecordKey{7, 1, true}));
  EXPECT_EQ(RecordKey("7:1:bytes:desc"), (RecordKey{7, 1, true}));
}

TEST(KeySpec, ReadsBackWhatItPrints) {
  for (const RecordKey& field : {RecordKey{0, 10, false}, RecordKey{1048575, 1, true}}) {
    EXPECT_EQ(RecordKey(to_string(field)), field);
  }
}

TEST(KeySpec, RefusesEverythingElseInOneLineThatNamesTheText) {
  for (const char* text : {"",
                           "5",
                           ":",
                           "0:",
                           ":10",
                           "a:10",
                           "0:b",
                           "0:-1",
                           "-1:4",
                           "+1:4",
                           " 0:10",
                           "0:10 ",
                           "0:0",
                           "0:10:",
                           "0:10:desc:bytes",
                           "0:10:u32",
                           "0:10:desc:desc",
                           "0:10:bytes:bytes",
                           "4294967296:1",
                           "0:99999999999",
                           "0x0:10",
                           "1e1:4",
                           "0:10::desc"}) {
    try {
      (void)RecordKey{text};
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const UsageError& error) {
      const std::string line = error.what();
      EXPECT_EQ(line.find('\n'), std::string::npos);
      EXPECT_THAT(line, HasSubstr(std::string("key '") + text + "'"));
      EXPECT_THAT(line, HasSubstr("OFFSET:LENGTH"));
    }
  }
}

TEST(RecordFormat, DefaultsToTheKeyOfTheSortBenchmark) {
  const RecordFormat format = make_record_format(100, {});
  EXPECT_EQ(format.record_size, 100U);
  EXPECT_EQ(format.keys, (std::vector{RecordKey{0, 10, false}}));
}

TEST(RecordFormat, DefaultsToTheWholeRecordWhereItIsShorterThanTheDefaultKey) {
  EXPECT_EQ(make_record_format(3, {}).keys, (std::vector{RecordKey{0, 3, false}}));
}

TEST(RecordFormat, KeepsTheKeysInTheirOrder) {
  EXPECT_EQ(make_record_format(16, {"8:8", "0:4:desc"}).keys, (std::vector{RecordKey{8, 8, false}, RecordKey{0, 4, true}}));
}

TEST(RecordFormat, RefusesAKeyBeyondTheRecord) {
  EXPECT_THAT([] { make_record_format(100, {"95:10"}); },
              ThrowsMessage<UsageError>("key 95:10 ends at byte 105, beyond the record of 100 bytes"));
  EXPECT_THAT([] { make_record_format(100, {"4294967295:4294967295"}); },
              ThrowsMessage<UsageError>(HasSubstr("ends at byte 8589934590")));
  EXPECT_NO_THROW(make_record_format(100, {"90:10"}));
}

TEST(RecordFormat, AllowsRecordsOfOneByteToOneMebibyte) {
  EXPECT_NO_THROW(make_record_format(1, {}));
  EXPECT_NO_THROW(make_record_format(1048576, {"1048566:10"}));
  EXPECT_THAT([] { make_record_format(0, {}); }, ThrowsMessage<UsageError>("record size 0: a record has 1 to 1048576 bytes"));
  EXPECT_THAT([] { make_record_format(1048577, {}); }, ThrowsMessage<UsageError>(HasSubstr("record size 1048577")));
}

}  // namespace
}  // namespace ecosort::records

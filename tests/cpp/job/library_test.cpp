// The library's interface (include/ecosort/): what a program may rely on beside the promises of a sort.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "ecosort/ecosort.h"
#include "ecosort/ecosort.hpp"

namespace ecosort::job {
namespace {

class LibraryTest : public testing::Test {
 protected:
  LibraryTest() : place_(std::filesystem::temp_directory_path() / ("ecosort-library-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(place_);
  }
  ~LibraryTest() override { std::filesystem::remove_all(place_); }
  LibraryTest(const LibraryTest&) = delete;
  LibraryTest& operator=(const LibraryTest&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return place_ / name; }

  static std::vector<std::uint64_t> numbers(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> made(count);
    std::ranges::generate(made, std::ref(random));
    return made;
  }
  static void write(const std::string& to, const std::vector<std::uint64_t>& numbers) {
    std::ofstream file(to, std::ios::binary);
    file.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof numbers[0]));
  }
  static std::vector<std::uint64_t> read(const std::string& from) {
    std::vector<std::uint64_t> numbers(std::filesystem::file_size(from) / sizeof(std::uint64_t));
    std::ifstream file(from, std::ios::binary);
    file.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof numbers[0]));
    return numbers;
  }
  static std::string text(const std::string& from) {
    std::ifstream file(from, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] Request request(const std::string& in, const std::string& out) const {
    Request request;
    request.inputs = {path(in)};
    request.place.output = path(out);
    request.rows = Records{.record_size = sizeof(std::uint64_t), .keys = {at(0).u64()}};
    request.means.memory_bytes = std::uint64_t{2} << 20U;
    request.means.threads = 2;
    return request;
  }
  // Makes the request for C.
  [[nodiscard]] ecosort_request* request_in_c(const char* members) const {
    ecosort_error* error = nullptr;
    const std::string json = std::string(R"({"schema": "ecosort.request/1", "records": {"record_size": 8}, )") + members + "}";
    ecosort_request* const made = ecosort_request_from_json(json.c_str(), &error);
    EXPECT_NE(made, nullptr) << ecosort_error_message(error);
    EXPECT_EQ(ecosort_request_add_input(made, path("in").c_str()), ECOSORT_OK);
    EXPECT_EQ(ecosort_request_set_output(made, path("out").c_str()), ECOSORT_OK);
    return made;
  }
  static Request terms() {
    Request request;
    request.rows = Records{.record_size = sizeof(std::uint64_t), .keys = {"0:u64"}};
    request.means.memory_bytes = std::uint64_t{2} << 20U;
    request.means.threads = 1;
    return request;
  }
  static Request rows_of(std::variant<Records, Lines, Csv, JsonLines> rows) {
    Request request = terms();
    request.rows = std::move(rows);
    return request;
  }
  static std::vector<std::uint64_t> drain(Reader& reader) {
    std::vector<std::uint64_t> all;
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
      const std::size_t before = all.size();
      all.resize(before + records.size() / sizeof(std::uint64_t));
      std::memcpy(all.data() + before, records.data(), records.size());
    }
    return all;
  }

  std::filesystem::path place_;
};

constexpr std::size_t many = 500'000;  // 4 MB, twice the memory

TEST_F(LibraryTest, SortsAsPlannedThroughRuns) {
  std::vector<std::uint64_t> input = numbers(many, 1);
  write(path("in"), input);
  const Plan planned = plan(request("in", "out"));
  EXPECT_EQ(planned.records, many);
  EXPECT_GT(planned.runs, 1U);
  EXPECT_NE(planned.json.find("\"ecosort.plan/1\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("out"))) << "a plan writes nothing";
  const Report report = sort(request("in", "out"));
  EXPECT_EQ(report.records, many);
  EXPECT_EQ(report.runs, planned.runs);
  EXPECT_EQ(report.bytes_read, planned.bytes_read);
  EXPECT_EQ(report.bytes_written, planned.bytes_written);
  EXPECT_EQ(report.peak_temp_bytes, planned.temp_bytes);
  std::ranges::sort(input);
  EXPECT_EQ(read(path("out")), input);
}

TEST_F(LibraryTest, RunsAreCompressedWhenToldSo) {
  std::vector<std::uint64_t> input = numbers(many, 11);
  for (std::uint64_t& number : input) number %= 1'000'000;
  write(path("in"), input);
  const Report plain = sort(request("in", "plain"));
  Request wanted = request("in", "out");
  wanted.compression.runs = "lz4";
  wanted.compression.assumed_ratio = 1'500;
  EXPECT_NE(plan(wanted).json.find("\"assumed_ratio\":1.5"), std::string::npos) << plan(wanted).json;
  const Report report = sort(wanted);
  EXPECT_LT(report.bytes_written, plain.bytes_written);
  EXPECT_LT(report.peak_temp_bytes, plain.peak_temp_bytes);
  std::ranges::sort(input);
  EXPECT_EQ(read(path("out")), input);
  wanted.compression.runs = "brotli";
  EXPECT_THROW(sort(wanted), UsageError);
  wanted.compression.runs = "none";
  EXPECT_THROW(sort(wanted), UsageError) << "a ratio of what is not compressed";
}

TEST_F(LibraryTest, TheInterfaceForCCompressesRuns) {
  std::vector<std::uint64_t> input = numbers(many, 12);
  for (std::uint64_t& number : input) number %= 1'000'000;
  write(path("in"), input);
  ecosort_report plain{}, report{};
  plain.struct_size = report.struct_size = sizeof report;
  const auto sort_with = [&](const char* compression, ecosort_report* told) {
    const std::string members = std::string(R"("means": {"memory_bytes": 2097152}, "compression": )") + compression;
    ecosort_request* const wanted = request_in_c(members.c_str());
    EXPECT_EQ(ecosort_request_add_key(wanted, "0:u64"), ECOSORT_OK);
    const ecosort_status status = ecosort_sort(wanted, nullptr, told, nullptr);
    ecosort_request_free(wanted);
    return status;
  };
  ASSERT_EQ(sort_with("{}", &plain), ECOSORT_OK);
  ASSERT_EQ(sort_with(R"({"runs": "zstd:2", "assumed_ratio": 1500})", &report), ECOSORT_OK);
  EXPECT_LT(report.bytes_written, plain.bytes_written);
  EXPECT_LT(report.peak_temp_bytes, plain.peak_temp_bytes);
  std::ranges::sort(input);
  EXPECT_EQ(read(path("out")), input);
  EXPECT_EQ(sort_with(R"({"runs": "auto", "energy": {"idle_w": 20, "core_w": 5, "gb_j": 0.5}})", nullptr), ECOSORT_OK);
  EXPECT_EQ(read(path("out")), input);
  EXPECT_EQ(sort_with(R"({"runs": "gzip"})", nullptr), ECOSORT_USAGE);
}

TEST_F(LibraryTest, SortsLinesByKeys) {
  std::ofstream(path("in")) << "b,10\na,9\nc,10\nb,2\n";
  Request wanted;
  wanted.inputs = {path("in")};
  wanted.place.output = path("out");
  Lines lines{.keys = {field(2).numeric(), field(1).descending()}, .separator = ','};
  wanted.rows = lines;
  EXPECT_EQ(sort(wanted).records, 4U);
  EXPECT_EQ(text(path("out")), "b,2\na,9\nc,10\nb,10\n");
  EXPECT_THROW(LineKey("2,1x"), UsageError);
  lines.keys = {field(1).with('x')};
  wanted.rows = lines;
  EXPECT_THROW(sort(wanted), UsageError);
  lines = {.ordering = "q"};
  wanted.rows = lines;
  EXPECT_THROW(sort(wanted), UsageError);
  wanted.rows = Lines{};
  wanted.place.output = "/dev/null";  // a program redirects its output, a library does not
  EXPECT_THROW(sort(wanted), UsageError);
}

TEST_F(LibraryTest, SortsCsvByColumns) {
  std::ofstream(path("in")) << "name,price\n\"b\n1\",10\na,x\n\"c,2\",9.5\n";
  Request wanted;
  wanted.inputs = {path("in")};
  wanted.place.output = path("out");
  wanted.rows = Csv{{.keys = {by("price").number()}}};
  const Report report = sort(wanted);
  EXPECT_EQ(report.records, 3U);
  ASSERT_EQ(report.keys.size(), 1U);
  EXPECT_EQ(report.keys[0].unparsable, 1U);
  EXPECT_EQ(text(path("out")), "name,price\n\"c,2\",9.5\n\"b\n1\",10\na,x\n");
  EXPECT_EQ(plan(wanted).shape, "one pass");
  wanted.rows = Csv{{.keys = {"price:number"}, .strict = true}};
  EXPECT_THROW(sort(wanted), UsageError);
  wanted.rows = Csv{{.keys = {"cost"}}};
  EXPECT_THROW(sort(wanted), UsageError);
  wanted.rows = Csv{};
  EXPECT_THROW(sort(wanted), UsageError);
}

TEST_F(LibraryTest, SortsJsonLinesByPaths) {
  const std::string nine = "{\"a\": [9e0]}\n", ten = "{\"a\":[10]}\n", none = "[null]\n";
  std::ofstream(path("in")) << ten << none << "\n" << nine;
  Request wanted;
  wanted.inputs = {path("in")};
  wanted.place.output = path("out");
  wanted.rows = JsonLines{{.keys = {by("a[0]").number()}}};
  const Report report = sort(wanted);
  EXPECT_EQ(report.records, 3U);
  EXPECT_EQ(report.blank_lines, 1U);
  EXPECT_EQ(report.dropped, 0U);
  ASSERT_EQ(report.keys.size(), 1U);
  EXPECT_EQ(report.keys[0].empty, 1U);
  EXPECT_EQ(text(path("out")), nine + ten + none);
  EXPECT_EQ(plan(wanted).shape, "one pass");
  wanted.rows = JsonLines{{.keys = {"a[0"}}};
  EXPECT_THROW(sort(wanted), UsageError);
}

// In place only some file systems will do: tests/test_library.py has that.
TEST_F(LibraryTest, JobsOutliveAStop) {
  std::vector<std::uint64_t> input = numbers(many, 21);
  write(path("in"), input);
  std::ofstream(path("lines")) << "b\na\n";
  Request records = request("in", "out"), rows = request("lines", "out-lines");
  records.place.kind = PlaceKind::resumable;
  rows.rows = Lines{};
  rows.place.kind = PlaceKind::resumable;
  std::stop_source stopped;
  stopped.request_stop();
  std::ranges::sort(input);
  for (const Request& job : {records, rows}) {
    const std::string file = job.place.output;
    EXPECT_THROW(sort(job, nullptr, stopped.get_token()), Interrupted) << file;
    EXPECT_TRUE(std::filesystem::exists(file + ".ecosort"));
    EXPECT_THROW(sort(job), UsageError) << "a job is there already";
    (void)resume(file, {.memory_bytes = std::uint64_t{4} << 20U, .threads = 1});
    EXPECT_FALSE(std::filesystem::exists(file + ".ecosort"));
  }
  EXPECT_EQ(read(path("out")), input);
  EXPECT_EQ(text(path("out-lines")), "a\nb\n");
  EXPECT_THROW(resume(path("out")), UsageError) << "there is no job any more";
  EXPECT_EQ(ecosort_resume(path("out").c_str(), 0, 0, nullptr, nullptr, nullptr), ECOSORT_USAGE);
}

TEST_F(LibraryTest, AJobThatIsGivenUpLeavesNothing) {
  write(path("in"), numbers(many, 22));
  Request wanted = request("in", "out");
  wanted.place.kind = PlaceKind::resumable;
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_THROW(sort(wanted, nullptr, stopped.get_token()), Interrupted);
  (void)abandon(path("out"));
  EXPECT_FALSE(std::filesystem::exists(path("out.ecosort")));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(LibraryTest, AJobRefusesWhatItCannotDo) {
  write(path("in"), numbers(10, 1));
  Request wanted = request("in", "out");
  wanted.place.kind = PlaceKind::resumable;
  const auto refuses = [](Request request, auto change) {
    change(request);
    EXPECT_THROW(sort(request), UsageError);
  };
  refuses(wanted, [](Request& of) { of.unique = true; });
  refuses(wanted, [](Request& of) { of.place.output = "-"; });
  refuses(wanted, [](Request& of) { of.inputs = {"-"}; });
  refuses(wanted, [](Request& of) { of.input_order = InputOrder::sorted; });
  refuses(wanted, [](Request& of) { of.means.temp_directories = {"/tmp"}; });
  refuses(wanted, [](Request& of) { of.place.kind = PlaceKind::in_place; });  // an output is named
  wanted.place = {.kind = PlaceKind::in_place};
  refuses(wanted, [](Request& of) { of.inputs.push_back("more"); });
  refuses(wanted, [](Request& of) { of.rows = Csv{{.keys = {"n"}}}; });
  refuses(wanted, [](Request& of) { of.rows = Lines{.header_lines = 1}; });
  EXPECT_FALSE(std::filesystem::exists(path("in.ecosort")));
}

TEST_F(LibraryTest, ErrorsHaveNumbers) {
  EXPECT_THROW(sort({}), UsageError);
  write(path("in"), numbers(1000, 1));
  Request wanted = request("missing", "out");
  EXPECT_THROW(sort(wanted), UsageError);
  wanted = request("in", "out");
  wanted.rows = Records{.record_size = 7, .keys = {at(0).bytes(7)}};
  EXPECT_THROW(sort(wanted), UsageError) << "8000 is no multiple of 7";
  write(path("large"), numbers(many, 1));
  wanted = request("large", "out");
  wanted.means.memory_bytes = 4096;
  try {
    sort(wanted);
    ADD_FAILURE() << "4 KiB cannot do";
  } catch (const NotEnoughMemory& error) {
    EXPECT_EQ(error.have_bytes, 4096U);
    wanted.means.memory_bytes = error.need_bytes;
  }
  EXPECT_EQ(sort(wanted).records, many) << "what the error asks for is enough";
}

TEST_F(LibraryTest, AnObserverSeesPhasesAndMayEndTheSort) {
  struct Watching : Observer {
    void begin_phase(std::string_view name, std::uint64_t /*total_bytes*/) override {
      names.emplace_back(name);
      if (names.size() == most) throw std::runtime_error("enough");
    }
    std::vector<std::string> names;
    std::size_t most = 100;
  };
  write(path("in"), numbers(many, 1));
  Watching watching;
  sort(request("in", "out"), &watching);
  EXPECT_EQ(watching.names, (std::vector<std::string>{"run formation", "merge", "sync", "sync", "done"}));
  std::filesystem::remove(path("out"));
  for (std::size_t most = 1; most <= 3; ++most) {
    Watching ending;
    ending.most = most;
    EXPECT_THROW(sort(request("in", "out"), &ending), std::runtime_error);
    EXPECT_FALSE(std::filesystem::exists(path("out")));
  }
}

TEST_F(LibraryTest, AStopEndsASortThatWaitsForItsInput) {
  std::filesystem::remove(path("fifo"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::stop_source stop;
  std::latch has_ended(1);
  std::jthread writer([&] {
    std::ofstream fifo(path("fifo"), std::ios::binary);  // never writes
    stop.request_stop();
    has_ended.wait();
  });
  EXPECT_THROW(sort(request("fifo", "out"), nullptr, stop.get_token()), Interrupted);
  has_ended.count_down();
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(LibraryTest, LeavesTheProcessAsItWas) {
  struct sigaction before{}, after{};
  rlimit limit_before{}, limit_after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit_before), 0);
  const rlimit small{.rlim_cur = std::min<rlim_t>(limit_before.rlim_cur, 256), .rlim_max = limit_before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  ASSERT_EQ(::sigaction(SIGINT, nullptr, &before), 0);
  write(path("in"), numbers(many, 1));
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  sort(request("in", "out"));
  EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
  ASSERT_EQ(::sigaction(SIGINT, nullptr, &after), 0);
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit_after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_EQ(limit_after.rlim_cur, small.rlim_cur);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit_before), 0);
}

TEST_F(LibraryTest, SortsInSeveralThreadsDoNotDisturbEachOther) {
  constexpr int sorts = 4;
  std::vector<std::vector<std::uint64_t>> inputs;
  for (int i = 0; i < sorts; ++i) {
    inputs.push_back(numbers(many / 2, static_cast<std::uint64_t>(i)));
    write(path("in" + std::to_string(i)), inputs.back());
  }
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < sorts; ++i)
      threads.emplace_back([&, i] {
        Request wanted = request("in" + std::to_string(i), "out" + std::to_string(i));
        if (i == 1) wanted.rows = Records{.record_size = 7};  // fails, and the others do not notice
        try {
          sort(wanted);
        } catch (const UsageError&) {
          ++failed;
        }
      });
  }
  EXPECT_EQ(failed, 1);
  for (int i = 0; i < sorts; ++i) {
    if (i == 1) continue;
    std::ranges::sort(inputs[static_cast<std::size_t>(i)]);
    EXPECT_EQ(read(path("out" + std::to_string(i))), inputs[static_cast<std::size_t>(i)]);
  }
}

TEST_F(LibraryTest, ASorterTakesAndGivesMoreThanItsMemory) {
  std::vector<std::uint64_t> input = numbers(many, 3);
  Sorter sorter(terms());
  const std::span<const std::byte> bytes = std::as_bytes(std::span(input));
  for (std::size_t at = 0, step = 1; at < bytes.size(); at += step, step = step % 99991 + 7)  // records need not be whole
    sorter.push(bytes.subspan(at, std::min(step, bytes.size() - at)));
  Reader reader = sorter.finish();
  EXPECT_THROW((void)reader.report(), UsageError) << "not before the end";
  const std::vector<std::uint64_t> output = drain(reader);
  std::ranges::sort(input);
  EXPECT_EQ(output, input);
  EXPECT_EQ(reader.report().records, many);
  EXPECT_GT(reader.report().runs, 1U);
  EXPECT_TRUE(reader.next().empty()) << "the end stays the end";
}

TEST_F(LibraryTest, ASorterOfNothingAndOfLittle) {
  Sorter empty(terms());
  Reader nothing = empty.finish();
  EXPECT_TRUE(nothing.next().empty());
  EXPECT_THROW(empty.push(std::uint64_t{1}), UsageError);
  EXPECT_THROW((void)empty.finish(), UsageError);
  Sorter small(terms());
  const std::vector<std::uint64_t> few{3, 1, 2};
  small.push(std::as_bytes(std::span(few)));
  Reader reader = small.finish();
  EXPECT_EQ(drain(reader), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(reader.report().runs, 0U);
}

TEST_F(LibraryTest, ASorterTellsWhatIsWrong) {
  EXPECT_THROW(Sorter{rows_of(Records{.record_size = 8, .keys = {"0:99"}})}, UsageError);
  EXPECT_THROW(Sorter{rows_of(Csv{})}, UsageError) << "no key";
  Request wrong = terms();
  wrong.means.temp_directories = {path("missing")};
  EXPECT_THROW(Sorter{wrong}, UsageError);
  wrong = terms();
  wrong.place.output = path("out");
  EXPECT_THROW(Sorter{wrong}, UsageError) << "rows come back, and go to no file";
  wrong = terms();
  wrong.compression.output = "gzip";
  EXPECT_THROW(Sorter{wrong}, UsageError);
  Sorter torn(terms());
  const std::vector<std::byte> half(12);
  torn.push(half);
  Reader reader = torn.finish();
  EXPECT_THROW(drain(reader), UsageError) << "12 bytes are no whole records of 8";
}

TEST_F(LibraryTest, ASorterIsARangeOfRecords) {
  static_assert(std::input_iterator<Reader::Iterator> && std::sentinel_for<std::default_sentinel_t, Reader::Iterator>);
  std::vector<std::uint64_t> input = numbers(many, 6), output;
  Sorter sorter(terms());
  for (const std::uint64_t number : input) sorter.push(number);
  EXPECT_THROW((void)sorter.report(), UsageError) << "not before the end";
  for (const Row record : sorter) output.push_back(record.as<std::uint64_t>());
  std::ranges::sort(input);
  EXPECT_EQ(output, input);
  EXPECT_GT(sorter.report().runs, 1U);
  EXPECT_EQ(sorter.begin(), sorter.end()) << "once";
  EXPECT_THROW(sorter.push(input.front()), UsageError);

  Sorter small(terms());
  EXPECT_THROW(small.push(std::uint32_t{1}), UsageError) << "4 bytes";
  EXPECT_THROW(small.push("text"), UsageError);
  small.push(std::uint64_t{7});
  small.push(std::uint64_t{5});
  Reader reader = small.finish();
  auto at = reader.begin();
  EXPECT_EQ(at->as<std::uint32_t>(), 5U);
  EXPECT_THROW((void)at->as<std::uint64_t>(1), UsageError) << "beyond the record";
  EXPECT_EQ(reader.next().size(), sizeof(std::uint64_t)) << "what the range has left of a batch";
}

TEST_F(LibraryTest, LinesAndRowsArePushedAndPulled) {
  const auto sorted = [](const Request& request, const std::vector<std::string>& rows) {
    Sorter sorter(request);
    for (const std::string& row : rows) sorter.push(row);
    EXPECT_THROW(sorter.push(1), UsageError) << "a number is no row";
    std::vector<std::string> found;
    for (const Row row : sorter) found.emplace_back(row.text());
    return found;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(sorted(rows_of(Csv{{.keys = {by("n").number()}}}), {"n,t", "10,\"a\nb\"\n", "9,\"\"\"\"\r\n", "8,"}),
            (Texts{"n,t", "8,", "9,\"\"\"\"", "10,\"a\nb\""}));
  EXPECT_EQ(sorted(rows_of(JsonLines{{.keys = {"a:desc"}}}), {R"({"a":"x"})", R"({"a":"y"})"}),
            (Texts{R"({"a":"y"})", R"({"a":"x"})"}));
  EXPECT_EQ(sorted(rows_of(Lines{.terminator = '\0'}), {"b\n", "", std::string("a\0", 2)}), (Texts{"", "a", "b\n"}));
  const std::string line(std::size_t{200} << 10U, 'x');  // rows longer than what a socket holds, more than the memory
  Texts many_lines;
  for (int i = 0; i < 30; ++i) many_lines.push_back(std::to_string(99 - i) + line);
  Texts expected = many_lines;
  std::ranges::sort(expected);
  EXPECT_EQ(sorted(rows_of(Lines{}), many_lines), expected);
  EXPECT_THROW(sorted(rows_of(JsonLines{{.keys = {"a"}}}), {"no value"}), UsageError);
}

TEST_F(LibraryTest, SortersThatAreGivenUpLeaveNothing) {
  const std::vector<std::uint64_t> input = numbers(many, 4);
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  {
    Sorter unfinished(terms());
    unfinished.push(std::as_bytes(std::span(input)));
  }
  {
    Sorter sorter(terms());
    sorter.push(std::as_bytes(std::span(input)));
    Reader unread = sorter.finish();
    EXPECT_FALSE(unread.next().empty());
  }
  EXPECT_EQ(open_files(), before);
}

TEST_F(LibraryTest, MisuseIsAnErrorAndNoCrash) {
  std::ofstream(path("notes")) << std::string(1000, 'x');
  Request text;
  text.inputs = {path("notes")};
  text.place.output = path("out");
  try {
    sort(text);
    ADD_FAILURE() << "1000 bytes of text are no ten records";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("record_size"), std::string::npos) << error.what();
  }
  text.rows = Lines{.terminator = 'x'};
  EXPECT_THROW(sort(text), UsageError);
  text.rows = Lines{};
  text.inputs = {path("notes") + std::string("\0x", 2)};
  EXPECT_THROW(sort(text), UsageError);

  Sorter sorter(terms());
  Reader reader = sorter.finish();
  const Reader taken = std::move(reader);
  EXPECT_THROW((void)reader.next(), UsageError);    // NOLINT(bugprone-use-after-move): that is what is asked
  EXPECT_THROW((void)reader.report(), UsageError);  // NOLINT(bugprone-use-after-move)
  Sorter unreadable(terms());
  EXPECT_THROW(unreadable.push({reinterpret_cast<const std::byte*>(8), 100}), IoError) << "and it does not wait for more";

  ecosort_error* error = nullptr;
  EXPECT_EQ(ecosort_sort(nullptr, nullptr, nullptr, &error), ECOSORT_USAGE);
  ecosort_error_free(error);
  for (const char* const wrong : {"", "[]", "{}", R"({"schema": "ecosort.request/2"})", R"({"schema": "ecosort.request/1"})"}) {
    EXPECT_EQ(ecosort_request_from_json(wrong, &error), nullptr) << wrong;
    EXPECT_EQ(ecosort_error_status(error), ECOSORT_USAGE);
    ecosort_error_free(error);
  }
  EXPECT_EQ(ecosort_request_from_json(nullptr, nullptr), nullptr);
  ecosort_request* const spec = request_in_c(R"("unique": true)");
  EXPECT_EQ(ecosort_request_add_input(nullptr, "x"), ECOSORT_USAGE);
  EXPECT_EQ(ecosort_request_set_output(spec, nullptr), ECOSORT_USAGE);
  EXPECT_EQ(ecosort_request_add_key(spec, "0"), ECOSORT_USAGE);
  EXPECT_EQ(ecosort_request_to_json(nullptr), nullptr);
  EXPECT_EQ(ecosort_sorter_new(nullptr, nullptr), nullptr);
  EXPECT_EQ(ecosort_sorter_push(nullptr, "x", 1, nullptr), ECOSORT_USAGE);
  EXPECT_EQ(ecosort_sorter_new(spec, nullptr), nullptr) << "a sorter has no files";
  ecosort_request* const pushed = ecosort_request_from_json(
      R"({"schema": "ecosort.request/1", "records": {"record_size": 8, "keys": ["0:u64:desc"]}})", nullptr);
  ecosort_sorter* const empty = ecosort_sorter_new(pushed, nullptr);
  ASSERT_NE(empty, nullptr);
  const void* records = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(ecosort_sorter_push(empty, nullptr, 100, nullptr), ECOSORT_USAGE);
  EXPECT_EQ(ecosort_sorter_next(empty, &records, &size, nullptr), ECOSORT_USAGE) << "before finish";
  EXPECT_EQ(ecosort_sorter_finish(empty, nullptr), ECOSORT_OK);
  EXPECT_EQ(ecosort_sorter_next(empty, nullptr, nullptr, nullptr), ECOSORT_USAGE);
  ecosort_sorter_free(empty);
  ecosort_request_free(pushed);
  ecosort_request_free(spec);
}

TEST_F(LibraryTest, TheInterfaceForC) {
  std::vector<std::uint64_t> input = numbers(many, 5);
  write(path("in"), input);
  ecosort_request* const wanted = request_in_c(R"("means": {"memory_bytes": 2097152})");
  ecosort_request_add_key(wanted, "0:u64:desc");
  ecosort_report report{};
  report.struct_size = sizeof report;
  ecosort_error* error = nullptr;
  ASSERT_EQ(ecosort_sort(wanted, nullptr, &report, &error), ECOSORT_OK) << ecosort_error_message(error);
  EXPECT_EQ(report.records, many);
  std::ranges::sort(input, std::greater());
  EXPECT_EQ(read(path("out")), input);

  const auto stop = [](void*, const char*, std::uint64_t) { return 1; };
  const ecosort_callbacks callbacks{sizeof callbacks, nullptr, stop, nullptr};
  EXPECT_EQ(ecosort_sort(wanted, &callbacks, nullptr, &error), ECOSORT_INTERRUPTED);
  EXPECT_STRNE(ecosort_error_message(error), "");
  ecosort_error_free(error);
  ecosort_request_add_input(wanted, "/nowhere");
  EXPECT_EQ(ecosort_sort(wanted, nullptr, nullptr, nullptr), ECOSORT_USAGE);

  ecosort_request* const pushed = ecosort_request_from_json(
      R"({"schema": "ecosort.request/1", "records": {"record_size": 8, "keys": ["0:u64:desc"]}})", &error);
  ecosort_sorter* const sorter = ecosort_sorter_new(pushed, &error);
  ASSERT_NE(sorter, nullptr) << ecosort_error_message(error);
  const std::uint64_t few[] = {1, 3, 2};
  EXPECT_EQ(ecosort_sorter_push(sorter, few, sizeof few, &error), ECOSORT_OK);
  EXPECT_EQ(ecosort_sorter_finish(sorter, &error), ECOSORT_OK);
  const void* records = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(ecosort_sorter_next(sorter, &records, &size, &error), ECOSORT_OK);
  const std::uint64_t sorted[] = {3, 2, 1};
  ASSERT_EQ(size, sizeof sorted);
  EXPECT_EQ(std::memcmp(records, sorted, size), 0);
  ASSERT_EQ(ecosort_sorter_next(sorter, &records, &size, &error), ECOSORT_OK);
  EXPECT_EQ(size, 0U);
  ecosort_sorter_free(sorter);
  ecosort_request_free(pushed);
  ecosort_request_free(wanted);
}

}  // namespace
}  // namespace ecosort::job

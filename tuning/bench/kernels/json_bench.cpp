// A line of JSON: all of it is read and checked, and the value of one key found. Against simdjson, over many lines at a time as
// its documentation says. `per_line`: CPU time of a line on one thread; `per_byte`: of a byte.
#include <simdjson.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench_support.h"
#include "formats/jsonl/read_row.h"

namespace ecosort::bench {
namespace {

constexpr std::size_t lines = 20'000;
constexpr std::size_t batch_bytes = std::size_t{1} << 20U;  // simdjson's default

enum Shape : int { row, event, escaped };
constexpr const char* shape_names[] = {"row", "event", "escaped"};
constexpr const char* pointers[] = {"/of/number", "/user/id", "/of/number"};
constexpr const char* paths[] = {"of.number", "user.id", "of.number"};

// row: as `make bench` sorts them, 90 bytes; event: 600 bytes with objects within objects; escaped: texts of every kind.
std::string line_of(Shape shape, std::mt19937_64& random) {
  const auto number = [&] { return std::to_string(random() % 1'000'000'000) + "." + std::to_string(random() % 100); };
  std::string text(8 + random() % 40, 'a');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  if (shape == row)
    return R"({"id":)" + std::to_string(random() % 1'000'000'000) + R"(,"of":{"number":)" + number() + R"(},"text":")" + text +
           "\"}\n";
  if (shape == escaped)
    return R"({"text":"\"é\n\u00e9\\ )" + text + R"( äöü 語","of":{"other":[1,-2e5,null,true],"number":)" + number() + "}}\n";
  std::string out = R"({"type":"push","tags":[)";
  for (int i = 0; i < 8; ++i) out += (i > 0 ? ",\"" : "\"") + text.substr(0, 8) + "\"";
  out += R"(],"commits":[)";
  for (int i = 0; i < 5; ++i)
    out += std::string(i > 0 ? "," : "") + R"({"sha":")" + text + R"(","lines":)" + number() + R"(,"ok":true})";
  return out + R"(],"user":{"name":")" + text + R"(","id":)" + number() + "}}\n";
}

// With room behind for steps that read beyond the end.
std::string text_of(Shape shape) {
  std::mt19937_64 random(1);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += line_of(shape, random);
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  return text;
}

void finish(benchmark::State& state, const std::string& text, std::uint64_t found, std::uint64_t wanted) {
  if (found != wanted) throw std::logic_error("values were missed");
  const auto counter = [](std::size_t of) {
    return benchmark::Counter(static_cast<double>(of),
                              benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  };
  state.counters["per_line"] = counter(lines);
  state.counters["per_byte"] = counter(text.size());
}

void ours(benchmark::State& state, Shape shape) {
  const std::string text = text_of(shape);
  const std::vector<jsonl::Path> path{jsonl::parse_path(paths[shape])};
  std::uint64_t found = 0, rounds = 0;
  for (auto _ : state) {
    ++rounds;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      std::string_view value;
      jsonl::Repeated repeated;
      const auto fault = jsonl::read_row({text.data() + at, end - at}, path, &value, repeated);
      found += !fault && !value.empty();
      benchmark::DoNotOptimize(value);
    }
  }
  finish(state, text, found, rounds * lines);
}

// Checks all of each line and makes a tree of it. `find`: whether the value is in the document that an iterator is at.
template <class Find>
void over_trees(benchmark::State& state, Shape shape, const Find& find) {
  const std::string text = text_of(shape);
  simdjson::dom::parser parser;
  std::uint64_t found = 0, rounds = 0;
  for (auto _ : state) {
    ++rounds;
    simdjson::dom::document_stream documents;
    if (parser.parse_many(text, batch_bytes).get(documents) != simdjson::SUCCESS)
      throw std::logic_error("simdjson refuses the text");
    for (auto document = documents.begin(); document != documents.end(); ++document) found += find(document) ? 1 : 0;
  }
  finish(state, text, found, rounds * lines);
}

void simdjson_dom(benchmark::State& state, Shape shape) {
  over_trees(state, shape, [&](auto& document) {
    double value = 0;
    const bool is_there = (*document).at_pointer(pointers[shape]).get(value) == simdjson::SUCCESS;
    benchmark::DoNotOptimize(value);
    return is_there;
  });
}

// The DOM checks each line, and our own reader finds the value in it as it is written.
void simdjson_dom_then_ours(benchmark::State& state, Shape shape) {
  over_trees(state, shape, [path = jsonl::parse_path(paths[shape])](auto& document) {
    const std::string_view value = jsonl::find_value(document.source(), path, false);
    benchmark::DoNotOptimize(value);
    return (*document).error() == simdjson::SUCCESS && !value.empty();
  });
}

// Checks brackets, strings' ends and UTF-8 of each line, and of values only what is asked for: less than a sort promises.
void simdjson_on_demand(benchmark::State& state, Shape shape) {
  const std::string text = text_of(shape);
  simdjson::ondemand::parser parser;
  std::uint64_t found = 0, rounds = 0;
  for (auto _ : state) {
    ++rounds;
    simdjson::ondemand::document_stream documents;
    if (parser.iterate_many(text, batch_bytes).get(documents) != simdjson::SUCCESS)
      throw std::logic_error("simdjson refuses the text");
    for (auto document : documents) {
      double value = 0;
      found += document.at_pointer(pointers[shape]).get(value) == simdjson::SUCCESS;
      benchmark::DoNotOptimize(value);
    }
  }
  finish(state, text, found, rounds * lines);
}

const bool are_registered = [] {
  for (const Shape shape : {row, event, escaped}) {
    const std::string name = shape_names[shape];
    benchmark::RegisterBenchmark(("json/" + name + "/ecosort").c_str(), ours, shape);
    benchmark::RegisterBenchmark(("json/" + name + "/simdjson_dom").c_str(), simdjson_dom, shape);
    benchmark::RegisterBenchmark(("json/" + name + "/simdjson_dom_then_ecosort").c_str(), simdjson_dom_then_ours, shape);
    benchmark::RegisterBenchmark(("json/" + name + "/simdjson_on_demand").c_str(), simdjson_on_demand, shape);
  }
  return true;
}();

}  // namespace
}  // namespace ecosort::bench

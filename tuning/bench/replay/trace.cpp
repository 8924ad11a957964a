#include "replay/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>

#include "base/errors.h"

namespace ecosort::bench {

namespace {

constexpr std::array operations{io::Operation::read, io::Operation::write, io::Operation::sync, io::Operation::release,
                                io::Operation::reserve};
constexpr std::array roles{io::Role::input, io::Role::run, io::Role::output};

template <class Values>
[[nodiscard]] typename Values::value_type named(const Values& values, const std::string& word) {
  const auto it = std::find_if(values.begin(), values.end(), [&](auto value) { return word == to_string(value); });
  if (it == values.end()) throw UsageError(fmt::format("'{}' is no operation and no role", word));
  return *it;
}

class Reader {
 public:
  void add(const std::string& line) {
    std::istringstream words(line);
    std::string operation, role;
    std::uint64_t number = 0;
    TracedRequest request{};
    if (!(words >> operation >> role >> number >> request.offset >> request.size >> request.others))
      throw UsageError("six words are expected");
    request.operation = named(operations, operation);
    request.file = file(named(roles, role), number);
    TracedFile& traced = trace.files[request.file];
    traced.end = std::max(traced.end, request.offset + request.size);
    if (request.operation == io::Operation::reserve) traced.reserves_from = std::min(traced.reserves_from, request.offset);
    traced.last_request = trace.requests.size();
    if (request.operation == io::Operation::read || request.operation == io::Operation::write)
      trace.largest_bytes = std::max<std::size_t>(trace.largest_bytes, request.size);
    trace.most_in_flight = std::max(trace.most_in_flight, request.others + 1);
    trace.requests.push_back(request);
  }

  Trace trace;

 private:
  [[nodiscard]] std::uint32_t file(io::Role role, std::uint64_t number) {
    const auto [it, is_new] = index_.try_emplace(number, static_cast<std::uint32_t>(trace.files.size()));
    if (is_new) trace.files.push_back({.role = role, .number = number});
    return it->second;
  }

  std::map<std::uint64_t, std::uint32_t> index_;
};

}  // namespace

Trace read_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("cannot open the trace '{}'", path));
  std::string line;
  std::getline(file, line);
  if (line != "ecosort.trace/1") throw UsageError(fmt::format("'{}' is no trace of ecosort sort --trace", path));
  Reader reader;
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    try {
      reader.add(line);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return std::move(reader.trace);
}

}  // namespace ecosort::bench

// Sorts numbers that one part of a program makes and another one wants in order, more than fit in memory: push_pull COUNT
#include <cstring>
#include <ecosort/ecosort.hpp>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  const std::uint64_t count = argc > 1 ? std::stoull(argv[1]) : 10'000'000;
  ecosort::SorterTerms terms;
  terms.record_size = sizeof(std::uint64_t);
  terms.keys = {ecosort::at(0).u64()};
  terms.memory_bytes = std::uint64_t{16} << 20;
  ecosort::Sorter sorter(terms);

  std::mt19937_64 random(1);
  std::vector<std::uint64_t> some(4096);
  std::uint64_t pushed_sum = 0, pulled_sum = 0;
  for (std::uint64_t left = count; left > 0;) {
    some.resize(std::min<std::uint64_t>(left, 4096));
    for (std::uint64_t& number : some) pushed_sum += number = random();
    sorter.push(std::as_bytes(std::span(some)));
    left -= some.size();
  }

  ecosort::Reader reader = sorter.finish();
  std::uint64_t last = 0, pulled = 0;
  for (auto records = reader.next(); !records.empty(); records = reader.next()) {
    for (std::size_t at = 0; at < records.size(); at += sizeof last, ++pulled) {
      std::uint64_t number = 0;
      std::memcpy(&number, records.data() + at, sizeof number);
      if (number < last) throw ecosort::InternalError("not in order");
      pulled_sum += last = number;
    }
  }
  std::cout << pulled << " numbers in order, " << reader.report().runs << " runs\n";
  return pulled == count && pulled_sum == pushed_sum ? 0 : 1;
} catch (const ecosort::Error& error) {
  std::cerr << error.what() << '\n';
  return static_cast<int>(error.code());
}

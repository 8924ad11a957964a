// Sorts numbers that one part of a program makes and another one wants in order, more than fit in memory: push_pull COUNT
#include <cstdint>
#include <ecosort/ecosort.hpp>
#include <iostream>
#include <random>
#include <string>

int main(int argc, char** argv) try {
  const std::uint64_t count = argc > 1 ? std::stoull(argv[1]) : 10'000'000;
  ecosort::Sorter sorter({.rows = ecosort::Records{.record_size = sizeof(std::uint64_t), .keys = {ecosort::at(0).u64()}},
                          .means = {.memory_bytes = std::uint64_t{16} << 20}});

  std::mt19937_64 random(1);
  std::uint64_t pushed_sum = 0, pulled_sum = 0;
  for (std::uint64_t left = count; left > 0; --left) {
    const std::uint64_t number = random();
    pushed_sum += number;
    sorter.push(number);
  }

  std::uint64_t last = 0, pulled = 0;
  for (const ecosort::Row record : sorter) {
    const auto number = record.as<std::uint64_t>();
    if (number < last) throw ecosort::InternalError("not in order");
    pulled_sum += last = number;
    ++pulled;
  }
  std::cout << pulled << " numbers in order, " << sorter.report().runs << " runs\n";
  return pulled == count && pulled_sum == pushed_sum ? 0 : 1;
} catch (const ecosort::Error& error) {
  std::cerr << error.what() << '\n';
  return static_cast<int>(error.code());
}

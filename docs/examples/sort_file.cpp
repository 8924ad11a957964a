// Sorts records of 100 bytes by their first ten: sort_file INPUT OUTPUT
#include <ecosort/ecosort.hpp>
#include <iostream>

namespace {

class Narrator : public ecosort::Observer {
  void begin_phase(std::string_view name, std::uint64_t /*total_bytes*/) override { std::cerr << name << '\n'; }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: sort_file INPUT OUTPUT\n";
    return 2;
  }
  ecosort::SortSpec spec;
  spec.inputs = {argv[1]};
  spec.output = argv[2];
  spec.keys = {"0:10"};
  spec.memory_bytes = std::uint64_t{64} << 20;
  try {
    const ecosort::Plan plan = ecosort::plan(spec);
    std::cerr << plan.shape << ", " << plan.temp_bytes << " bytes of temporary space\n";
    Narrator narrator;
    const ecosort::Report report = ecosort::sort(spec, &narrator);
    std::cout << report.records << " records, " << report.runs << " runs\n";
  } catch (const ecosort::NotEnoughSpace& error) {
    std::cerr << "make room for " << error.need_bytes - error.free_bytes << " bytes more: " << error.what() << '\n';
    return 2;
  } catch (const ecosort::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

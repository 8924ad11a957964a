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
  ecosort::Request request;
  request.inputs = {argv[1]};
  request.rows = ecosort::Records{.record_size = 100, .keys = {ecosort::at(0).bytes(10)}};
  request.place.output = argv[2];
  request.means.memory_bytes = std::uint64_t{64} << 20;
  try {
    const ecosort::Plan plan = ecosort::plan(request);
    std::cerr << plan.shape << ", " << plan.temp_bytes << " bytes of temporary space\n";
    Narrator narrator;
    const ecosort::Report report = ecosort::sort(request, &narrator);
    std::cout << report.records << " records, " << report.runs << " runs\n";
  } catch (const ecosort::NotEnoughSpace& error) {
    std::cerr << "make room for " << error.need_bytes - error.free_bytes << " bytes more: " << error.what() << '\n';
    return 2;
  } catch (const ecosort::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

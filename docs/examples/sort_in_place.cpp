// Sorts records of 100 bytes in their own space, or continues with such a sort that was interrupted: sort_in_place FILE [PHASE]
//
// With the name of a phase ("merge") it ends when that begins, as a crash would end it: the next call continues.
#include <ecosort/ecosort.hpp>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

class EndingBefore : public ecosort::Observer {
 public:
  explicit EndingBefore(std::string phase) : phase_(std::move(phase)) {}
  void begin_phase(std::string_view name, std::uint64_t /*total_bytes*/) override {
    if (name == phase_) throw ecosort::Interrupted(0);
  }

 private:
  std::string phase_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: sort_in_place FILE [PHASE]\n";
    return 2;
  }
  const std::string file = argv[1];
  ecosort::Request request;
  request.inputs = {file};
  request.rows = ecosort::Records{.record_size = 100, .keys = {ecosort::at(0).bytes(10)}};
  request.place.kind = ecosort::PlaceKind::in_place;
  request.means.memory_bytes = std::uint64_t{8} << 20;
  EndingBefore observer(argc > 2 ? argv[2] : "");
  try {
    const bool is_there = std::filesystem::exists(file + ".ecosort");
    const ecosort::Report report = is_there ? ecosort::resume(file, request.means, &observer) : ecosort::sort(request, &observer);
    std::cout << report.records << " records " << (is_there ? "after an interruption\n" : "in one go\n");
  } catch (const ecosort::Interrupted&) {
    std::cerr << "interrupted; call it once more\n";
    return 5;
  } catch (const ecosort::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

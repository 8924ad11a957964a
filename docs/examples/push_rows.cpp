// Sorts rows of CSV or JSON lines that a program makes, here those of standard input: push_rows csv|jsonl KEY
#include <ecosort/ecosort.hpp>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: push_rows csv|jsonl KEY\n";
    return 2;
  }
  ecosort::Request request;
  if (std::string(argv[1]) == "csv")
    request.rows = ecosort::Csv{{.keys = {argv[2]}}};  // such as price:number:desc
  else
    request.rows = ecosort::JsonLines{{.keys = {argv[2]}}};  // such as user.tags[0]
  request.means.memory_bytes = std::uint64_t{16} << 20;
  try {
    ecosort::Sorter sorter(request);
    for (std::string row; std::getline(std::cin, row);) sorter.push(row);
    for (const ecosort::Row row : sorter) std::cout << row.text() << '\n';
    std::cerr << sorter.report().records << " rows\n";
  } catch (const ecosort::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

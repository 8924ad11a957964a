// The STXXL peers share records in files, of 100 bytes with a 10-byte key unless PEER_RECORD_BYTES says otherwise, and a private
// disk that leaves nothing behind.
//
// STXXL sorts what is in its vectors; a vector may be laid over a file when the block size is a multiple of both the
// record and the page. System-call I/O: its asynchronous one has hung at depth 32.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <stxxl/io>
#include <stxxl/vector>

#ifndef PEER_RECORD_BYTES
#define PEER_RECORD_BYTES 100
#endif

namespace peers {

struct Record {
  unsigned char bytes[PEER_RECORD_BYTES];
};
constexpr int key_bytes = 10;

struct Less {
  bool operator()(const Record& a, const Record& b) const { return std::memcmp(a.bytes, b.bytes, key_bytes) < 0; }
  static Record filled(int value) {
    Record record;
    std::memset(record.bytes, value, sizeof record.bytes);
    return record;
  }
  Record min_value() const { return filled(0x00); }
  Record max_value() const { return filled(0xff); }
};

constexpr unsigned block_bytes = PEER_BLOCK_UNITS * 102'400;  // 102400: a multiple of 100, 16 and the page
using Vector = stxxl::VECTOR_GENERATOR<Record, 1, 2, block_bytes>::result;
constexpr unsigned stream_blocks = 4;  // of a stream that reads or writes a vector
constexpr std::uint64_t vector_cache_bytes = 2 * block_bytes;

struct Arguments {
  std::string input, output, directory;
  std::uint64_t memory_bytes;
};

inline Arguments parse(int argc, char** argv) {
  if (argc != 5) throw std::runtime_error(std::string("usage: ") + argv[0] + " INPUT OUTPUT TEMP_DIRECTORY MEMORY_BYTES");
  return {argv[1], argv[2], argv[3], std::strtoull(argv[4], nullptr, 10)};
}

// One disk: a file in the given directory, as large as the input, that may grow and is unlinked once it is open.
inline void configure(const Arguments& arguments) {
  setenv("STXXLLOGFILE", "/dev/null", 1);
  setenv("STXXLERRLOGFILE", "/dev/null", 1);
  const std::string path = arguments.directory + "/stxxl-" + std::to_string(getpid());
  const std::uint64_t input_bytes = stxxl::syscall_file(arguments.input, stxxl::file::RDONLY | stxxl::file::NO_LOCK, 1).size();
  stxxl::disk_config disk(path, input_bytes + 64 * block_bytes, "syscall");
  disk.autogrow = true;
  disk.direct = stxxl::disk_config::DIRECT_TRY;
  disk.unlink_on_open = true;
  stxxl::config::get_instance()->add_disk(disk);
}

// Requests of these files are served by the default queue of their own, beside the disk's.
inline std::unique_ptr<stxxl::syscall_file> open_input(const Arguments& arguments) {
  return std::make_unique<stxxl::syscall_file>(arguments.input, stxxl::file::RDONLY | stxxl::file::DIRECT | stxxl::file::NO_LOCK,
                                               1);
}

inline std::unique_ptr<stxxl::syscall_file> create_output(const Arguments& arguments) {
  const int mode = stxxl::file::RDWR | stxxl::file::CREAT | stxxl::file::TRUNC | stxxl::file::DIRECT;
  return std::make_unique<stxxl::syscall_file>(arguments.output, mode, 2);
}

inline void sync(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  if (fd < 0 || ::fsync(fd) != 0 || ::close(fd) != 0) throw std::runtime_error("cannot sync " + path);
}

// Runs a sorter, then makes its output durable.
template <class Sort>
int run(int argc, char** argv, Sort sort) try {
  const Arguments arguments = parse(argc, argv);
  configure(arguments);
  sort(arguments);
  sync(arguments.output);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 1;
}

}  // namespace peers

// A profile holds what ecosort-tune found out about a machine: one file, ecosort.profile/2, believed as a whole or not at all.
//
// Plain values; the format of the file (TOML) stays in read_profile.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ecosort::planner {

// `machine_id` is a hash, because the identity of an installation is not to be published. Empty where there is none (containers).
struct MachineIdentity {
  std::string machine_id, processor;
  std::uint64_t cpus = 1, memory_bytes = 0;
};

// Reads /etc/machine-id, /proc/cpuinfo and /proc/meminfo below `root` (tests give a tree of their own).
[[nodiscard]] MachineIdentity this_machine(const std::string& root = "");

// Says in what `theirs` differs from the machine `here`; nothing if they are the same. An unknown installation fits every one,
// and memory that the kernel counts differs a little from version to version: 2 % are allowed.
[[nodiscard]] std::optional<std::string> difference(const MachineIdentity& here, const MachineIdentity& theirs);

// One way to use a drive: "read", "write", "mixed" (both at the same time) or "random" (blocks anywhere are read).
struct Rate {
  std::string mode;
  std::uint64_t block_bytes = 0, depth = 0;
  double read_bytes_per_s = 0, write_bytes_per_s = 0;
};

struct Drive {
  std::string role;  // "temp" or "output"
  std::string directory;
  std::vector<Rate> rates;
};

// CPU seconds = fixed_s + per_record_s * records + per_byte_s * bytes moved + per_comparison_s * records * log2(runs merged)
// + per_memory_byte_s * bytes of memory, whose pages the system clears + per_request_s * reads and writes.
struct CpuModel {
  double fixed_s = 0, per_record_s = 0, per_byte_s = 0, per_comparison_s = 0, per_memory_byte_s = 0, per_request_s = 0;
};

// Joules = idle_w * seconds + core_w * CPU seconds + gb_j * 10^9 bytes moved.
struct PowerModel {
  double idle_w = 0, core_w = 0, gb_j = 0;
};

// An option of `ecosort sort` and the value that won a search.
struct Setting {
  std::string option, value, because;
  std::uint64_t memory_bytes = 0;  // the --memory that it was found with, where it means nothing for others; 0: it is for all
};

struct Profile {
  std::string created;
  MachineIdentity machine;
  std::vector<Drive> drives;
  std::map<std::string, double> kernel_ns;    // per record on one thread, by kernel; empty: not measured
  std::map<std::string, double> time_factor;  // seconds of a phase over those of its slowest resource; empty: no model
  std::optional<CpuModel> cpu;
  std::optional<PowerModel> power;
  std::vector<Setting> settings;
};

// UsageError with the reason for what is no profile, of another version, damaged in any part, or of another machine than `here`.
[[nodiscard]] Profile read_profile(const std::string& path, const MachineIdentity& here);

}  // namespace ecosort::planner

// Decorator: lets calls of seam 2 fail as a FaultPlan says (io/fault_plan.h).
#pragma once

#include "doubles/fault_plan.h"
#include "io/named_storage.h"

namespace ecosort::io {

// A call that is to fail throws IoError with the errno, as a failed system call would, and does nothing; a close still lets go
// of its file, and a reserve that fails with EOPNOTSUPP returns false. free_bytes(), wait_for_space(), exists(), leads_to()
// and open_standard_output() are passed on.
class FaultyStorage : public NamedStorage {
 public:
  // Both outlive this.
  FaultyStorage(NamedStorage& below, FaultPlan& plan) : below_(below), plan_(plan) {}

  [[nodiscard]] FilePtr open_input(const std::string& path, Caching caching) override;
  [[nodiscard]] FilePtr create_unnamed(const std::string& directory, Role role, Caching caching) override;
  [[nodiscard]] FilePtr open_standard_output() override;
  [[nodiscard]] bool reserve(File& file, std::uint64_t offset, std::uint64_t size_bytes) override;
  [[nodiscard]] bool wait_for_space(const File& file, unsigned attempt) override;
  void set_size(File& file, std::uint64_t size_bytes) override;
  void sync(File& file) override;
  [[nodiscard]] std::string publish(File& file, const std::string& final_path, const BeforeStep& before_step = {}) override;
  void close(FilePtr file) override;
  [[nodiscard]] FileState state(const File& file) override;
  [[nodiscard]] std::uint64_t free_bytes(const std::string& directory) override;

  [[nodiscard]] FilePtr create_named(const std::string& path, Role role, Caching caching) override;
  [[nodiscard]] FilePtr open_named(const std::string& path, Role role, Caching caching) override;
  [[nodiscard]] std::string adopt_attributes(File& file, const std::string& of) override;
  void rename(const std::string& from, const std::string& to) override;
  void rename_new(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void make_directory(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  void sync_directory(const std::string& path) override;
  [[nodiscard]] FilePtr open_directory(const std::string& path) override;
  [[nodiscard]] bool leads_to(const std::string& path, const File& directory) override;
  [[nodiscard]] std::vector<std::string> list(const std::string& directory) override;
  [[nodiscard]] bool exists(const std::string& path) override;

 private:
  void pass(Role role, FaultPoint point, const std::string& path);

  NamedStorage& below_;
  FaultPlan& plan_;
};

}  // namespace ecosort::io

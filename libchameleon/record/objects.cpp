// SPDX-License-Identifier: BSD-3-Clause
#include "record/objects.h"

#include <utility>

#include "base/float_environment.h"

namespace chameleon::record {

const CommShape& Objects::comm_shape(MPI_Comm comm) {
  const std::uint64_t handle = handle_bits(comm);
  if (cached_shape_ != nullptr && cached_comm_ == handle) return *cached_shape_;
  auto found = comms_.find(handle);
  if (found == comms_.end()) {
    const UsualSse floats;
    const CommShape shape = query_comm(comm);
    if (!shape.valid) return no_comm_ = shape;  // the handle may come to stand for one
    found = comms_.emplace(handle, shape).first;
  }
  cached_comm_ = handle;
  cached_shape_ = &found->second;  // unordered_map keeps elements in place
  return found->second;
}

void Objects::learn_comm(MPI_Comm comm, const CommShape& shape) {
  comms_[handle_bits(comm)] = shape;
}

void Objects::forget_comm(MPI_Comm comm) {
  cached_shape_ = nullptr;
  comms_.erase(handle_bits(comm));
}

std::optional<CommShape> Objects::comm_shape_of(std::int64_t id) {
  for (const auto& [handle, shape] : comms_)
    if (slots(Kind::kComm).find(handle) == id) return shape;
  return std::nullopt;
}

RequestFacts& Objects::request_anew(std::int64_t id) {
  static RequestFacts none;
  Stream* const maker = streams_.maker(id);
  if (maker == nullptr) return none = RequestFacts{};
  const auto place = static_cast<std::size_t>(static_cast<std::uint32_t>(id));
  if (place >= maker->requests.size()) maker->requests.resize(place + 1);
  return maker->requests[place];
}

std::int64_t Objects::type_bytes(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return 0;
  if (type != cached_type_) {
    MPI_Count bytes = 0;
    if (type_exists(type)) PMPI_Type_size_x(type, &bytes);
    cached_type_ = type;
    cached_bytes_ = bytes;
  }
  return cached_bytes_;
}

void Objects::keep_array(std::uint64_t id, std::span<const std::int64_t> array) {
  if (arrays_.contains(id)) return;
  arrays_.emplace(id, std::vector<std::int64_t>(array.begin(), array.end()));
  streams_.present().unusual = true;
}

std::span<const std::int64_t> Objects::array(std::int64_t id) const {
  const auto found = arrays_.find(static_cast<std::uint64_t>(id));
  if (found == arrays_.end()) return {};
  return found->second;
}

const std::vector<std::int64_t>* Objects::find_array(std::uint64_t id) const {
  for (const auto* arrays : {&arrays_, &sealed_arrays_, &closed_arrays_})
    if (const auto found = arrays->find(id); found != arrays->end()) return &found->second;
  return nullptr;
}

void Objects::keep_arrays(const std::set<std::uint64_t>& ids) {
  std::erase_if(arrays_, [&](const auto& array) { return !ids.contains(array.first); });
  recent_arrays_ = {};
}

void Objects::keep_closed_arrays(const std::set<std::uint64_t>& ids) {
  std::erase_if(closed_arrays_, [&](const auto& array) { return !ids.contains(array.first); });
}

void Objects::seal_arrays(bool others) {
  if (others) {
    sealed_arrays_.insert(arrays_.begin(), arrays_.end());
    return;
  }
  sealed_arrays_.merge(arrays_);
  arrays_.clear();
  recent_arrays_ = {};
}

std::map<std::uint64_t, std::vector<std::int64_t>> Objects::take_arrays(bool keeps) {
  auto taken = std::exchange(closed_arrays_, {});
  if (!keeps) taken.clear();
  return taken;
}

}  // namespace chameleon::record

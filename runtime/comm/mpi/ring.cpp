#include "runtime/comm/mpi/ring.hpp"

#include <algorithm>

#include "runtime/comm/reduce.hpp"

namespace dtnn::runtime::mpi {
namespace {

/// The portion that a rank adds at once: it stays in a core's cache between coming and being added.
constexpr std::int64_t kChunkBytes = 256 << 10;
/// How many collectives may be under way at once.
constexpr std::int64_t kTags = 4096;

}  // namespace

Ring::Ring(MPI_Comm comm, TransferKind kind, void* data, std::int64_t elements, DType dtype,
           Reduction reduction)
    : comm_(comm),
      kind_(kind),
      data_(static_cast<char*>(data)),
      elements_(elements),
      element_bytes_(dtype == DType::f32 ? 4 : 8),
      dtype_(dtype),
      type_(dtype == DType::f32   ? MPI_FLOAT
            : dtype == DType::f64 ? MPI_DOUBLE
                                  : MPI_INT64_T),
      reduction_(reduction) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    const bool parts = kind != TransferKind::all_reduce;
    block_ = kChunkBytes / element_bytes_ * (parts ? 1 : ranks_);
    first_step_ = kind == TransferKind::all_gather ? ranks_ - 1 : 0;
    last_step_ = kind == TransferKind::reduce_scatter ? ranks_ - 1 : 2 * (ranks_ - 1);
    shift_ = parts ? -1 : 0;
    for (Slot& slot : slots_)
        slot.come.resize(std::size_t(kChunkBytes));
}

Ring::Chunk Ring::chunk(const Slot& slot, int index) const {
    const std::int64_t which = ((index % ranks_) + ranks_) % ranks_;
    if (kind_ != TransferKind::all_reduce)
        return {data_ + (which * elements_ + slot.first) * element_bytes_, slot.count};
    const std::int64_t from = slot.count * which / ranks_, to = slot.count * (which + 1) / ranks_;
    return {data_ + (slot.first + from) * element_bytes_, to - from};
}

void Ring::start(std::int64_t number) {
    tag_ = int(number % kTags) * int(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i)
        begin_block(slots_[i], std::int64_t(i) * block_, tag_ + int(i));
}

void Ring::begin_block(Slot& slot, std::int64_t first, int tag) {
    slot.step = -1;
    if (first >= elements_) return;
    slot.first = first;
    slot.count = std::min(block_, elements_ - first);
    slot.step = first_step_;
    post(slot, tag);
}

void Ring::post(Slot& slot, int tag) {
    const int next = (rank_ + 1) % ranks_, before = (rank_ + ranks_ - 1) % ranks_;
    const int adding = ranks_ - 1;  // steps; then as many in which sums are passed round
    const int first = rank_ + shift_;
    const Chunk out = slot.step < adding ? chunk(slot, first - slot.step)
                                         : chunk(slot, first + 1 - (slot.step - adding));
    Chunk in = slot.step < adding ? chunk(slot, first - slot.step - 1)
                                  : chunk(slot, first - (slot.step - adding));
    if (slot.step < adding) in.data = reinterpret_cast<char*>(slot.come.data());
    MPI_Irecv(in.data, int(in.count), type_, before, tag, comm_, &slot.requests[0]);
    MPI_Isend(out.data, int(out.count), type_, next, tag, comm_, &slot.requests[1]);
}

void Ring::add(Slot& slot) {
    if (slot.step >= ranks_ - 1) return;
    const Chunk into = chunk(slot, rank_ + shift_ - slot.step - 1);
    reduce(into.data, slot.come.data(), into.count, dtype_, reduction_);
}

bool Ring::advance(Slot& slot, int tag) {
    while (slot.step >= 0) {
        int come = 0;
        MPI_Testall(int(slot.requests.size()), slot.requests.data(), &come, MPI_STATUSES_IGNORE);
        if (come == 0) return false;
        add(slot);
        ++steps_;
        if (++slot.step == last_step_) {
            begin_block(slot, slot.first + std::int64_t(slots_.size()) * block_, tag);
        } else {
            post(slot, tag);
        }
    }
    return true;
}

bool Ring::advance() {
    bool done = true;
    for (std::size_t i = 0; i < slots_.size(); ++i)
        done = advance(slots_[i], tag_ + int(i)) && done;
    return done;
}

}  // namespace dtnn::runtime::mpi

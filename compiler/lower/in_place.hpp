#pragma once
/// The second stage of lowering: which values share their bytes, and how long each stretch of bytes
/// is needed.

#include <string>
#include <vector>

#include "compiler/lower/select_kernels.hpp"

namespace dtnn::compiler {

/// Bytes that one or more values occupy, one after the other or as views of each other.
struct Storage {
    ValueId first;  ///< the value that made it; for persistent storage the parameter or the input
    std::int64_t bytes = 0;
    bool persistent = false;  ///< of a parameter, a state or an input
    int first_step = 0;       ///< lives from the start of this step ...
    int last_step = 0;        ///< ... to the end of this one; both count over prologue and steps
};

/// Storages that are placed as one block: one after the other in this order, each at a multiple of
/// plan::kAlignment, from the first step of any of them to the last step of any of them. Of
/// parameters: one buffer for all of them.
struct StorageGroup {
    std::string name;  ///< unique in the graph
    std::vector<int> members;
    /// The block as equal parts, as many as there are ranks: a storage of the bytes of one part,
    /// which stands for each rank's own; -1: nobody looks at it so.
    int part = -1;
};

struct StorageMap {
    std::vector<Storage> storages;
    std::vector<StorageGroup> groups;  ///< each storage in one at most
    std::vector<int> of_value;  ///< by value: an index into storages; -1 for a value that no step
                                ///< writes or reads
};

/// Assigns every value its storage:
/// - a view shares its operand's;
/// - the new value of a state shares the state's (the optimizer overwrites the weights). No other
/// reader of the state may
///   run after the producer of the new value; that is the schedule's promise, checked here;
/// - with `in_place`, a result is written over an operand where the operator allows it, the operand
/// (and every value that
///   shares its bytes) is read by nobody later, no other operand shares them, and they have the
///   same size. What the prologue made is never overwritten by the steps, because they run again.
/// - the operands of the start of an exchange form a group, and the results of start and wait share
/// their storages. What is exchanged is never written over another value: its storage would live,
/// with the whole group, as long as that one;
/// - reduce_scatter_wait makes the part of its operands' group; own_part makes parameters a group,
/// and its part, which the update of the part overwrites and all_gather sends.
///
/// Assigns storage. Values that the prologue makes for the steps, and the graph's outputs, live to
/// the end.
StorageMap assign_storage(const Graph& graph, const std::vector<LoweredStep>& steps, bool in_place);

}  // namespace dtnn::compiler

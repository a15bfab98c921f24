#pragma once
/// What compiler and runtime know of the devices that plans are for. A device is an entry of the
/// list in devices.cpp; its kernels are in kernels/, and runtime/device opens it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/enums.hpp"

namespace dtnn::plan {

struct DeviceTraits {
    std::string_view name;  ///< as in plans and after --target
    std::string_view doc;   ///< behind the name, where devices are listed; may be empty
    /// Its memory is its own: the host cannot read and write the plan's arena.
    bool own_memory = true;
    /// Its kernels are compiled per instruction set (Target::isa), and there are reference kernels
    /// and kernels that a job may prefer.
    bool instruction_sets = false;
    /// A run's threads compute, and workspaces are laid out for Target::threads.
    bool threads = false;
    /// Values that `compute` may have beside `full`; the rest is of messages: what does so, and
    /// what it does.
    std::vector<Compute> computes = {};
    std::string_view who = {};
    std::string_view how = {};
    /// Filters are stored in the order of the images that they are applied to.
    bool filters_like_images = false;
    /// Convolutions and normalisations take any expression behind them, not relu alone.
    bool expression_epilogues = false;
    /// Convolutions sum their results while these are in registers; else whoever wants the sums
    /// reads the results as soon itself.
    bool sums_in_convolutions = false;
    /// A launch costs as much as a small kernel, so that one does several nodes of those operators
    /// that can be joined (base/tensor/members.hpp).
    bool joins_launches = false;
    /// Gradients may travel compressed.
    bool compressed_exchanges = false;
    /// Kernels are chosen by times of `dtnnc tune`; else it chooses engines of libraries in a plan.
    bool tunes_kernels = false;

    bool does(Compute compute) const;
};

/// All of them; the first is the one that plans are for where nothing else is said.
std::span<const DeviceTraits> devices();
std::vector<std::string> device_names();
/// Null: there is none of that name.
const DeviceTraits* find_device(std::string_view name);
/// Those of the device of a plan, which may be anybody's: one that nobody knows has memory of its
/// own and can do nothing.
const DeviceTraits& traits_of(std::string_view device);
/// The first device that computes so; null: none.
const DeviceTraits* device_that_does(Compute compute);

}  // namespace dtnn::plan

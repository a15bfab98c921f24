#include "runtime/data/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "plan/rules/ignored_labels.hpp"
#include "runtime/base/component_fields.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/transforms/mixing.hpp"

namespace dtnn::runtime {
namespace {

/// Samples that a worker takes on at a time: few enough that workers share a small batch, enough
/// that the lock is not felt.
constexpr std::int64_t kPortion = 8;

/// The place of mixup's numbers, behind those of any list of augmentations.
constexpr std::uint64_t kMixingPlace = 1u << 20;

std::optional<double> mixing_of(const plan::Dataset& dataset) {
    for (const plan::Component& one : dataset.augmentations)
        if (plan::mixes_samples(one)) return ComponentFields(one).real("alpha", kPositive, 1000);
    return std::nullopt;
}

}  // namespace

Pipeline::Pipeline(const SampleSource& source, const plan::Plan& plan,
                   std::vector<Arrangement> arrangements)
    : source_(source),
      dataset_(plan.dataset),
      arrangements_(std::move(arrangements)),
      image_(plan::has_image(plan.dataset)),
      chain_(plan),
      dtype_(plan.target.dtype),
      bytes_(plan::staged_sample(plan)),
      largest_batch_(plan.training.batch_size),
      mixing_(mixing_of(plan.dataset)),
      mixing_key_(Draws::key(plan.training.seed, kMixingPlace)),
      staging_(plan::staged_samples(plan) * bytes_.bytes(), "the batches prepared ahead"),
      slots_(plan::kStagedBatches),
      workers_(std::size_t(std::max(1, plan.target.data_workers))) {
    // Real numbers of all samples before integers, whose elements may be smaller.
    std::byte* place = staging_.data();
    const auto place_all = [&](auto put) {
        for (Slot& slot : slots_)
            put(slot, largest_batch_);
        for (Worker& worker : workers_)
            if (mixing_) put(worker.partner, 1);
    };
    const auto place_inputs = [&](bool integers) {
        for (std::size_t i = 0; i < dataset_.inputs.size(); ++i) {
            if (integers != (dataset_.inputs[i].kind == plan::LabelKind::classes)) continue;
            place_all([&](Slot& slot, std::int64_t samples) {
                slot.inputs.resize(dataset_.inputs.size());
                slot.inputs[i] = std::exchange(place, place + samples * bytes_.inputs[i]);
            });
        }
    };
    place_inputs(false);
    place_all([&](Slot& slot, std::int64_t samples) {
        slot.targets = std::exchange(place, place + samples * bytes_.targets);
    });
    place_all([&](Slot& slot, std::int64_t samples) {
        slot.labels =
            reinterpret_cast<std::int32_t*>(std::exchange(place, place + samples * bytes_.labels));
    });
    place_inputs(true);
    for (Worker& worker : workers_) {
        // All samples are of one size then, and a source has elements of one type.
        worker.sample.wide = dtype_ == DType::f64 && !chain_.has_steps();
        if (worker.sample.wide) continue;
        worker.sample.pixels.reserve(std::size_t(plan::largest_sample(dataset_)));
        worker.scratch.spare.pixels.reserve(std::size_t(plan::largest_sample(dataset_)));
    }
    try {
        for (Worker& worker : workers_)
            worker.thread = std::thread([this, &worker] { work(worker); });
    } catch (...) {
        end_workers();
        throw;
    }
}

Pipeline::~Pipeline() {
    end_workers();
}

void Pipeline::end_workers() {
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
        cancelled_ = true;
    }
    work_.notify_all();
    for (Worker& worker : workers_)
        if (worker.thread.joinable()) worker.thread.join();
}

plan::Part Pipeline::part(std::int64_t number) const {
    return plan::part_of(end_, pass_.batch, number, pass_.rank, pass_.ranks);
}

void Pipeline::stop() {
    std::unique_lock lock(mutex_);
    next_batch_ = batches_;
    cancelled_ = true;  // whoever is busy ends with the sample that it has in hand
    ready_.wait(lock, [&] { return busy_ == 0; });
    cancelled_ = false;
    next_ = end_ = taken_ = next_batch_ = batches_ = 0;
    error_ = nullptr;
    for (Slot& slot : slots_)
        slot.finished = 0, slot.ready = false;
}

void Pipeline::start(const Pass& pass) {
    stop();
    {
        const std::lock_guard lock(mutex_);
        pass_ = pass;
        pass_.batch = std::clamp<std::int64_t>(pass.batch, 1, largest_batch_);
        end_ = std::int64_t(pass_.order.size());
        const std::int64_t steps = plan::steps_of_pass(end_, pass_.batch, pass_.ranks);
        if (pass_.last_batch > 0 && pass_.last_batch < steps)
            end_ = plan::part_of(end_, pass_.batch, pass_.last_batch, 0, pass_.ranks).first;
        batches_ = plan::steps_of_pass(end_, pass_.batch, pass_.ranks);
        if (batches_ > 0 && batch_samples(batches_ - 1) == 0) --batches_;
        taken_ = next_batch_ = std::min(pass_.first_batch, batches_);
    }
    work_.notify_all();
}

std::int64_t Pipeline::wait() {
    std::unique_lock lock(mutex_);
    if (taken_ >= batches_) return 0;
    const Slot& slot = slot_of(taken_);
    // Portions are taken on in order: once all workers are idle, every sample before the one that
    // failed is done.
    ready_.wait(lock, [&] { return slot.ready || (error_ != nullptr && busy_ == 0); });
    if (slot.ready) return batch_samples(taken_);
    std::rethrow_exception(error_);
}

void Pipeline::take(const BatchInputs& inputs) {
    // Between wait() and the increment below the workers leave this slot alone.
    Slot& slot = slot_of(taken_);
    const auto copy = [&](void* to, const void* from, std::int64_t bytes) {
        if (to != nullptr) std::memcpy(to, from, std::size_t(batch_samples(taken_) * bytes));
    };
    for (std::size_t i = 0; i < inputs.features.size(); ++i)
        copy(inputs.features[i], slot.inputs[i], bytes_.inputs[i]);
    if (inputs.labels)
        copy(inputs.target, slot.labels, bytes_.labels);
    else
        copy(inputs.target, slot.targets, bytes_.targets);
    {
        const std::lock_guard lock(mutex_);
        slot.ready = false;
        slot.finished = 0;
        ++taken_;
    }
    work_.notify_all();
}

void Pipeline::store_pixels(const Sample& sample, std::byte* place) const {
    const std::int64_t plane = sample.height * sample.width;
    const auto store = [&](const auto& elements, auto* values) {
        using Real = std::remove_pointer_t<decltype(values)>;
        for (std::int64_t channel = 0; channel < sample.channels; ++channel) {
            const auto copy = [&](auto&& made) {
                arrangements_[0].for_each(channel * plane, (channel + 1) * plane,
                                          [&](std::int64_t from, std::int64_t to) {
                                              values[to] = made(elements[std::size_t(from)]);
                                          });
            };
            const auto& list = chain_.normalizations();
            if (list.empty()) {
                copy([](auto pixel) { return Real(pixel); });
            } else if (list.size() == 1) {
                const Real mean = Real(list[0].mean[std::size_t(channel)]);
                const Real divisor = Real(list[0].standard_deviation[std::size_t(channel)]);
                copy([=](auto pixel) { return (Real(pixel) - mean) / divisor; });
            } else {
                copy([&](auto pixel) {
                    Real value = Real(pixel);
                    for (const Normalization& one : list)
                        value = (value - Real(one.mean[std::size_t(channel)])) /
                                Real(one.standard_deviation[std::size_t(channel)]);
                    return value;
                });
            }
        }
    };
    if (!sample.numbers.empty()) {
        store(sample.numbers, reinterpret_cast<double*>(place));
    } else if (dtype_ == DType::f64) {
        store(sample.pixels, reinterpret_cast<double*>(place));
    } else {
        store(sample.pixels, reinterpret_cast<float*>(place));
    }
}

void Pipeline::store_inputs(const Sample& sample, std::int64_t at, Slot& slot) const {
    for (std::size_t i = 0; i < slot.inputs.size(); ++i) {
        std::byte* const place = slot.inputs[i] + at * bytes_.inputs[i];
        if (i == 0 && image_) {
            store_pixels(sample, place);
            continue;
        }
        const SampleArray& array = sample.arrays[i];
        const auto store = [&](const auto& elements, auto* values) {
            using Value = std::remove_pointer_t<decltype(values)>;
            arrangements_[i].for_each(0, std::int64_t(elements.size()),
                                      [&](std::int64_t from, std::int64_t to) {
                                          values[to] = Value(elements[std::size_t(from)]);
                                      });
        };
        if (dataset_.inputs[i].kind == plan::LabelKind::classes)
            store(array.integers, reinterpret_cast<std::int32_t*>(place));
        else if (dtype_ == DType::f64)
            store(array.numbers, reinterpret_cast<double*>(place));
        else
            store(array.numbers, reinterpret_cast<float*>(place));
    }
}

void Pipeline::check_image(const Sample& sample, std::int64_t index) const {
    const Dims& wanted = dataset_.input().dims;
    if (sample.channels == wanted[0] && sample.height == wanted[1] && sample.width == wanted[2])
        return;
    throw RunError(
        Exit::failed,
        fmt::format("{} is {}x{}x{} behind the dataset's transforms; the network takes {}x{}x{}",
                    source_.name_of(pass_.split, index), sample.channels, sample.height,
                    sample.width, wanted[0], wanted[1], wanted[2]),
        "where samples differ, give the dataset `transforms` that make them alike: resize, "
        "to_gray");
}

void Pipeline::store_labels(const Sample& sample, std::int64_t index, std::int64_t at,
                            Slot& slot) const {
    if (dataset_.target().kind == plan::LabelKind::input) return;
    const bool classes = dataset_.target().kind == plan::LabelKind::classes;
    const auto expected = classes ? std::size_t(bytes_.labels) / sizeof(std::int32_t)
                                  : std::size_t(dataset_.target().classes);
    const std::size_t count = classes ? sample.labels.size() : sample.targets.size();
    if (count != expected) {
        throw RunError(Exit::failed,
                       fmt::format("{} has {} labels; the network takes {}",
                                   source_.name_of(pass_.split, index), count, expected));
    }
    for (const std::int32_t label : sample.labels) {
        if (!classes || (label >= 0 && label < dataset_.target().classes)) continue;
        if (label == plan::kIgnoredLabel && plan::ignored_value(dataset_)) continue;
        throw RunError(Exit::failed, fmt::format("{} has the class {}; the dataset has {} classes",
                                                 source_.name_of(pass_.split, index), label,
                                                 dataset_.target().classes));
    }
    if (classes)
        std::copy(sample.labels.begin(), sample.labels.end(),
                  slot.labels + at * std::int64_t(expected));
    if (bytes_.targets == 0) return;
    const auto store = [&](auto* row) {
        using Real = std::remove_pointer_t<decltype(row)>;
        row += at * dataset_.target().classes;
        if (classes) {
            std::fill_n(row, dataset_.target().classes, Real(0));
            row[sample.labels[0]] = Real(1);
        } else {
            std::transform(sample.targets.begin(), sample.targets.end(), row,
                           [](double value) { return Real(value); });
        }
    };
    if (dtype_ == DType::f64) {
        store(reinterpret_cast<double*>(slot.targets));
    } else {
        store(reinterpret_cast<float*>(slot.targets));
    }
}

void Pipeline::prepare(Worker& worker, std::int64_t position, std::int64_t at, Slot& slot) const {
    const std::int64_t drawn = pass_.order[std::size_t(position)];
    const std::int64_t samples = std::max<std::int64_t>(1, source_.size(pass_.split));
    const std::int64_t index = drawn % samples;
    Sample& sample = worker.sample;
    source_.load(pass_.split, index, sample);
    try {
        chain_.transform(sample, worker.scratch);
        if (pass_.epoch)
            chain_.augment(sample, worker.scratch, {*pass_.epoch, index, drawn / samples});
        else
            chain_.leave_plain(sample, worker.scratch);
    } catch (const RunError& error) {
        throw RunError(error.exit(),
                       fmt::format("{} {}", source_.name_of(pass_.split, index), error.what()),
                       error.help(), error.detail());
    }
    if (image_) check_image(sample, index);
    store_labels(sample, index, at, slot);
    store_inputs(sample, at, slot);
}

double Pipeline::share_of(std::int64_t position) const {
    Draws draws(mixing_key_, {*pass_.epoch, position / 2, 0});
    return mixing_share(*mixing_, draws);
}

/// Mixes a sample whose partner is of another batch.
void Pipeline::mix_with_other_batch(Worker& worker, std::int64_t position, plan::Part batch,
                                    Slot& slot) const {
    const std::int64_t partner = mixing_partner(position), at = position - batch.first;
    if (partner >= std::int64_t(pass_.order.size()) ||
        (partner >= batch.first && partner < batch.first + batch.count))
        return;
    prepare(worker, partner, 0, worker.partner);
    const double share = share_of(position);
    const auto mix = [&](std::byte* rows, const std::byte* other, std::int64_t bytes) {
        if (dtype_ == DType::f64) {
            mix_row(reinterpret_cast<double*>(rows + at * bytes),
                    reinterpret_cast<const double*>(other), bytes / 8, share);
        } else {
            mix_row(reinterpret_cast<float*>(rows + at * bytes),
                    reinterpret_cast<const float*>(other), bytes / 4, share);
        }
    };
    for (std::size_t i = 0; i < slot.inputs.size(); ++i)
        mix(slot.inputs[i], worker.partner.inputs[i], bytes_.inputs[i]);
    mix(slot.targets, worker.partner.targets, bytes_.targets);
}

/// Mixes the pairs that a batch has both samples of.
void Pipeline::mix_pairs(plan::Part batch, Slot& slot) const {
    for (std::int64_t at = batch.first % 2; at + 1 < batch.count; at += 2) {
        const double share = share_of(batch.first + at);
        const auto mix = [&](std::byte* rows, std::int64_t bytes) {
            std::byte *const first = rows + at * bytes, *const second = first + bytes;
            if (dtype_ == DType::f64) {
                mix_pair(reinterpret_cast<double*>(first), reinterpret_cast<double*>(second),
                         bytes / 8, share);
            } else {
                mix_pair(reinterpret_cast<float*>(first), reinterpret_cast<float*>(second),
                         bytes / 4, share);
            }
        };
        for (std::size_t i = 0; i < slot.inputs.size(); ++i)
            mix(slot.inputs[i], bytes_.inputs[i]);
        mix(slot.targets, bytes_.targets);
    }
}

bool Pipeline::has_work() const {
    return error_ == nullptr && next_batch_ < batches_ &&
           next_batch_ < taken_ + std::int64_t(slots_.size());
}

Pipeline::Portion Pipeline::take_portion() {
    const plan::Part batch = part(next_batch_);
    const std::int64_t count = std::min(kPortion, batch.count - next_);
    const Portion portion{next_batch_, batch.first + next_, batch.first + next_ + count};
    next_ += count;
    if (next_ == batch.count) ++next_batch_, next_ = 0;
    return portion;
}

void Pipeline::work(Worker& worker) {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [&] { return quit_ || has_work(); });
        if (quit_) return;
        const Portion portion = take_portion();
        const std::int64_t number = portion.number;
        Slot& slot = slot_of(number);
        const plan::Part batch = part(number);
        const bool mixes = mixing_ && pass_.epoch;
        ++busy_;
        lock.unlock();
        std::exception_ptr error;
        std::int64_t position = portion.begin;
        try {
            for (; position < portion.end && !cancelled_; ++position) {
                prepare(worker, position, position - batch.first, slot);
                if (mixes) mix_with_other_batch(worker, position, batch, slot);
            }
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        slot.finished += position - portion.begin;
        if (error == nullptr && slot.finished == batch_samples(number)) {
            if (mixes) {
                lock.unlock();
                mix_pairs(batch, slot);
                lock.lock();
            }
            slot.ready = true;
        }
        if (error != nullptr && (error_ == nullptr || position < error_at_)) {
            error_ = error;
            error_at_ = position;
        }
        --busy_;
        if (slot.ready || ((error_ != nullptr || cancelled_) && busy_ == 0)) ready_.notify_all();
    }
}

}  // namespace dtnn::runtime

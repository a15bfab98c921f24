#include "runtime/data/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {
constexpr std::int64_t kDepth = 2;
}

std::int64_t Pipeline::staging_bytes(const plan::Plan& plan) {
    const std::int64_t sample =
        plan::element_count(plan.dataset.shape) * plan::size_of(plan.target.dtype);
    const std::int64_t labels =
        plan::element_count(plan.dataset.label_shape) * plan::size_of(plan::DType::i32);
    return kDepth * plan.training.batch_size * (sample + labels);
}

Pipeline::Pipeline(SampleSource& source, const plan::Plan& plan, Arrangement sample)
    : source_(source),
      sample_(std::move(sample)),
      dtype_(plan.target.dtype),
      sample_bytes_(sample_.elements() * plan::size_of(plan.target.dtype)),
      sample_labels_(plan::element_count(plan.dataset.label_shape)),
      largest_batch_(plan.training.batch_size),
      classes_(plan.dataset.classes),
      staging_(staging_bytes(plan), "the batches prepared ahead"),
      worker_([this] { work(); }) {}

Pipeline::~Pipeline() {
    {
        const std::lock_guard lock(mutex_);
        end_ = true;
        batches_ = 0;
    }
    changed_.notify_all();
    worker_.join();
}

std::byte* Pipeline::slot_source(std::int64_t number) const {
    return staging_.data() + number % kDepth * largest_batch_ * sample_bytes_;
}

std::int32_t* Pipeline::slot_labels(std::int64_t number) const {
    std::byte* labels = staging_.data() + kDepth * largest_batch_ * sample_bytes_;
    return reinterpret_cast<std::int32_t*>(labels) +
           number % kDepth * largest_batch_ * sample_labels_;
}

std::int64_t Pipeline::batch_samples(std::int64_t number) const {
    return std::min(batch_, std::int64_t(order_.size()) - number * batch_);
}

void Pipeline::stop() {
    std::unique_lock lock(mutex_);
    batches_ = 0;
    changed_.wait(lock, [&] { return !busy_; });
    prepared_ = taken_ = 0;
    error_ = nullptr;
}

void Pipeline::start(Split split, std::span<const std::int64_t> order, std::int64_t batch,
                     std::int64_t most) {
    stop();
    {
        const std::lock_guard lock(mutex_);
        split_ = split;
        order_ = order;
        batch_ = std::min(batch, largest_batch_);
        batches_ = (std::int64_t(order.size()) + batch_ - 1) / batch_;
        if (most > 0) batches_ = std::min(batches_, most);
    }
    changed_.notify_all();
}

std::int64_t Pipeline::wait() {
    std::unique_lock lock(mutex_);
    if (taken_ >= batches_) return 0;
    changed_.wait(lock, [&] { return prepared_ > taken_ || error_ != nullptr; });
    // What was prepared before the error is still good, and comes first.
    if (prepared_ > taken_) return batch_samples(taken_);
    std::rethrow_exception(error_);
}

void Pipeline::take(void* source, std::int32_t* labels) {
    // Between wait() and the increment below the worker leaves this slot alone.
    const std::int64_t samples = batch_samples(taken_);
    std::memcpy(source, slot_source(taken_), std::size_t(samples * sample_bytes_));
    if (labels != nullptr) {
        std::memcpy(labels, slot_labels(taken_),
                    std::size_t(samples * sample_labels_) * sizeof(std::int32_t));
    }
    {
        const std::lock_guard lock(mutex_);
        ++taken_;
    }
    changed_.notify_all();
}

void Pipeline::prepare(std::int64_t number) {
    const std::int64_t samples = batch_samples(number);
    const std::size_t elements = std::size_t(sample_.elements());
    for (std::int64_t i = 0; i < samples; ++i) {
        const std::int64_t index = order_[std::size_t(number * batch_ + i)];
        source_.load(split_, index, loaded_);
        if (loaded_.pixels.size() != elements ||
            loaded_.labels.size() != std::size_t(sample_labels_)) {
            throw RunError(
                Exit::failed,
                fmt::format("{} has {} pixels and {} labels; the network takes {} and {}",
                            source_.name_of(split_, index), loaded_.pixels.size(),
                            loaded_.labels.size(), elements, sample_labels_));
        }
        std::byte* place = slot_source(number) + i * sample_bytes_;
        const auto scatter = [&](auto* values) {
            sample_.for_each(0, std::int64_t(elements), [&](std::int64_t from, std::int64_t to) {
                values[to] = loaded_.pixels[std::size_t(from)];
            });
        };
        if (dtype_ == plan::DType::f64) {
            scatter(reinterpret_cast<double*>(place));
        } else if (sample_.identity()) {
            std::memcpy(place, loaded_.pixels.data(), elements * sizeof(float));
        } else {
            scatter(reinterpret_cast<float*>(place));
        }
        for (const std::int32_t label : loaded_.labels) {
            if (label >= 0 && label < classes_) continue;
            throw RunError(Exit::failed,
                           fmt::format("{} has the class {}; the dataset has {} "
                                       "classes",
                                       source_.name_of(split_, index), label, classes_));
        }
        std::copy(loaded_.labels.begin(), loaded_.labels.end(),
                  slot_labels(number) + i * sample_labels_);
    }
}

void Pipeline::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] {
            return end_ ||
                   (error_ == nullptr && prepared_ < batches_ && prepared_ < taken_ + kDepth);
        });
        if (end_) return;
        busy_ = true;
        const std::int64_t number = prepared_;
        lock.unlock();
        std::exception_ptr error;
        try {
            prepare(number);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        busy_ = false;
        if (error != nullptr) {
            error_ = error;
        } else {
            ++prepared_;
        }
        changed_.notify_all();
    }
}

}  // namespace dtnn::runtime

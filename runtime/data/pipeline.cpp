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

std::vector<Pipeline::Row> Pipeline::rows_of(const plan::Plan& plan) {
    const plan::StagedSample sample = plan::staged_sample(plan);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < sample.inputs.size(); ++i)
        rows.push_back({sample.inputs[i], plan.dataset.inputs[i].kind != plan::LabelKind::classes});
    rows.push_back({sample.labels, false});
    rows.push_back({sample.targets, true});
    return rows;
}

Pipeline::Pipeline(const SampleSource& source, const plan::Plan& plan,
                   std::vector<Arrangement> arrangements, PreparedBy prepared_by)
    : source_(source),
      prepared_by_(prepared_by),
      dataset_(plan.dataset),
      arrangements_(std::move(arrangements)),
      image_(plan::has_image(plan.dataset)),
      chain_(plan),
      dtype_(plan.target.dtype),
      rows_(rows_of(plan)),
      largest_batch_(plan.training.batch_size),
      mixing_(mixing_of(plan.dataset)),
      mixing_key_(Draws::key(plan.training.seed, kMixingPlace)),
      staging_(plan::staged_samples(plan) * plan::staged_sample(plan).bytes(),
               "the batches prepared ahead"),
      slots_(plan::kStagedBatches),
      workers_(prepared_by == PreparedBy::who_waits
                   ? 1
                   : std::size_t(std::max(1, plan.target.data_workers))) {
    // Real numbers of all samples before integers, whose elements may be smaller.
    std::byte* place = staging_.data();
    for (const bool integers : {false, true}) {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (integers == rows_[row].reals) continue;
            const auto put = [&](Slot& slot, std::int64_t samples) {
                slot.rows.resize(rows_.size());
                slot.rows[row] = std::exchange(place, place + samples * rows_[row].bytes);
            };
            for (Slot& slot : slots_)
                put(slot, largest_batch_);
            for (Worker& worker : workers_)
                if (mixing_) put(worker.partner, 1);
        }
    }
    for (Worker& worker : workers_) {
        worker.sample.inputs.resize(dataset_.inputs.size());
        // Steps work on the first input in 32 bits. Without any all samples are of one size, and a
        // source has elements of one type.
        for (SampleArray& array : worker.sample.inputs)
            array.wide = dtype_ == DType::f64;
        if (chain_.has_steps()) worker.sample.input().wide = false;
        if (worker.sample.input().wide) continue;
        worker.sample.input().floats.reserve(std::size_t(plan::largest_sample(dataset_)));
        worker.scratch.spare.input().floats.reserve(std::size_t(plan::largest_sample(dataset_)));
    }
    if (prepared_by_ == PreparedBy::who_waits) return;
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
    while (prepared_by_ == PreparedBy::who_waits && !slot.ready && error_ == nullptr)
        prepare_portion(workers_.front(), lock);
    // Portions are taken on in order: once all workers are idle, every sample before the one that
    // failed is done.
    ready_.wait(lock, [&] { return slot.ready || (error_ != nullptr && busy_ == 0); });
    if (slot.ready) return batch_samples(taken_);
    std::rethrow_exception(error_);
}

void Pipeline::take(const BatchInputs& inputs) {
    // Between wait() and the increment below the workers leave this slot alone.
    Slot& slot = slot_of(taken_);
    const auto copy = [&](void* to, std::size_t row) {
        if (to != nullptr)
            std::memcpy(to, slot.rows[row], std::size_t(batch_samples(taken_) * rows_[row].bytes));
    };
    for (std::size_t i = 0; i < inputs.features.size(); ++i)
        copy(inputs.features[i], i);
    copy(inputs.target, inputs.labels ? labels_row() : numbers_row());
    {
        const std::lock_guard lock(mutex_);
        slot.ready = false;
        slot.finished = 0;
        ++taken_;
    }
    work_.notify_all();
}

// Numbers that are no image are brought to a mean of 0 and a deviation of 1, feature by feature.
void Pipeline::store_scaled(std::size_t i, const SampleArray& array, std::byte* row) const {
    const plan::Feature& input = dataset_.inputs[i];
    const auto axis = std::size_t(feature_axis(input.axes));
    const std::int64_t features = input.dims[axis];
    const std::int64_t inner =
        element_count(Dims(input.dims.begin() + std::ptrdiff_t(axis) + 1, input.dims.end()));
    with_reals(row, [&](auto* values) {
        using Value = std::remove_pointer_t<decltype(values)>;
        const auto store = [&](const auto& elements) {
            arrangements_[i].for_each(
                0, std::int64_t(elements.size()), [&](std::int64_t from, std::int64_t to) {
                    const auto feature = std::size_t(from / inner % features);
                    values[to] = (Value(elements[std::size_t(from)]) - Value(input.mean[feature])) /
                                 Value(input.deviation[feature]);
                });
        };
        if (array.doubles.empty())
            store(array.floats);
        else
            store(array.doubles);
    });
}

void Pipeline::store_input(std::size_t i, const SampleArray& array, std::byte* row) const {
    static const std::vector<Normalization> as_it_is;
    if (rows_[i].reals && !(i == 0 && image_) && !dataset_.inputs[i].mean.empty())
        return store_scaled(i, array, row);
    const auto& list = i == 0 && image_ ? chain_.normalizations() : as_it_is;
    const auto store = [&](const auto& elements, auto* values) {
        using Value = std::remove_pointer_t<decltype(values)>;
        if (list.empty() && arrangements_[i].identity()) {
            std::transform(elements.begin(), elements.end(), values,
                           [](auto element) { return Value(element); });
            return;
        }
        const std::int64_t channels = list.empty() ? 1 : array.dims.front();
        const std::int64_t plane = std::int64_t(elements.size()) / channels;
        for (std::int64_t channel = 0; channel < channels; ++channel) {
            const auto copy = [&](auto&& made) {
                arrangements_[i].for_each(channel * plane, (channel + 1) * plane,
                                          [&](std::int64_t from, std::int64_t to) {
                                              values[to] = made(elements[std::size_t(from)]);
                                          });
            };
            if (list.empty()) {
                copy([](auto element) { return Value(element); });
            } else if (list.size() == 1) {
                const Value mean = Value(list[0].mean[std::size_t(channel)]);
                const Value divisor = Value(list[0].standard_deviation[std::size_t(channel)]);
                copy([=](auto pixel) { return (Value(pixel) - mean) / divisor; });
            } else {
                copy([&](auto pixel) {
                    Value value = Value(pixel);
                    for (const Normalization& one : list)
                        value = (value - Value(one.mean[std::size_t(channel)])) /
                                Value(one.standard_deviation[std::size_t(channel)]);
                    return value;
                });
            }
        }
    };
    if (!rows_[i].reals)
        store(array.integers, reinterpret_cast<std::int32_t*>(row));
    else
        with_reals(row, [&](auto* values) {
            if (array.doubles.empty())
                store(array.floats, values);
            else
                store(array.doubles, values);
        });
}

void Pipeline::check_image(const Sample& sample, std::int64_t index) const {
    const Dims &wanted = dataset_.input().dims, &found = sample.input().dims;
    if (found == wanted) return;
    throw RunError(
        Exit::failed,
        fmt::format("{} is {} behind the dataset's transforms; the network takes {}",
                    source_.name_of(pass_.split, index), fmt::join(found, "x"),
                    fmt::join(wanted, "x")),
        "where samples differ, give the dataset `transforms` that make them alike: resize, "
        "to_gray");
}

void Pipeline::store_target(const SampleArray& array, std::int64_t index, std::int64_t at,
                            const Slot& slot) const {
    const plan::Feature& target = dataset_.target();
    if (target.kind == plan::LabelKind::input) return;
    const bool classes = plan::are_integers(target.kind);
    const auto expected =
        std::size_t(classes ? rows_[labels_row()].bytes / size_of(DType::i32) : target.classes);
    const std::size_t count = classes ? array.integers.size() : array.doubles.size();
    if (count != expected) {
        throw RunError(Exit::failed,
                       fmt::format("{} has {} labels; the network takes {}",
                                   source_.name_of(pass_.split, index), count, expected));
    }
    if (classes) {
        for (const std::int32_t label : array.integers) {
            if (label >= 0 && label < target.classes) continue;
            if (label == plan::kIgnoredLabel && plan::ignores_labels(dataset_)) continue;
            throw RunError(Exit::failed,
                           fmt::format("{} has the class {}; the dataset has {} classes",
                                       source_.name_of(pass_.split, index), label, target.classes));
        }
        std::memcpy(slot.rows[labels_row()] + at * rows_[labels_row()].bytes, array.integers.data(),
                    std::size_t(rows_[labels_row()].bytes));
    }
    const Row& numbers = rows_[numbers_row()];
    if (numbers.bytes == 0) return;
    with_reals(slot.rows[numbers_row()] + at * numbers.bytes, [&](auto* row) {
        using Real = std::remove_pointer_t<decltype(row)>;
        if (classes) {
            std::fill_n(row, target.classes, Real(0));
            row[array.integers[0]] = Real(1);
        } else {
            std::transform(array.doubles.begin(), array.doubles.end(), row,
                           [](double value) { return Real(value); });
        }
    });
}

void Pipeline::prepare(Worker& worker, std::int64_t position, std::int64_t at,
                       const Slot& slot) const {
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
    store_target(sample.target(), index, at, slot);
    for (std::size_t i = 0; i < sample.inputs.size(); ++i)
        store_input(i, sample.inputs[i], slot.rows[i] + at * rows_[i].bytes);
}

double Pipeline::share_of(std::int64_t position) const {
    Draws draws(mixing_key_, {*pass_.epoch, position / 2, 0});
    return mixing_share(*mixing_, draws);
}

/// Mixes a sample whose partner is of another batch.
void Pipeline::mix_with_other_batch(Worker& worker, std::int64_t position, plan::Part batch,
                                    const Slot& slot) const {
    const std::int64_t partner = mixing_partner(position), at = position - batch.first;
    if (partner >= std::int64_t(pass_.order.size()) ||
        (partner >= batch.first && partner < batch.first + batch.count))
        return;
    prepare(worker, partner, 0, worker.partner);
    const double share = share_of(position);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        const std::int64_t bytes = rows_[row].reals ? rows_[row].bytes : 0;
        with_reals(slot.rows[row] + at * bytes, [&](auto* mine) {
            mix_row(mine, reinterpret_cast<decltype(mine)>(worker.partner.rows[row]),
                    bytes / std::int64_t(sizeof *mine), share);
        });
    }
}

/// Mixes the pairs that a batch has both samples of.
void Pipeline::mix_pairs(plan::Part batch, const Slot& slot) const {
    for (std::int64_t at = batch.first % 2; at + 1 < batch.count; at += 2) {
        const double share = share_of(batch.first + at);
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            const std::int64_t bytes = rows_[row].reals ? rows_[row].bytes : 0;
            with_reals(slot.rows[row] + at * bytes, [&](auto* first) {
                const std::int64_t width = bytes / std::int64_t(sizeof *first);
                mix_pair(first, first + width, width, share);
            });
        }
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

/// Under the lock, which is let go while samples are prepared.
void Pipeline::prepare_portion(Worker& worker, std::unique_lock<std::mutex>& lock) {
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

void Pipeline::work(Worker& worker) {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [&] { return quit_ || has_work(); });
        if (quit_) return;
        prepare_portion(worker, lock);
    }
}

}  // namespace dtnn::runtime

#include "tools/dtnn_run/serve/batcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "runtime/base/run_error.hpp"

namespace dtnn::serve {
namespace {

/// Whether an array holds samples of the same extents and elements as another.
bool alike(const runtime::GivenArray& a, const runtime::GivenArray& b) {
    const Dims &of_a = a.header.dims, &of_b = b.header.dims;
    return a.header.kind == b.header.kind && a.header.item_bytes == b.header.item_bytes &&
           std::equal(of_a.begin() + 1, of_a.end(), of_b.begin() + 1, of_b.end());
}

bool can_join(const InferenceRequest& a, const InferenceRequest& b) {
    return std::equal(a.arrays.begin(), a.arrays.end(), b.arrays.begin(), b.arrays.end(), alike);
}

/// The answer to a request that could not be computed.
Answer failure() {
    try {
        throw;
    } catch (const runtime::RunError& error) {
        // Elements that the network does not take; or a prediction that is no number.
        const Status status =
            error.exit() == runtime::Exit::diverged ? Status::internal_error : Status::bad_request;
        return error_answer(status, fmt::format("{}; {}", error.what(), error.help()));
    } catch (const std::bad_alloc&) {
        return error_answer(Status::service_unavailable,
                            "there is not enough memory; ask for fewer samples at a time");
    } catch (const std::exception& error) {
        return error_answer(Status::internal_error,
                            fmt::format("internal error: {}", error.what()));
    }
}

}  // namespace

Batcher::Batcher(const NetworkForm& form, runtime::GivenPredictor& network, Limits limits,
                 Metrics& metrics)
    : form_(form),
      network_(network),
      limits_(limits),
      metrics_(metrics),
      joined_(form.inputs.size()) {}

void Batcher::submit(InferenceRequest request, Deliver deliver) {
    {
        const std::lock_guard lock(mutex_);
        samples_ += request.samples;
        queue_.push_back(
            {std::move(request), std::move(deliver), std::chrono::steady_clock::now()});
    }
    changed_.notify_one();
}

void Batcher::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_one();
}

void Batcher::run() {
    while (true) {
        std::vector<Waiting> batch = next();
        if (batch.empty()) return;
        answer(batch);
    }
}

std::vector<Batcher::Waiting> Batcher::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || !queue_.empty(); });
    std::vector<Waiting> batch;
    if (queue_.empty()) return batch;
    // A connection has one request at a time: where all wait, nobody can join.
    changed_.wait_until(lock, queue_.front().since + limits_.wait, [&] {
        return stopped_ || samples_ >= limits_.samples ||
               std::int64_t(queue_.size()) >= metrics_.connections();
    });
    std::int64_t samples = 0;
    while (!queue_.empty()) {
        const InferenceRequest& request = queue_.front().request;
        if (!batch.empty() && (samples + request.samples > limits_.samples ||
                               !can_join(batch.front().request, request)))
            break;
        samples += request.samples;
        batch.push_back(std::move(queue_.front()));
        queue_.pop_front();
    }
    samples_ -= samples;
    return batch;
}

void Batcher::answer(std::span<Waiting> batch) {
    std::vector<Answer> answers;
    try {
        predict(batch);
        std::span<const double> left = predictions_;
        for (const Waiting& one : batch) {
            const auto own = std::size_t(one.request.samples * element_count(form_.output.dims));
            answers.push_back(inference_answer(form_, one.request, left.first(own)));
            left = left.subspan(own);
        }
    } catch (...) {
        if (batch.size() == 1) return batch.front().deliver(failure());
        // Who is at fault is found one by one; the others are not.
        for (std::size_t i = 0; i < batch.size(); ++i)
            answer(batch.subspan(i, 1));
        return;
    }
    for (std::size_t i = 0; i < batch.size(); ++i)
        batch[i].deliver(std::move(answers[i]));
}

void Batcher::predict(std::span<const Waiting> batch) {
    std::vector<runtime::GivenArray> arrays = batch.front().request.arrays;
    for (std::size_t i = 0; i < arrays.size() && batch.size() > 1; ++i) {
        std::vector<char>& bytes = joined_[i];
        bytes.clear();
        arrays[i].header.dims[0] = 0;
        for (const Waiting& one : batch) {
            const runtime::GivenArray& array = one.request.arrays[i];
            bytes.insert(bytes.end(), array.bytes, array.bytes + array.header.bytes());
            arrays[i].header.dims[0] += array.header.dims[0];
        }
        bytes.reserve(1);  // of no elements a place, too
        arrays[i].bytes = bytes.data();
    }
    predictions_.clear();
    std::int64_t samples = 0;
    network_.predict(std::move(arrays), [&](const runtime::PredictedBatch& told) {
        predictions_.insert(predictions_.end(), told.predictions.begin(), told.predictions.end());
        samples += told.samples;
    });
    metrics_.batch(samples);
}

}  // namespace dtnn::serve

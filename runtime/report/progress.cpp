#include "runtime/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "base/quantity_text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr double kRedrawSeconds = 0.1;

int terminal_width() {
    struct winsize size {};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

std::string rate_text(double rate) {
    if (rate >= 1e6) return fmt::format("{:.2f}M", rate / 1e6);
    if (rate >= 1e4) return fmt::format("{:.1f}k", rate / 1e3);
    return fmt::format("{:.0f}", rate);
}

std::string measure_text(const std::string& name, double value) {
    if (!name.ends_with("accuracy")) return fmt::format("{} {:.4g}", name, value);
    // The accuracy of classes, or of one class or another, needs no name: a job has one of them.
    const bool plain = name == "categorical_accuracy" || name == "binary_accuracy";
    return fmt::format("{} {:.2f}%", plain ? "accuracy" : name, 100 * value);
}

/// The measures of an epoch that is not over: what is known at any time.
std::string running_text(const MetricSet& metrics, const char* separator) {
    std::string text;
    for (std::size_t i = 0; i < metrics.running_count(); ++i) {
        text += (i == 0 ? "" : separator) +
                measure_text(metrics.running_name(i), metrics.running_value(i));
    }
    return text;
}

void write_stderr(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace

// The words of --progress and --color are read here alone.
ProgressStyle choose_progress(const std::string& word) {
    if (word == "bar") return ProgressStyle::bar;
    if (word == "plain") return ProgressStyle::plain;
    if (word == "none") return ProgressStyle::none;
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
    return isatty(STDERR_FILENO) && !dumb ? ProgressStyle::bar : ProgressStyle::plain;
}

bool choose_color(const std::string& word) {
    if (word == "always") return true;
    if (word == "never") return false;
    const char* terminal = std::getenv("TERM");
    if (terminal != nullptr && std::strcmp(terminal, "dumb") == 0) return false;
    const char* refused = std::getenv("NO_COLOR");
    if (refused != nullptr && *refused != '\0') return false;
    return isatty(STDERR_FILENO) != 0;
}

std::string measures_text(const PassValues& pass, const char* separator) {
    std::string text;
    for (const MetricValue& value : pass.values) {
        if (value.form != MetricValue::Form::number) continue;
        text += (text.empty() ? "" : separator) + measure_text(value.name, value.number());
    }
    return text;
}

std::string progress_line(const Progress& progress, double samples_per_second, double seconds_left,
                          int width) {
    constexpr int kLeastBar = 8, kMostBar = 30;
    const std::string head = fmt::format("epoch {}/{} ", progress.epoch, progress.epochs);
    const std::int64_t steps = std::max<std::int64_t>(1, progress.steps);
    std::vector<std::string> parts;
    std::string gap;
    const auto join = [&](const char* spaces) {
        gap = spaces;
        parts = {fmt::format("{}%", 100 * progress.step / steps),
                 rate_text(samples_per_second) + " samples/s", running_text(progress.train, spaces),
                 clock_text(seconds_left) + " left"};
    };
    const auto length = [&] {
        std::size_t sum = head.size() + gap.size() * (parts.size() - 1);
        for (const std::string& part : parts)
            sum += part.size();
        return int(sum);
    };
    constexpr int kBrackets = 3;  // and the space after them
    join("  ");
    if (length() + kBrackets + kLeastBar > width) join(" ");
    // A narrow terminal can do without these, in this order: speed, time left, measures.
    for (const std::size_t least : {1, 2, 1}) {
        if (length() <= width || parts.size() <= 1) break;
        parts.erase(parts.begin() + std::ptrdiff_t(std::min(least, parts.size() - 1)));
    }
    std::string line = head;
    const int room = std::min(kMostBar, width - length() - kBrackets);
    if (room >= kLeastBar) {
        const int full = int(progress.step * room / steps);
        line += "[" + std::string(std::size_t(full), '=');
        if (full < room) line += ">" + std::string(std::size_t(room - full - 1), ' ');
        line += "] ";
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
        line += (i == 0 ? "" : gap) + parts[i];
    if (int(line.size()) > width) line.resize(std::size_t(std::max(0, width)));
    return line;
}

std::string step_line(const Progress& progress, double samples_per_second, double seconds_left) {
    return fmt::format("epoch {}/{}, step {}/{}: {}; {} samples/s, {} left", progress.epoch,
                       progress.epochs, progress.step, progress.steps,
                       running_text(progress.train, ", "), rate_text(samples_per_second),
                       clock_text(seconds_left));
}

std::string epoch_line(const EpochResult& result, std::int64_t epochs) {
    std::string line =
        fmt::format("epoch {}/{}: {}", result.epoch, epochs, measures_text(result.train));
    if (result.validation.samples > 0) {
        line += "; validation: " + measures_text(result.validation);
    }
    return line + fmt::format("; {} samples/s, {}", rate_text(result.samples_per_second),
                              clock_text(result.seconds));
}

ProgressReport::ProgressReport(ProgressStyle style, bool color, const plan::Plan& plan,
                               double line_seconds, std::function<double()> clock)
    : style_(style),
      color_(color),
      epochs_(plan.training.epochs),
      line_seconds_(line_seconds),
      clock_(std::move(clock)),
      last_told_(style == ProgressStyle::bar ? -1 : clock_()) {}

ProgressReport::~ProgressReport() {
    clear();
}

void ProgressReport::clear() {
    if (drawn_) write_stderr("\r\x1b[K");
    drawn_ = false;
}

bool ProgressReport::answer(const std::string& line, bool wanted) {
    clear();
    try {
        print_out(line + "\n");
        return true;
    } catch (const RunError& error) {
        if (wanted) throw;
        say(line);
        say(fmt::format("warning: {}", error.what()));
        return !answer_is_wanted();
    }
}

/// Whether it is time to tell something; it is told then.
bool ProgressReport::is_due() {
    if (style_ == ProgressStyle::none) return false;
    const double now = clock_();
    const double wait = style_ == ProgressStyle::bar ? kRedrawSeconds : line_seconds_;
    if (last_told_ >= 0 && now - last_told_ < wait) return false;
    last_told_ = now;
    return true;
}

void ProgressReport::draw(const std::string& line) {
    write_stderr("\r" + line + "\x1b[K");
    drawn_ = true;
}

void ProgressReport::part(const std::string& what, std::int64_t done, std::int64_t all) {
    if (!is_due()) return;
    const std::string line = fmt::format("{} {}/{}", what, done, all);
    if (style_ == ProgressStyle::plain) return say(line);
    draw(line.substr(0, std::size_t(terminal_width() - 1)));
}

void ProgressReport::step(const Progress& progress) {
    if (!is_due()) return;
    const double per_step =
        progress.seconds / double(std::max<std::int64_t>(1, progress.step - progress.first_step));
    const std::int64_t epochs_left = progress.epochs - progress.epoch;
    const double left =
        per_step * double(progress.steps - progress.step + epochs_left * progress.steps) +
        validation_seconds_ * double(epochs_left + 1);
    const double samples = double(progress.samples - progress.first_sample);
    const double rate = progress.seconds > 0 ? samples / progress.seconds : 0;
    if (style_ == ProgressStyle::plain) return say(step_line(progress, rate, left));
    // The last column stays free: some terminals wrap there.
    draw(shown(progress_line(progress, rate, left, terminal_width() - 1)));
}

void ProgressReport::epoch(const EpochResult& result) {
    const double training = result.samples_per_second > 0
                                ? double(result.train.samples) / result.samples_per_second
                                : 0;
    validation_seconds_ = std::max(0.0, result.seconds - training);
    say(epoch_line(result, epochs_));
}

void ProgressReport::say(const std::string& text) {
    if (style_ == ProgressStyle::none) return;
    clear();
    if (style_ == ProgressStyle::plain) last_told_ = clock_();
    const std::string line = shown_lines(text);
    const std::size_t colon = line.find(':');
    if (color_ && colon != std::string::npos && line.starts_with("epoch")) {
        write_stderr("\x1b[1m" + line.substr(0, colon) + "\x1b[0m" + line.substr(colon) + "\n");
    } else {
        write_stderr(line + "\n");
    }
}

}  // namespace dtnn::runtime

#pragma once
/// An exchange of ranks in a step, whoever carries it: a communicator over the host's memory, or a
/// device over its own.

namespace dtnn::runtime {

/// An exchange that is bound to memory, and can be started any number of times, once at a time.
class Exchange {
  public:
    virtual ~Exchange() = default;
    /// Begins it; until wait() returns the memory belongs to whoever carries it.
    virtual void start() = 0;
    /// Ends it; the memory holds what the call that bound it says, the same bits on every rank. On
    /// a device it may end later: what is put there behind sees it.
    virtual void wait() = 0;
};

}  // namespace dtnn::runtime

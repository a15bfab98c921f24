#pragma once
/// The load of others on this process's cores, as the system counts it: time that other processes,
/// the kernel and a machine's host take.

namespace dtnn::runtime {

class OtherLoad {
  public:
    OtherLoad();
    /// The part of the cores' time since the last call, or since the beginning, that went to
    /// others: 0 to 1. Negative where the system does not say, or too little time has passed to
    /// know.
    double take();

  private:
    struct Count {
        double busy = 0, all = 0, own = 0;  ///< seconds of all cores; of this process
        bool known = false;
    };
    static Count count();
    Count last_;
};

}  // namespace dtnn::runtime

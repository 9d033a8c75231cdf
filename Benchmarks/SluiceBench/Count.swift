/// A number that was counted in several runs of the same work.
struct Count: Codable, Equatable {
    var least: Int64
    var most: Int64

    init(least: Int64, most: Int64) {
        self.least = least
        self.most = most
    }

    /// - Parameter values: One from each run; nil comes of none, and where one could not be counted.
    init?(_ values: [Int64]) {
        guard let least = values.min(), let most = values.max(), least >= 0 else { return nil }
        self.init(least: least, most: most)
    }

    /// Whether every run gave the same, as where no other thread or process has a say.
    var isExact: Bool { least == most }
}

/// What the work of one side takes, counted in a process that does nothing else.
struct Counts: Codable, Equatable {
    /// Calls of malloc and its kin.
    var allocations: Count?
    /// Bytes moved by memcpy and its kin.
    var copiedBytes: Count?
    /// System calls of all threads.
    var systemCalls: Count?
    /// Bytes that the kernel copied into the process's memory, out of it, and between descriptors.
    var bytesIn: Count?
    var bytesOut: Count?
    var bytesWithinKernel: Count?
    /// The most frequent system calls of one run by their names.
    var callsByName: [String: Int64] = [:]
    /// Whether each call was seen (ptrace), or only reads and writes were, as the kernel adds them up (/proc/self/io).
    var isTraced = false
    /// The peak of resident memory during one run, and what of it the run added.
    var peakMebibytes: Double?
    var addedMebibytes: Double?

    /// The counts that are compared between runs of the benchmark, with their names.
    var gated: [(name: String, count: Count)] {
        [
            ("allocations", allocations), ("copied bytes", copiedBytes),
            // The two ways of counting do not give the same number.
            (isTraced ? "system calls" : "reads and writes", systemCalls),
            (isTraced ? "bytes read" : "bytes read (/proc/self/io)", bytesIn),
        ].compactMap { name, count in count.map { (name, $0) } }
    }
}

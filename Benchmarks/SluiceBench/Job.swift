/// What a child process of the benchmark is asked to do: `sluice-bench --job JSON`.
struct Job: Codable {
    enum Pass: Codable, Equatable {
        /// Sluice and its limits in turns.
        case rounds
        /// One side alone, 0 being Sluice's, watched and counted.
        case counts(side: Int)
        /// One point of a growth curve.
        case growth(Int64)
    }

    /// The row's name, or the growth curve's.
    var name: String
    var pass: Pass
    var options: Options
    /// The directory of this process.
    var directory: String
    /// The directory with the files that all processes read.
    var shared: String
}

/// What the child says, a line each.
enum Message: Codable {
    case progress(String)
    /// It waits to be counted; a line on its standard input lets it go on.
    case isReady
    case outcome(Outcome)
    case failure(String)
}

/// What came of a job.
enum Outcome: Codable {
    case absent(String)
    case value(Double, details: String)
    case times(bytes: Int64, sides: [SideTimes], absent: [String], isRace: Bool)
    case counts(bytes: Int64, side: String, Counted)
    case growth(GrowthPoint)
}

/// How long the runs of one side took, in seconds.
struct SideTimes: Codable {
    var name: String
    var wall: [Double] = []
    /// User and system time of the process itself, and of the programs that it started and waited for.
    var cpu: [Double] = []
    var childrenCPU: [Double] = []
    /// Of a peer that runs in a process of its own.
    var peakMebibytes: Double?
}

/// What a process found out about itself in several runs of the same work.
struct Counted: Codable {
    var allocations: [Int64] = []
    var copiedBytes: [Int64] = []
    /// From /proc/self/io.
    var readsAndWrites: [Int64] = []
    var bytesIn: [Int64] = []
    var bytesOut: [Int64] = []
    var peakMebibytes: Double?
    var addedMebibytes: Double?
}

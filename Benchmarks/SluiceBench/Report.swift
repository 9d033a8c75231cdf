internal import CSluiceBench
import Foundation

/// What a run of the benchmark found: what `--json` prints and `--save` keeps.
struct Report: Codable {
    /// Of this format: another one is not compared with.
    static let currentFormat = 1

    var format = currentFormat
    var date: Date
    var command: String
    var machine: Machine
    var options: Options
    var rows: [RowResult] = []
    var growth: [GrowthResult] = []

    /// Whether every row and curve that could be measured is as it should be.
    var isMet: Bool { rows.allSatisfy(\.isMet) && growth.allSatisfy(\.isMet) }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(self) + Data("\n".utf8)
    }

    /// Reads results that were kept.
    ///
    /// - Throws: ``Options/Problem`` where they cannot be compared with a run under these options.
    static func kept(_ path: String, comparableWith options: Options) throws -> Report {
        let report: Report
        do {
            report = try decoded(Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw Options.Problem(text: "\(path) cannot be read as results of this benchmark: \(error)")
        }
        guard report.format == currentFormat else {
            throw Options.Problem(text: "\(path) has the format \(report.format), not \(currentFormat): save it anew")
        }
        guard (report.options.mebibytes, report.options.isQuick) == (options.mebibytes, options.isQuick) else {
            throw Options.Problem(
                text: "\(path) was measured with --size \(report.options.mebibytes)"
                    + "\(report.options.isQuick ? " --quick" : ""): compare with the same"
            )
        }
        guard report.machine.isOptimized == Machine.isOptimized else {
            throw Options.Problem(text: "\(path) was measured with another build (debug or release)")
        }
        return report
    }

    static func decoded(_ data: Data) throws -> Report {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Report.self, from: data)
    }
}

/// What came of one row.
struct RowResult: Codable {
    enum State: Codable, Equatable {
        case measured
        case absent(String)
        case failed(String)
    }

    var name: String
    var summary: String
    var mark: Row.Mark
    var state = State.measured
    /// Bytes that the work moves each time.
    var bytes: Int64 = 0
    /// Sluice's side first, then the limits.
    var sides: [Side] = []
    /// Which of the limits is the fastest, and so the one that the ratios are to.
    var limit: Int?
    /// Sluice against the limit, as the mark has it: speeds or times.
    var ratio: Spread?
    /// Sluice's processor time as a multiple of the limit's; nil where a side's runs in a process of its own.
    var processorRatio: Spread?
    /// What is not compared with a limit.
    var value: Double?
    var details: String?
    /// Peers that are not installed.
    var absentPeers: [String] = []

    init(_ row: Row) {
        (name, summary, mark) = (row.name, row.summary, row.mark)
    }

    /// The figure that the mark is about.
    var figure: Double? { ratio?.median ?? value }

    var isMet: Bool {
        switch state {
        case .absent: true
        case .failed: false
        case .measured: figure.map(mark.isMet) ?? true
        }
    }

    /// Takes in what was measured; calling it again with more rounds adds them up.
    mutating func take(_ times: [SideTimes], bytes: Int64, absent: [String], isRace: Bool) {
        self.bytes = bytes
        absentPeers = absent
        if sides.isEmpty { sides = times.map { Side(name: $0.name) } }
        for index in sides.indices { sides[index].take(times[index]) }
        limit = sides.indices.dropFirst().min { sides[$0].seconds < sides[$1].seconds }
        guard let limit, let sluice = sides.first else { return }
        ratio =
            mark.comparesSpeeds
            ? Spread(ofPairs: sides[limit].wall, sluice.wall) : Spread(ofPairs: sluice.wall, sides[limit].wall)
        processorRatio = isRace ? nil : Spread(ofPairs: sluice.processorSeconds, sides[limit].processorSeconds)
    }
}

/// One side of a row: Sluice, or a limit.
struct Side: Codable {
    var name: String
    /// Each round's seconds: by the clock, of the processor, and of the processor in programs that it started.
    var wall: [Double] = []
    var cpu: [Double] = []
    var childrenCPU: [Double] = []
    var counts: Counts?
    /// Of a peer that runs in a process of its own.
    var peerPeakMebibytes: Double?

    var seconds: Double { wall.median ?? .infinity }
    var processorSeconds: [Double] { zip(cpu, childrenCPU).map { $0 + $1 } }
    var peakMebibytes: Double? { peerPeakMebibytes ?? counts?.peakMebibytes }

    mutating func take(_ times: SideTimes) {
        wall += times.wall
        cpu += times.cpu
        childrenCPU += times.childrenCPU
        peerPeakMebibytes = times.peakMebibytes
    }

    /// MiB a second.
    func rate(_ bytes: Int64) -> Double? {
        seconds.isFinite && seconds > 0 ? Double(bytes) / seconds / 1_048_576 : nil
    }
}

extension Counts {
    /// What a process found out by itself, and what was seen of its system calls from outside.
    init(_ counted: Counted, _ calls: JobProcess.Calls?) {
        allocations = Count(counted.allocations)
        copiedBytes = Count(counted.copiedBytes)
        peakMebibytes = counted.peakMebibytes
        addedMebibytes = counted.addedMebibytes
        if let calls {
            isTraced = true
            systemCalls = Count(calls.runs.map(\.calls))
            bytesIn = Count(calls.runs.map(\.bytes_in))
            bytesOut = Count(calls.runs.map(\.bytes_out))
            bytesWithinKernel = Count(calls.runs.map(\.bytes_within_kernel))
            let frequent = calls.byName.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(12)
            callsByName = Dictionary(uniqueKeysWithValues: Array(frequent))
        } else {
            systemCalls = Count(counted.readsAndWrites)
            bytesIn = Count(counted.bytesIn)
            bytesOut = Count(counted.bytesOut)
        }
    }
}

internal import CSluiceBench
import Foundation
internal import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What runs in a job's process.
struct JobChild {
    /// How often work is counted; it differs where several threads or processes have a part in it.
    static let countedRuns = 3

    /// How many times as long as the fastest limit another one may take to be run in more than one round.
    private static let mostTimesSlower = 20.0

    private let job: Job

    static func run(_ text: String) async throws {
        // Programs that it starts are not what is counted.
        unsafe unsetenv("LD_PRELOAD")
        try endWithParent()
        let job = try JSONDecoder().decode(Job.self, from: Data(text.utf8))
        do {
            try say(.outcome(try await JobChild(job: job).outcome()))
        } catch {
            try say(.failure("\(error)"))
        }
    }

    private static func say(_ message: Message) throws {
        let line = try JSONEncoder().encode(message) + Data("\n".utf8)
        unsafe try line.withUnsafeBytes { unsafe try Libc.writeAll(1, $0) }
    }

    /// Ends this process group when nobody holds the other end of the standard input any more.
    private static func endWithParent() throws {
        try WorkerThread.start("parent") {
            var input = pollfd(fd: 0, events: 0, revents: 0)
            while unsafe poll(&input, 1, -1) < 0 {}
            kill(0, SIGKILL)
        }
    }

    private func outcome() async throws -> Outcome {
        if case .growth(let size) = job.pass { return .growth(try await Growth.measure(job, size)) }
        guard let row = Main.rows.first(where: { $0.name == job.name }) else {
            throw JobProcess.Failure(description: "there is no row \(job.name)")
        }
        try Self.say(.progress("preparing"))
        let bytes: Int64
        let sides: [(name: String, work: Row.Work)]
        var peers: [Peer] = []
        var missing: [String] = []
        var isRace = false
        switch try await row.prepare(Fixture(job), job.options) {
        case .absent(let reason): return .absent(reason)
        case .value(let value, let details): return .value(value, details: details)
        case .paired(let size, let sluice, let limits):
            (bytes, sides) = (size, [("Sluice", sluice)] + limits)
        case .race(let size, let sluice, let others, let absent):
            (bytes, sides) = (size, [("Sluice", sluice)] + others.map { ($0.name, $0.run) })
            (peers, missing, isRace) = (others, absent, true)
        }
        guard case .counts(let index) = job.pass else {
            var times = try await interleave(sides)
            for (index, peer) in peers.enumerated() { times[index + 1].peakMebibytes = peer.peakMebibytes }
            return .times(bytes: bytes, sides: times, absent: missing, isRace: isRace)
        }
        return .counts(bytes: bytes, side: sides[index].name, try await count(sides[index].work))
    }

    /// A B A B ..., the order turned round every time, so that neither side always finds the caches warm.
    private func interleave(_ sides: [(name: String, work: Row.Work)]) async throws -> [SideTimes] {
        var times = sides.map { SideTimes(name: $0.name) }
        try Self.say(.progress("warming up"))
        var warmUps: [Double] = []
        for side in sides {
            let start = Libc.seconds()
            try await side.work()
            warmUps.append(Libc.seconds() - start)
        }
        // What is left so far behind is not what counts, and would take nearly all of the time.
        let longest = (warmUps.dropFirst().min() ?? .infinity) * Self.mostTimesSlower
        let slow = Set(sides.indices.filter { $0 > 0 && warmUps[$0] > longest })
        for round in 0..<job.options.rounds {
            try Self.say(.progress("round \(round + 1) of \(job.options.rounds)"))
            let order = Array(sides.indices)
            for index in round.isMultiple(of: 2) ? order : Array(order.dropFirst()) + [0]
            where round == 0 || !slow.contains(index) {
                let start = Clocks()
                try await sides[index].work()
                if index == 0 { slowDown(since: start) }
                let end = Clocks()
                times[index].wall.append(end.wall - start.wall)
                times[index].cpu.append(end.cpu - start.cpu)
                times[index].childrenCPU.append(end.children - start.children)
            }
        }
        return times
    }

    /// With `SLUICE_BENCH_SLOWDOWN=1.1` Sluice's side takes 1.1 times what it took: how the gate's own test plants a
    /// regression.
    private func slowDown(since start: Clocks) {
        guard let text = unsafe getenv("SLUICE_BENCH_SLOWDOWN"), let factor = unsafe Double(String(cString: text)),
            factor > 1
        else { return }
        let end = start.cpu + (Libc.seconds(CLOCK_PROCESS_CPUTIME_ID) - start.cpu) * factor
        while Libc.seconds(CLOCK_PROCESS_CPUTIME_ID) < end {}
    }

    private func count(_ work: Row.Work) async throws -> Counted {
        try Self.say(.progress("counting"))
        var counted = Counted()
        // What is made once and kept is not the work's.
        try await work()
        ProcessMemory.forgetPeak()
        let before = ProcessMemory.resident()
        try await work()
        if let before, let after = ProcessMemory.resident() {
            counted.peakMebibytes = after.peak
            counted.addedMebibytes = max(after.peak - before.now, 0)
        }
        try Self.say(.isReady)
        var line = [UInt8](repeating: 0, count: 1)
        try Libc.check("read", unsafe read(0, &line, 1))
        for _ in 0..<Self.countedRuns {
            let transfersBefore = try Transfers()
            let (allocations, copied) = (sluice_allocation_count(), sluice_copied_byte_count())
            sluice_begin_counting()
            try await work()
            sluice_end_counting()
            // Read before anything is noted, which allocates and copies itself.
            let (allocationsAfter, copiedAfter) = (sluice_allocation_count(), sluice_copied_byte_count())
            let transfers = try Transfers()
            counted.allocations.append(allocations < 0 ? -1 : allocationsAfter - allocations)
            counted.copiedBytes.append(copied < 0 ? -1 : copiedAfter - copied)
            counted.readsAndWrites.append(transfers.calls - transfersBefore.calls)
            counted.bytesIn.append(transfers.bytesIn - transfersBefore.bytesIn)
            counted.bytesOut.append(transfers.bytesOut - transfersBefore.bytesOut)
        }
        return counted
    }

    /// The clocks that are read around work.
    private struct Clocks {
        let wall = Libc.seconds()
        let cpu = Libc.seconds(CLOCK_PROCESS_CPUTIME_ID)
        let children: Double

        init() {
            var usage = rusage()
            unsafe getrusage(RUSAGE_CHILDREN.rawValue, &usage)
            children = [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
        }
    }

    /// What the kernel has added up for this process, where its system calls cannot be traced.
    private struct Transfers {
        var calls: Int64 = 0
        var bytesIn: Int64 = 0
        var bytesOut: Int64 = 0

        init() throws {
            // Kernels without this accounting leave the numbers at 0.
            guard let text = try? Libc.contents("/proc/self/io") else { return }
            for line in text.split(separator: "\n") {
                let value = Int64(line.filter(\.isNumber)) ?? 0
                switch line.prefix(while: { $0 != ":" }) {
                case "syscr", "syscw": calls += value
                case "rchar": bytesIn += value
                case "wchar": bytesOut += value
                default: break
                }
            }
        }
    }
}

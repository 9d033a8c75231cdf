import Foundation
import Sluice
import SluiceCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How the cost of something grows with its size: measured at several sizes, each in a process of its own.
struct Growth {
    let name: String
    let summary: String
    /// What sizes are counted in.
    let unit: String
    /// The most memory that the work itself may add at any size, in MiB; at `perUnit` it is the most for one unit.
    let memoryLimit: Double
    var isLimitPerUnit = false
    let sizes: (Options) -> [Int64]
    /// Prepares the work of a size, and gives back what is measured.
    let prepare: (Int64, Fixture) async throws -> Row.Work

    static var all: [Growth] {
        [
            Growth(
                name: "scale-size",
                summary: "reading a body with one sparse file, by its size",
                unit: "MiB",
                memoryLimit: 1,
                sizes: { options in [1, 16, 256, 1024, 4096, 10_240] + (options.isQuick ? [] : [32_768, 102_400]) },
                prepare: { mebibytes, fixture in
                    let path = try fixture.sparseFile(mebibytes << 20)
                    let body = try MultipartForm { Part.file("file", path: path) }.body()
                    let buffer = Libc.Buffer(ReaderRows.bufferSize)
                    return { try ReaderRows.drain(body, buffer) }
                }
            ),
            Growth(
                name: "scale-parts",
                summary: "laying out and reading a form of fields of 100 bytes, by their number",
                unit: "parts",
                memoryLimit: 1.0 / 1024,
                isLimitPerUnit: true,
                sizes: { _ in [1, 10, 100, 1000, 10_000, 100_000] },
                prepare: { count, _ in
                    let value = String(repeating: "v", count: 100)
                    let buffer = Libc.Buffer(ReaderRows.bufferSize)
                    return {
                        var form = MultipartForm()
                        for index in 0..<count { try form.addField(name: "field\(index)", value: value) }
                        try ReaderRows.drain(form.body(), buffer)
                    }
                }
            ),
            Growth(
                name: "scale-uploads",
                summary: "uploads of a file of 1 MiB each at the same time, by their number",
                unit: "uploads",
                memoryLimit: 0.75,
                isLimitPerUnit: true,
                sizes: { _ in [1, 10, 50, 100, 200, 300, 400, 500] },
                prepare: { count, fixture in
                    let path = try fixture.sparseFile(1 << 20)
                    let body = try MultipartForm { Part.file("file", path: path) }.body()
                    let sink = try Sink()
                    let client = CurlClient()
                    var request = CurlRequest(url: sink.url)
                    request.expectContinue = .never
                    return { [request] in
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for _ in 0..<count { group.addTask { _ = try await client.upload(body, request) } }
                            try await group.waitForAll()
                        }
                    }
                }
            ),
        ]
    }

    /// Runs in the process of one point.
    static func measure(_ job: Job, _ size: Int64) async throws -> GrowthPoint {
        guard let growth = all.first(where: { $0.name == job.name }) else {
            throw JobProcess.Failure(description: "there is no curve \(job.name)")
        }
        let work = try await growth.prepare(size, Fixture(job))
        ProcessMemory.forgetPeak()
        let before = ProcessMemory.resident()
        let start = Libc.seconds()
        var point = GrowthPoint(size: size)
        var wall: [Double] = []
        var cpu: [Double] = []
        // Short work is done often enough to be timed, and all but the longest more than once.
        var elapsed = 0.0
        repeat {
            let (wallStart, cpuStart) = (Libc.seconds(), Libc.seconds(CLOCK_PROCESS_CPUTIME_ID))
            try await work()
            wall.append(Libc.seconds() - wallStart)
            cpu.append(Libc.seconds(CLOCK_PROCESS_CPUTIME_ID) - cpuStart)
            elapsed = Libc.seconds() - start
        } while elapsed < 0.5 || wall.count < 5 && elapsed < 5
        point.seconds = wall.median ?? 0
        point.processorSeconds = cpu.median ?? 0
        if let before, let after = ProcessMemory.resident() { point.addedMebibytes = max(after.peak - before.now, 0) }
        return point
    }
}

/// One size of a curve, and what it cost.
struct GrowthPoint: Codable {
    var size: Int64
    var seconds = 0.0
    var processorSeconds = 0.0
    /// The peak of resident memory during the work, less what there was before it.
    var addedMebibytes: Double?
}

/// A curve that was measured.
struct GrowthResult: Codable {
    /// The most that the exponent may be for growth to count as linear.
    static let mostExponent = 1.1

    /// For what is made once, whatever the size: threads, connections, the allocator's arenas.
    static let fixedMebibytes = 8.0

    var name: String
    var summary: String
    var unit: String
    var memoryLimit: Double
    var isLimitPerUnit: Bool
    var points: [GrowthPoint] = []
    var failure: String?

    init(_ growth: Growth) {
        (name, summary, unit) = (growth.name, growth.summary, growth.unit)
        (memoryLimit, isLimitPerUnit) = (growth.memoryLimit, growth.isLimitPerUnit)
    }

    /// The power of the size with which processor time grows: 1 is linear, 2 quadratic.
    ///
    /// It is the slope of the time against the size, both as logarithms, by least squares through the larger half of
    /// the points: what the smaller ones cost is mostly what any costs.
    var exponent: Double? {
        let points = points.suffix(points.count / 2 + 1).filter { $0.processorSeconds > 0 && $0.size > 0 }
        guard points.count >= 3 else { return nil }
        let xs = points.map { log(Double($0.size)) }
        let ys = points.map { log($0.processorSeconds) }
        let (meanX, meanY) = (xs.reduce(0, +) / Double(xs.count), ys.reduce(0, +) / Double(ys.count))
        let covariance = zip(xs, ys).reduce(0) { $0 + ($1.0 - meanX) * ($1.1 - meanY) }
        let variance = xs.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }
        return variance > 0 ? covariance / variance : nil
    }

    var isLinear: Bool { (exponent ?? .infinity) <= Self.mostExponent }

    var isMemoryBounded: Bool {
        points.allSatisfy { point in
            guard let added = point.addedMebibytes else { return true }
            return added <= (isLimitPerUnit ? memoryLimit * Double(point.size) + Self.fixedMebibytes : memoryLimit)
        }
    }

    var isMet: Bool { failure == nil && isLinear && isMemoryBounded }

    /// The curve as lines of text.
    var text: String {
        var lines = ["\(name): \(summary)"]
        for point in points {
            lines.append(
                "  \(point.size) \(unit): \(duration(point.seconds)), \(duration(point.processorSeconds)) of processor "
                    + "(\(duration(point.processorSeconds / Double(point.size))) each)"
                    + (point.addedMebibytes.map { ", +\(fixed($0, 1)) MiB" } ?? "")
            )
        }
        if let failure { return (lines + ["  FAILED: \(failure)"]).joined(separator: "\n") }
        let limit =
            isLimitPerUnit
            ? "\(format(memoryLimit * 1024)) KiB each" : "\(format(memoryLimit)) MiB at any size"
        lines.append(
            "  cost grows with the power \(exponent.map { fixed($0, 2) } ?? "?") of the size "
                + "(<= \(Self.mostExponent)): \(isLinear ? "ok" : "SHORT"); "
                + "memory at most \(limit): \(isMemoryBounded ? "ok" : "SHORT")"
        )
        return lines.joined(separator: "\n")
    }
}

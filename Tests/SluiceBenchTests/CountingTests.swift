import Foundation
import Testing

@testable import SluiceBench

/// What is counted in real runs is what the documentation says that Sluice does.
extension RealRuns {
    @Suite struct CountingTests {
        private func counts(_ row: String, size: Int) async throws -> Counts {
            let outcome = try await BenchProcess.run("--counts", "--json", "--size", "\(size)", "--filter", row)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let report = try Report.decoded(Data(outcome.output.utf8))
            let result = try #require(report.rows.first)
            return try #require(result.sides.first?.counts, "\(result.state)")
        }

        @Test func `A file's bytes come in once and are not copied again`() async throws {
            let counts = try await counts("reader-file", size: 8)
            let bytes: Int64 = 8 << 20
            #expect(counts.bytesIn?.least == bytes)
            // Its part's head and the delimiters; a debug build moves its variables about as well.
            #expect((0..<65_536).contains(try #require(counts.copiedBytes).most))
            if counts.isTraced {
                // 256 KiB at a time, the ends of the file and of the buffer not falling together, and the file's own calls.
                #expect((32..<40).contains(try #require(counts.systemCalls).most))
                #expect(counts.callsByName["pread64"].map { (32..<36).contains($0) } == true)
                #expect(counts.bytesOut?.most == 0)
            }
        }

        @Test func `Bytes in memory are copied once, and the kernel is not asked`() async throws {
            let counts = try await counts("reader-memory-parts", size: 1)
            let bytes: Int64 = 10_000 * 4096
            // And as many heads of some hundred bytes.
            #expect((bytes..<bytes + 10_000 * 300).contains(try #require(counts.copiedBytes).least))
            if counts.isTraced { #expect(try #require(counts.systemCalls).least == 0) }
        }

        @Test func `Writing to a file brings nothing into memory`() async throws {
            let counts = try await counts("write-file", size: 8)
            #expect(try #require(counts.copiedBytes).most < 65_536)
            if counts.isTraced {
                #expect(counts.bytesIn?.most == 0)
                #expect(try #require(counts.bytesWithinKernel).least >= 8 << 20)
            }
        }

        @Test(arguments: ["upload-libcurl", "upload-many"])
        func `Work that several threads do is counted to its end`(row: String) async throws {
            let counts = try await counts(row, size: 8)
            // All of it goes through user space once: libcurl is given a buffer that it sends.
            #expect(try #require(counts.bytesIn).least >= 8 << 20)
            #expect(try #require(counts.bytesOut).least >= 8 << 20)
        }

        @Test func `What runs do by themselves is the same each time`() async throws {
            let first = try await counts("reader-file-parts", size: 1)
            let second = try await counts("reader-file-parts", size: 1)
            #expect(first.allocations == second.allocations)
            #expect(try #require(first.allocations).isExact)
            let bytes: Int64 = 10_000 * 4096
            #expect(first.bytesIn?.least == bytes)
            if first.isTraced { #expect(first.systemCalls == second.systemCalls) }
        }
    }
}

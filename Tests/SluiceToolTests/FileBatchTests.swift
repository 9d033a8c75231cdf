import Sluice
import SluiceTestSupport
import Testing

@testable import SluiceTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Files that replace others, on file systems that can do less than this machine's: what cannot be done is made to fail, each
/// time in a process of its own.
@Suite struct FileBatchTests {
    private static let names = ["file", "link", "private"]

    /// What the file system cannot do, as the functions of `SystemCalls` that fail.
    private static let weaknesses: [[String]] = [
        [], ["exchangeNames"], ["exchangeNames", "link"], ["renameNew"], ["renameNew", "exchangeNames"],
    ]

    /// What had the names before.
    private struct Old {
        let directory: TemporaryDirectory

        var path: String { "\(directory.path)/inbox" }

        init() throws {
            directory = try TemporaryDirectory()
            try Files.makeDirectory(path)
            _ = try directory.file("outside", Array("outside".utf8))
            _ = try directory.file("inbox/file", Array("old file".utf8))
            try Files.makeLink("\(path)/link", to: "../outside")
            _ = try directory.file("inbox/private", Array("old private".utf8))
            try Files.setMode("\(path)/private", 0o600)
        }

        func expectUnchanged(in path: String, _ comment: Comment) throws {
            #expect(try text("file", in: path) == "old file", comment)
            #expect(try text("link", in: path) == "outside", comment)
            #expect(try text("private", in: path) == "old private", comment)
            #expect(try Files.mode("\(path)/private") == 0o600, comment)
        }
    }

    @Test(arguments: weaknesses)
    func `All files are replaced, whatever the file system can do`(weakness: [String]) async throws {
        let old = try Old()
        await #expect(processExitsWith: .success) { [path = old.path as String, weakness = weakness as [String]] in
            SystemFaults.arm(.init(functions: Set(weakness), .failure(.unsupported)))
            let batch = try FileBatchTests.batch(in: path)
            #expect(try batch.commit() == FileBatchTests.names)
            #expect(SystemFaults.disarm().hit != nil || weakness.isEmpty)
        }
        #expect(try Files.names(in: old.path) == Self.names)
        for name in Self.names { #expect(try text(name, in: old.path) == "new \(name)") }
        #expect(try text("outside", in: old.directory.path) == "outside")
    }

    @Test(arguments: weaknesses)
    func `Where one cannot have its name, what the others replaced is back`(weakness: [String]) async throws {
        let old = try Old()
        try Files.makeDirectory("\(old.path)/last")
        await #expect(processExitsWith: .success) { [path = old.path as String, weakness = weakness as [String]] in
            SystemFaults.arm(.init(functions: Set(weakness), .failure(.unsupported)))
            let batch = try FileBatchTests.batch(in: path, adding: ["fresh", "last"])
            let error = failure { try batch.commit() }
            _ = SystemFaults.disarm()
            #expect(error?.code == .writeFailed && error?.errno == EISDIR)
        }
        #expect(try Files.names(in: old.path) == ["file", "last", "link", "private"])
        try old.expectUnchanged(in: old.path, "\(weakness)")
    }

    @Test(arguments: [["exchangeNames", "rename"], ["exchangeNames", "link", "rename"]])
    func `A file that cannot take another one's place leaves it there`(weakness: [String]) async throws {
        let old = try Old()
        await #expect(processExitsWith: .success) { [path = old.path as String, weakness = weakness as [String]] in
            SystemFaults.arm(.init(functions: Set(weakness), .failure(.inputOutput)))
            let batch = try FileBatchTests.batch(in: path)
            let error = failure { try batch.commit() }
            _ = SystemFaults.disarm()
            #expect(error?.code == .writeFailed && error?.errno == EIO)
            #expect(error?.path == "\(path)/file")
        }
        // A second name of the old file may be left with it, since nothing could be renamed.
        try old.expectUnchanged(in: old.path, "\(weakness)")
    }

    @Test func `An old file that cannot be put back is kept, and the error says where`() async throws {
        let old = try Old()
        try Files.makeDirectory("\(old.path)/last")
        await #expect(processExitsWith: .success) { [path = old.path as String] in
            let batch = try FileBatchTests.batch(in: path, adding: ["last"])
            // The files exchange their names; what goes wrong is the way back.
            SystemFaults.arm(.init(functions: ["rename"], .failure(.inputOutput)))
            let error = try #require(failure { try batch.commit() })
            _ = SystemFaults.disarm()
            let staging = try #require(Files.names(in: path).first { $0.hasPrefix(".sluice-") })
            for (number, content) in [(1, "old file"), (3, "old private")] {
                #expect(error.reason.contains("\(path)/\(staging)/\(number)"), "\(error)")
                #expect(try text("\(number)", in: "\(path)/\(staging)") == content)
            }
        }
    }

    @Test func `A signal that comes while files get their names waits, and then removes what is left`() async throws {
        let old = try Old()
        await #expect(processExitsWith: .success) { [path = old.path as String] in
            let batch = try FileBatchTests.batch(in: path)
            async let cleaned: Void = onThread { Cleanup.runAll() }
            // Whichever comes first: all of the new files, or none.
            let names = try? batch.commit()
            try await cleaned
            #expect(try Files.names(in: path) == FileBatchTests.names)
            #expect(try text("file", in: path) == (names == nil ? "old file" : "new file"))
            #expect(try text("private", in: path) == (names == nil ? "old private" : "new private"))
        }
    }

    @Test func `After the clean-up nothing is made any more`() async throws {
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let inbox = try Inbox("\(path)/new")
            let batch = FileBatch(in: inbox, .refuse)
            try batch.begin("first")
            Cleanup.runAll()
            #expect(try Files.names(in: path).isEmpty, "the files first, then the directory that was made for them")
            #expect(failure { try batch.begin("second") }?.errno == ECANCELED)
            #expect(failure { try batch.commit() }?.code == .cancelled)
            #expect(try Files.names(in: path).isEmpty)
        }
    }

    /// New files for all names, written but not named yet.
    private static func batch(in path: String, adding more: [String] = []) throws -> FileBatch {
        let batch = FileBatch(in: try Inbox(path), .replace)
        for name in names + more {
            try batch.begin(name)
            let outcome = unsafe Array("new \(name)".utf8).withUnsafeBytes { bytes in
                Result { () throws(MultipartError) in unsafe try batch.write(bytes) }
            }
            try outcome.get()
            try batch.end()
        }
        return batch
    }
}

private func text(_ name: String, in path: String) throws -> String {
    String(decoding: try TemporaryDirectory.contents(ofFile: "\(path)/\(name)"), as: UTF8.self)
}

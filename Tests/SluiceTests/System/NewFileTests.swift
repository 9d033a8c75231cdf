import Glibc
import SluiceTestSupport
import Testing

@testable import Sluice

/// Files that take another one's place once they are whole: where they may, and what happens when the system refuses.
@Suite struct NewFileTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    private static let all: [NewFile.Replacing] = [.nothing, .name, .file]

    // MARK: Places

    @Test(arguments: ["", ".", "..", "/", "d", "d/", "d/.", "d/..", "new/", "l/", "a\0b"], all)
    func `A path that names no file is refused at once`(name: String, replacing: NewFile.Replacing) throws {
        try Files.makeDirectory(path("d"))
        try Files.makeLink(path("l"), to: "d")
        let isRelative = ["", ".", "..", "/"].contains(name)
        let error = failure { try NewFile(isRelative ? name : path(name), replacing: replacing) }
        // What is there already may not be replaced anyway.
        #expect(error?.code == .openFailed || (name == "d" && error?.code == .fileExists), "\(name): \(error as Any)")
        #expect((error?.path ?? "") == (isRelative ? name : path(name)))
        #expect(try names() == ["d", "l"])
    }

    @Test(arguments: ["fifo", "socket", "link to a fifo"], all)
    func `What is no file is not replaced by one`(name: String, replacing: NewFile.Replacing) throws {
        try Files.makeFIFO(path("fifo"))
        try Files.makeSocket(path("socket"))
        try Files.makeLink(path("link to a fifo"), to: "fifo")
        if name.hasPrefix("link"), replacing == .name {
            // It is the link that goes.
            try write("x", to: name, replacing)
            #expect(try TemporaryDirectory.contents(ofFile: path(name)) == Array("x".utf8))
        } else {
            let error = failure { try NewFile(path(name), replacing: replacing) }
            #expect(error?.code == (replacing == .nothing ? .fileExists : .openFailed), "\(error as Any)")
        }
        #expect(try names() == ["fifo", "link to a fifo", "socket"])
    }

    @Test func `A link to nothing is not followed`() throws {
        try Files.makeLink(path("link"), to: "nowhere")
        let error = failure { try NewFile(path("link"), replacing: .file) }
        #expect(error?.code == .openFailed)
        #expect(error?.reason.contains("symbolic link") == true)
        #expect(failure { try NewFile(path("link"), replacing: .nothing) }?.code == .fileExists)
        try write("x", to: "link", .name)
        #expect(try names() == ["link"])
    }

    @Test func `The file behind a link is replaced, and keeps its permissions`() throws {
        try Files.makeDirectory(path("d"))
        _ = try directory.file("d/file", Array("old".utf8))
        try Files.setMode(path("d/file"), 0o640)
        try Files.makeLink(path("link"), to: "d/file")
        let file = try NewFile(path("link"), replacing: .file)
        try file.create()
        #expect(try names("d").count == 2)
        let temporary = try #require(names("d").first { $0 != "file" })
        #expect(try Files.mode(path("d/\(temporary)")) == 0o600)
        try append("new", to: file)
        #expect(try TemporaryDirectory.contents(ofFile: path("link")) == Array("old".utf8))
        try file.commit()
        #expect(try TemporaryDirectory.contents(ofFile: path("d/file")) == Array("new".utf8))
        #expect(try Files.mode(path("d/file")) == 0o640)
        #expect(try names() == ["d", "link"])
        #expect(try names("d") == ["file"])
    }

    @Test(arguments: [0o000, 0o022, 0o027, 0o077])
    func `A new file has what the user's mask leaves, a private one nothing for others`(mask: Int) async throws {
        await #expect(processExitsWith: .success) { [mask = mask as Int, path = directory.path as String] in
            umask(mode_t(mask))
            for (name, replacing) in [("file", NewFile.Replacing.file), ("name", .name), ("nothing", .nothing)] {
                let file = try NewFile("\(path)/\(name)", replacing: replacing)
                try file.create()
                try file.commit()
                #expect(try Int(Files.mode("\(path)/\(name)")) == (replacing == .file ? 0o666 & ~mask : 0o600))
            }
        }
    }

    @Test func `A file that may not be written is not replaced`() async throws {
        _ = try directory.file("file", Array("old".utf8))
        try Files.setMode(path("file"), 0o444)
        try Files.setMode(directory.path, 0o777)
        await #expect(processExitsWith: .success) { [path = path("file") as String] in
            // Nothing is forbidden to root.
            if geteuid() == 0 { #expect(setgid(65534) == 0 && setuid(65534) == 0) }
            let error = failure { try NewFile(path, replacing: .file) }
            #expect(error?.code == .openFailed && error?.errno == EACCES)
        }
        #expect(try names() == ["file"])
    }

    // MARK: Ending

    @Test func `A file that was given up is not made, and not named`() throws {
        let early = try NewFile(path("early"), replacing: .name)
        early.discard()
        #expect(failure { try early.create() }?.code == .cancelled)
        let late = try NewFile(path("late"), replacing: .name)
        try late.create()
        late.discard()
        #expect(try names().isEmpty)
        try append("more", to: late)
        #expect(failure { try late.commit() }?.code == .cancelled)
        #expect(try names().isEmpty)
        let named = try NewFile(path("named"), replacing: .name)
        try named.create()
        try named.commit()
        named.discard()
        #expect(try names() == ["named"])
    }

    @Test(arguments: all)
    func `A disk that has no room after all leaves the old file`(replacing: NewFile.Replacing) async throws {
        if replacing != .nothing { _ = try directory.file("file", Array("old".utf8)) }
        let names = try names()
        await #expect(processExitsWith: .success) {
            [path = path("file") as String, replacing = Self.all.firstIndex(of: replacing) as Int?] in
            let file = try NewFile(path, replacing: NewFileTests.all[try #require(replacing)])
            try file.create()
            try append("new", to: file)
            SystemFaults.arm(.init(functions: ["closeWritten"], .failure(.quotaExceeded)))
            let error = failure { try file.commit() }
            let report = SystemFaults.disarm()
            #expect(error?.code == .writeFailed && error?.errno == EDQUOT)
            #expect(!report.calls.contains { $0.hasPrefix("rename") }, "closed before it gets its name")
        }
        #expect(try self.names() == names)
        if !names.isEmpty { #expect(try TemporaryDirectory.contents(ofFile: path("file")) == Array("old".utf8)) }
    }

    @Test(arguments: [(0o660, 0o600), (0o664, 0o644), (0o646, 0o646), (0o777, 0o777), (0o640, 0o600)] as [(Int, Int)])
    func `Where a file cannot be given to the old one's group, another group gets no rights of it`(
        old: Int,
        new: Int
    ) async throws {
        _ = try directory.file("file", Array("old".utf8))
        try #require(unsafe chmod(path("file"), mode_t(old)) == 0)
        await #expect(processExitsWith: .success) {
            [path = path("file") as String, old = old as Int, new = new as Int] in
            for (function, mode) in [("setOwner", new), ("nothing", old)] {
                let file = try NewFile(path, replacing: .file)
                try file.create()
                SystemFaults.arm(.init(functions: [function], .failure(Errno(EPERM))))
                try file.commit()
                _ = SystemFaults.disarm()
                var status = stat()
                #expect(unsafe stat(path, &status) == 0 && Int(status.st_mode & 0o777) == mode, "\(function)")
                #expect(unsafe chmod(path, mode_t(old)) == 0)
            }
        }
    }

    // MARK: Systems that know less

    @Test(arguments: [EINVAL, ENOSYS, ENOTSUP])
    func `Where no rename refuses to replace, a link does`(number: Int32) async throws {
        await #expect(processExitsWith: .success) {
            [number = number as Int32, path = directory.path as String] in
            SystemFaults.arm(.init(functions: ["renameNew"], .failure(Errno(number))))
            let file = try NewFile("\(path)/new", replacing: .nothing)
            try file.create()
            try append("new", to: file)
            try file.commit()
            let late = try NewFile("\(path)/taken", replacing: .nothing)
            try late.create()
            let taken = try SystemCalls.createFile("\(path)/taken", in: SystemCalls.workingDirectory)
            SystemCalls.close(taken)
            #expect(failure { try late.commit() }?.code == .fileExists)
            #expect(SystemFaults.disarm().hit != nil)
        }
        #expect(try names() == ["new", "taken"])
        #expect(try TemporaryDirectory.contents(ofFile: path("new")) == Array("new".utf8))
        #expect(try TemporaryDirectory.contents(ofFile: path("taken")).isEmpty)
    }

    @Test func `A first name that stays is no failure of the second`() async throws {
        try Files.makeDirectory(path("from"))
        try Files.makeDirectory(path("to"))
        let file = try directory.file("from/file", Array("content".utf8))
        // Whose own file it is may link it, wherever it is, but not remove its name from a directory of somebody else's.
        let modes: [(String, UInt32)] = [
            (directory.path, 0o755), (file, 0o666), (path("to"), 0o777), (path("from"), 0o555),
        ]
        for (path, mode) in modes {
            try Files.setMode(path, mode)
        }
        await #expect(processExitsWith: .success) {
            [from = file as String, to = path("to/file") as String] in
            if geteuid() == 0 { #expect(setgid(65534) == 0 && setuid(65534) == 0) }
            SystemFaults.arm(.init(functions: ["renameNew"], .failure(.init(EINVAL))))
            try SystemCalls.rename(from, to: to, replacing: false)
            _ = SystemFaults.disarm()
        }
        #expect(try TemporaryDirectory.contents(ofFile: path("to/file")) == Array("content".utf8))
        #expect(try names("from") == ["file"])
        try Files.setMode(path("from"), 0o755)
    }

    // MARK: Helpers

    private func write(_ text: String, to name: String, _ replacing: NewFile.Replacing) throws {
        let file = try NewFile(path(name), replacing: replacing)
        try file.create()
        try append(text, to: file)
        try file.commit()
    }

    private func names(_ name: String = ".") throws -> [String] { try Files.names(in: path(name)) }
}

private func append(_ text: String, to file: NewFile) throws {
    let outcome = unsafe Array(text.utf8).withUnsafeBytes { bytes in
        Result { () throws(MultipartError) in unsafe try file.append(bytes) }
    }
    try outcome.get()
}

internal import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A download's file on its way to its place.
///
/// It is written under a name of its own beside the target, and takes the target's place once it is whole and checked: until
/// then what was there is untouched. Where the download may be gone on with later, the name is the target's with
/// `.sluice-part` behind it, or the SHA-256 of the target's where that would be too long; what it is a part of stands in a
/// ``PartialRecord`` under the same name with `.info` behind it. Else it is a random name. Only its owner can read it before
/// it has the target's name. Used by one thread at a time.
final class PartialFile {
    private let path: String
    private let options: FileDownloadOptions
    private let urlDigest: String?
    private var place: Place?
    private var size: Int64 = 0
    private var hasRecord = false
    private var checksums: ExpectedChecksums?

    /// Whether nobody has looked yet at what an earlier download may have left.
    private var isUnknown = false
    /// Whether it may have got the target's owner and mode.
    private var isGiven = false

    /// Where it is, and where it goes.
    private struct Place {
        let descriptor: Int32
        let target: String
        let path: String
        let permissions: UInt32
        let owner: (user: UInt32, group: UInt32)?

        var recordPath: String { path + ".info" }
    }

    /// Makes an object for a file; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: The target.
    ///   - options: What is asked of it.
    ///   - urlDigest: What is downloaded; nil where it is not to be gone on with later.
    init(_ path: String, _ options: FileDownloadOptions, urlDigest: String?) {
        self.path = path
        self.options = options
        self.urlDigest = urlDigest
    }

    deinit {
        close(keeps: true)
    }

    // MARK: Opening

    /// Opens the file.
    ///
    /// - Parameter isAbandoned: Asked now and then whether that is still wanted.
    /// - Returns: Where to go on, if an earlier download left something behind.
    /// - Throws: Where it cannot be opened, or another download has it.
    func open(isAbandoned: () -> Bool) throws(TransferError) -> ResumePoint? {
        let (target, old) = try target()
        let (descriptor, partialPath) =
            urlDigest == nil ? try openTemporary(beside: target) : try openPartial(partialPath(of: target))
        place = Place(
            descriptor: descriptor,
            target: target,
            path: partialPath,
            permissions: old?.permissions ?? CreationMask.fileMode,
            owner: old.map { ($0.user, $0.group) }
        )
        isUnknown = urlDigest != nil
        try restartChecksums()
        return try resumePoint(isAbandoned)
    }

    /// What is to be replaced, be it there or not: what a symbolic link leads to, so that the link stays.
    private func target() throws(TransferError) -> (path: String, old: FileDetails?) {
        let old: FileDetails
        do throws(Errno) {
            old = try SystemCalls.details(ofPath: path)
        } catch {
            guard error == .notFound else { throw self.error("cannot be looked at", error) }
            if SystemCalls.exists(path) { throw self.error("is a symbolic link to what does not exist") }
            return (path, nil)
        }
        switch old.status.kind {
        case .regular: break
        case .directory: throw error("is a directory; name a file in it")
        default: throw error("is no regular file; take the chunks and write them")
        }
        let resolved = try attempt("cannot be written") { () throws(Errno) in
            // To replace a file takes no right to write to it, but whoever took that right away meant it.
            try SystemCalls.checkWritable(path)
            return try SystemCalls.resolve(path)
        }
        return (resolved, old)
    }

    private func openTemporary(beside target: String) throws(TransferError) -> (Int32, String) {
        // Nobody can guess it, and so nobody can have made it.
        let name = ".sluice-\(UInt64.random(in: 0...UInt64.max)).part"
        let path = PartialName.directory(of: target) + name
        let descriptor = try attempt("no file can be made in its directory") { () throws(Errno) in
            try SystemCalls.createFile(path)
        }
        return (descriptor, path)
    }

    private func partialPath(of target: String) throws(TransferError) -> String {
        guard let partialPath = PartialName.path(of: target) else {
            throw TransferError(.resourcesExhausted, "there is no memory for the name's digest", path: path)
        }
        return partialPath
    }

    /// Opens the partial file, which may be there, and keeps other downloads off it.
    private func openPartial(_ partialPath: String) throws(TransferError) -> (Int32, String) {
        // Again where another download has put the file in its place between opening and locking.
        for _ in 0..<10 {
            let descriptor: Int32
            do throws(Errno) {
                let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
                descriptor = try SystemCalls.openFile(partialPath, flags, permissions: 0o600)
            } catch {
                throw error == .tooManyLinks
                    ? strange(partialPath) : self.error("no file can be made in its directory", error)
            }
            do throws(TransferError) {
                if try claim(descriptor, at: partialPath) { return (descriptor, partialPath) }
            } catch {
                SystemCalls.close(descriptor)
                throw error
            }
            SystemCalls.close(descriptor)
        }
        throw error("other downloads keep taking its place")
    }

    /// Takes a file that may be anybody's.
    ///
    /// - Returns: False where it has lost its name meanwhile.
    /// - Throws: Where it is in another download's hands, or is no partial file.
    private func claim(_ descriptor: Int32, at partialPath: String) throws(TransferError) -> Bool {
        let opened = try details(of: descriptor)
        guard opened.status.kind == .regular, opened.user == geteuid(), opened.linkCount <= 1 else {
            throw strange(partialPath)
        }
        // A file system without locks has none to be in the way.
        guard (try? SystemCalls.lock(descriptor)) != false else {
            throw TransferError(
                .fileInUse,
                "another download is writing this file; wait for it, or choose another name",
                path: path
            )
        }
        // What is no link was not one when it was opened, and what is one by now is another file.
        let named: FileStatus
        do throws(Errno) {
            named = try SystemCalls.status(ofPath: partialPath)
        } catch {
            if error == .notFound { return false }
            throw self.error("its partial file cannot be looked at", error)
        }
        guard named.identity == opened.status.identity else { return false }
        // Older ones may be anybody's to read.
        try? SystemCalls.setPermissions(of: descriptor, to: 0o600)
        return true
    }

    /// Somebody else's file where the partial one is to be: a trap, in a directory that others can write to.
    private func strange(_ partialPath: String) -> TransferError {
        error("\(printable(partialPath)) is in the way: no regular file, or not yours alone; remove it")
    }

    private func details(of descriptor: Int32) throws(TransferError) -> FileDetails {
        try attempt("cannot be looked at") { () throws(Errno) in try SystemCalls.details(of: descriptor) }
    }

    /// What an earlier download left behind; all else is removed.
    private func resumePoint(_ isAbandoned: () -> Bool) throws(TransferError) -> ResumePoint? {
        guard let place, let urlDigest else { return nil }
        let found = try details(of: place.descriptor).status.size
        let record = found > 0 ? try readRecord() : nil
        isUnknown = false
        guard let record, found <= record.total ?? .max else {
            try restart(nil)
            return nil
        }
        hasRecord = true
        // Of something else, which stays until there is something to take its place.
        guard record.urlDigest == urlDigest else {
            size = found
            return nil
        }
        // Of a file that is whole the last byte is asked for again: the answer tells whether it is still the same.
        size = record.total.map { min(found, $0 - 1) } ?? found
        guard size > 0 else {
            try restart(nil)
            return nil
        }
        // What is left stays as it is where the server does not send the file.
        if options.startsOver { return nil }
        try hashPrefix(isAbandoned)
        return ResumePoint(offset: size, validator: record.validator, total: record.total)
    }

    /// What stands beside the file; nil where it is no record, or not ours.
    private func readRecord() throws(TransferError) -> PartialRecord? {
        guard let place else { return nil }
        let descriptor: Int32
        do throws(Errno) {
            descriptor = try SystemCalls.openFile(place.recordPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        } catch {
            if error == .notFound || error == .tooManyLinks { return nil }
            throw self.error("what an earlier download left cannot be read", error)
        }
        defer { SystemCalls.close(descriptor) }
        let found = try details(of: descriptor)
        guard found.status.kind == .regular, found.user == geteuid() else { return nil }
        var failure: Errno?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: PartialRecord.longest) { buffer, count in
            do throws(Errno) {
                while count < buffer.count {
                    let room = unsafe UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]
                    )
                    let read = try unsafe SystemCalls.read(descriptor, at: Int64(count), into: room)
                    if read == 0 { break }
                    count += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw error("what an earlier download left cannot be read", failure) }
        return PartialRecord(String(decoding: bytes, as: UTF8.self))
    }

    /// Counts what is there already into the checksums.
    private func hashPrefix(_ isAbandoned: () -> Bool) throws(TransferError) {
        guard let place, checksums?.isEmpty == false else { return }
        let block = FileWriter.Block()
        var offset: Int64 = 0
        while offset < size, !isAbandoned() {
            let count = try attempt("what an earlier download left cannot be read") { () throws(Errno) in
                try block.read(place.descriptor, at: offset, upTo: Int(clamping: size - offset))
            }
            guard count > 0 else { throw error("is shorter than it was", .inputOutput) }
            unsafe checksums?.add(block.bytes)
            offset += Int64(count)
            block.count = 0
        }
    }

    // MARK: Writing

    /// Empties the file.
    ///
    /// - Parameter record: What the bytes that follow are a part of; nil where that cannot be told.
    /// - Throws: Where the system refuses.
    func restart(_ record: PartialRecord?) throws(TransferError) {
        guard let place else { return }
        // In this order: there is never a record beside bytes of something else.
        if urlDigest != nil {
            do throws(Errno) {
                try SystemCalls.delete(place.recordPath)
            } catch {
                if error != .notFound { throw self.error("what an earlier download left cannot be removed", error) }
            }
        }
        hasRecord = false
        try attempt("cannot be emptied") { () throws(Errno) in try SystemCalls.setSize(of: place.descriptor, to: 0) }
        size = 0
        try restartChecksums()
        if let record { try write(record, to: place.recordPath) }
    }

    private func write(_ record: PartialRecord, to recordPath: String) throws(TransferError) {
        let descriptor = try attempt("no file can be made in its directory") { () throws(Errno) in
            try SystemCalls.createFile(recordPath)
        }
        defer { SystemCalls.close(descriptor) }
        hasRecord = unsafe Array(record.text.utf8).withUnsafeBytes { bytes in
            var offset: Int64 = 0
            return unsafe (try? Self.write(bytes, to: descriptor, at: &offset)) != nil
        }
        // The download itself can do without, and a record that is cut off is none.
        if !hasRecord { SystemCalls.remove(recordPath) }
    }

    /// Writes a block behind what is there.
    func write(_ block: FileWriter.Block) throws(TransferError) {
        guard let place else { return }
        do throws(Errno) {
            try unsafe Self.write(block.bytes, to: place.descriptor, at: &size)
        } catch {
            throw self.error("cannot be written", error)
        }
        unsafe checksums?.add(block.bytes)
    }

    /// Writes all of the bytes, and moves the offset behind those that were written.
    private static func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: inout Int64
    ) throws(Errno) {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            let count = try unsafe SystemCalls.write(descriptor, at: offset, rest)
            guard count > 0 else { throw .inputOutput }
            offset += Int64(count)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private func restartChecksums() throws(TransferError) {
        checksums = ExpectedChecksums(options)
        if checksums == nil {
            throw TransferError(.resourcesExhausted, "there is no memory for the checksum", path: path)
        }
    }

    // MARK: The end

    /// Checks the file and puts it in its place.
    ///
    /// - Parameters:
    ///   - total: The bytes that it should have; nil where nobody knows.
    ///   - isAbandoned: Asked before it cannot be undone any more.
    /// - Returns: Where it is and its bytes; nil where it was abandoned.
    /// - Throws: Where it is not what it should be, or the system refuses.
    func commit(total: Int64?, isAbandoned: () -> Bool) throws(TransferError) -> (path: String, byteCount: Int64)? {
        guard let place else { return nil }
        try check(total)
        // While the old file is still there.
        let directory = options.synchronizes ? try openDirectory(of: place.target) : nil
        defer { if let directory { SystemCalls.close(directory) } }
        isGiven = true
        try attempt("cannot be given its mode") { () throws(Errno) in
            try SystemCalls.setAccess(of: place.descriptor, permissions: place.permissions, owner: place.owner)
        }
        if options.synchronizes {
            try attempt("cannot be brought to the disk") { () throws(Errno) in
                try SystemCalls.synchronize(place.descriptor)
            }
        }
        try attempt("cannot be written") { () throws(Errno) in try SystemCalls.checkWritten(place.descriptor) }
        if isAbandoned() { return nil }
        try attempt("cannot be put in its place") { () throws(Errno) in
            try SystemCalls.rename(place.path, to: place.target, replacing: true)
        }
        if urlDigest != nil { SystemCalls.remove(place.recordPath) }
        self.place = nil
        SystemCalls.close(place.descriptor)
        if let directory { try synchronizeDirectory(directory) }
        return (place.target, size)
    }

    private func check(_ total: Int64?) throws(TransferError) {
        if let place {
            let found = try details(of: place.descriptor).status.size
            if found != size {
                throw mismatch("\(size) bytes were written, and it has \(found): another program has changed it")
            }
        }
        if let total = options.length ?? total, size != total {
            throw mismatch("\(size) bytes came, and it should have \(total)")
        }
        if let words = checksums?.mismatch() { throw mismatch(words) }
    }

    /// What came is wrong, so that nobody must go on with it.
    private func mismatch(_ words: String) -> TransferError {
        try? restart(nil)
        return TransferError(.contentMismatch, "\(words); it was thrown away", path: path)
    }

    private func openDirectory(of target: String) throws(TransferError) -> Int32 {
        let directory = PartialName.directory(of: target)
        return try attempt("its directory cannot be opened to be brought to the disk") { () throws(Errno) in
            try SystemCalls.openFile(directory.isEmpty ? "." : directory, O_RDONLY | O_DIRECTORY)
        }
    }

    private func synchronizeDirectory(_ directory: Int32) throws(TransferError) {
        do throws(Errno) {
            try SystemCalls.synchronize(directory)
        } catch {
            // Of a file system that does not do so.
            if error == .invalid { return }
            throw self.error(
                "is whole and in its place, but its directory could not be brought to the disk, so that a loss of power "
                    + "may bring back the old file",
                error
            )
        }
    }

    /// Closes the file where it has not been put in its place.
    ///
    /// - Parameter keeps: Whether to leave it for a later download, if that could go on with it.
    func close(keeps: Bool) {
        guard let place else { return }
        self.place = nil
        if !(keeps && (isUnknown || hasRecord && size > 0) && takeBack(place)) {
            if urlDigest != nil { SystemCalls.remove(place.recordPath) }
            SystemCalls.remove(place.path)
        }
        SystemCalls.close(place.descriptor)
    }

    /// Makes the file this user's alone again, where it was given to whom the target belongs.
    ///
    /// - Returns: Whether that is so.
    private func takeBack(_ place: Place) -> Bool {
        guard isGiven else { return true }
        do throws(Errno) {
            try SystemCalls.setPermissions(of: place.descriptor, to: 0o600)
            if place.owner != nil {
                try SystemCalls.setOwner(of: place.descriptor, user: geteuid(), group: getegid())
            }
            return true
        } catch {
            return false
        }
    }

    // MARK: Errors

    /// Does what asks the system, and says where that fails what it was for.
    private func attempt<Value>(
        _ words: String,
        _ call: () throws(Errno) -> Value
    ) throws(TransferError) -> Value {
        do throws(Errno) {
            return try call()
        } catch {
            throw self.error(words, error)
        }
    }

    private func error(_ words: String, _ error: Errno? = nil) -> TransferError {
        TransferError(.fileFailed, words + (error.map { ": \($0)" } ?? ""), path: path, errno: error?.rawValue)
    }
}

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
/// `.sluice-part` behind it, and what it is a part of stands in a ``PartialRecord`` under the same name with `.info` behind
/// it; else it is a random one. Only its owner can read it before it has the target's name. Used by one thread at a time.
final class PartialFile {
    private let path: String
    private let options: FileDownloadOptions
    private let urlDigest: String?
    private var place: Place?
    private var size: Int64 = 0
    private var hasRecord = false
    private var hash: SHA256?
    private var crc: CRC32?

    /// Where it is, and where it goes.
    private struct Place {
        let descriptor: Int32
        let target: String
        let path: String
        let mode: mode_t
        let owner: (user: uid_t, group: gid_t)?

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
        var status = stat()
        let exists = unsafe stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            throw error(
                isDirectory ? "is a directory; name a file in it" : "is no regular file; take the chunks and write them"
            )
        }
        let target = try target(exists: exists)
        let (descriptor, partialPath) =
            urlDigest == nil ? try openTemporary(beside: target) : try openPartial(target + ".sluice-part")
        place = Place(
            descriptor: descriptor,
            target: target,
            path: partialPath,
            mode: exists ? status.st_mode & 0o777 : 0o666 & ~FileMask.current,
            owner: exists ? (status.st_uid, status.st_gid) : nil
        )
        try restartChecksums()
        return try resumePoint(isAbandoned)
    }

    /// What is to be replaced: what a symbolic link leads to, so that the link stays.
    private func target(exists: Bool) throws(TransferError) -> String {
        guard exists else {
            var status = stat()
            guard unsafe lstat(path, &status) != 0 else { throw error("is a symbolic link to what does not exist") }
            return path
        }
        // To replace a file takes no right to write to it, but whoever took that right away meant it.
        guard unsafe access(path, W_OK) == 0, let resolved = unsafe realpath(path, nil) else {
            throw error("cannot be written", errno)
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    private func openTemporary(beside target: String) throws(TransferError) -> (Int32, String) {
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        var template = Array("\(slash.map { target[...$0] } ?? "").sluice-XXXXXX".utf8CString)
        let descriptor = unsafe mkstemp(&template)
        guard descriptor >= 0 else { throw error("no file can be made in its directory", errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return (descriptor, String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// Opens the partial file, which may be there, and keeps other downloads off it.
    private func openPartial(_ partialPath: String) throws(TransferError) -> (Int32, String) {
        // Again where another download has put the file in its place between opening and locking.
        for _ in 0..<10 {
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
            let descriptor = openFile(partialPath, flags, 0o600)
            guard descriptor >= 0 else {
                if errno == ELOOP { throw strange(partialPath) }
                throw error("no file can be made in its directory", errno)
            }
            var opened = stat()
            var named = stat()
            guard unsafe fstat(descriptor, &opened) == 0, opened.st_mode & S_IFMT == S_IFREG,
                opened.st_uid == geteuid(), opened.st_nlink <= 1
            else {
                closeFile(descriptor)
                throw strange(partialPath)
            }
            // A file system without locks has none to be in the way.
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                closeFile(descriptor)
                throw TransferError(
                    .fileInUse,
                    "another download is writing this file; wait for it, or choose another name",
                    path: path
                )
            }
            if unsafe lstat(partialPath, &named) == 0, named.st_ino == opened.st_ino, named.st_dev == opened.st_dev {
                _ = fchmod(descriptor, 0o600)
                return (descriptor, partialPath)
            }
            closeFile(descriptor)
        }
        throw error("other downloads keep taking its place")
    }

    /// Somebody else's file where the partial one is to be: a trap, in a directory that others can write to.
    private func strange(_ partialPath: String) -> TransferError {
        error("\(printable(partialPath)) is in the way: no regular file, or not yours alone; remove it")
    }

    /// What an earlier download left behind; all else is removed.
    private func resumePoint(_ isAbandoned: () -> Bool) throws(TransferError) -> ResumePoint? {
        guard let place, let urlDigest else { return nil }
        var status = stat()
        guard unsafe fstat(place.descriptor, &status) == 0 else { throw error("cannot be looked at", errno) }
        let found = Int64(status.st_size)
        guard found > 0, let record = readRecord(), record.urlDigest == urlDigest, found <= record.total ?? .max else {
            try restart(nil)
            return nil
        }
        hasRecord = true
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

    private func readRecord() -> PartialRecord? {
        guard let place else { return nil }
        let descriptor = openFile(place.recordPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { closeFile(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid()
        else { return nil }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: PartialRecord.longest) { buffer, count in
            unsafe count = max(pread(descriptor, buffer.baseAddress, buffer.count, 0), 0)
        }
        return PartialRecord(String(decoding: bytes, as: UTF8.self))
    }

    /// Counts what is there already into the checksums.
    private func hashPrefix(_ isAbandoned: () -> Bool) throws(TransferError) {
        guard let place, hash != nil || crc != nil else { return }
        let block = FileWriter.Block()
        var offset: Int64 = 0
        while offset < size, !isAbandoned() {
            let count = block.read(place.descriptor, at: offset, upTo: Int(min(size - offset, Int64(block.room))))
            guard count > 0 else { throw error("what an earlier download left cannot be read", errno) }
            add(block)
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
        if urlDigest != nil, unsafe unlink(place.recordPath) != 0, errno != ENOENT {
            throw error("what an earlier download left cannot be removed", errno)
        }
        hasRecord = false
        guard ftruncate(place.descriptor, 0) == 0 else { throw error("cannot be emptied", errno) }
        size = 0
        try restartChecksums()
        guard let record else { return }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = openFile(place.recordPath, flags, 0o600)
        guard descriptor >= 0 else { throw error("no file can be made in its directory", errno) }
        defer { closeFile(descriptor) }
        let text = Array(record.text.utf8)
        // A record that is cut off is none; the download itself can do without.
        hasRecord = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) } == text.count
        if !hasRecord { unsafe unlink(place.recordPath) }
    }

    /// Writes a block behind what is there.
    func write(_ block: FileWriter.Block) throws(TransferError) {
        guard let place else { return }
        var written = 0
        while written < block.count {
            let count = block.write(from: written, to: place.descriptor, at: size)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw error("cannot be written", count < 0 ? errno : EIO) }
            written += count
            size += Int64(count)
        }
        add(block)
    }

    // MARK: Checksums

    private func restartChecksums() throws(TransferError) {
        crc = options.crc32.map { _ in CRC32() }
        guard options.sha256 != nil else { return }
        hash = SHA256()
        if hash == nil { throw TransferError(.resourcesExhausted, "there is no memory for the checksum", path: path) }
    }

    private func add(_ block: FileWriter.Block) {
        unsafe hash?.add(block.bytes)
        unsafe crc?.add(block.bytes)
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
        // Only root can give files away; for others it stays theirs.
        if let owner = place.owner { _ = fchown(place.descriptor, owner.user, owner.group) }
        guard fchmod(place.descriptor, place.mode) == 0 else { throw error("cannot be given its mode", errno) }
        if options.synchronizes, fsync(place.descriptor) != 0 { throw error("cannot be brought to the disk", errno) }
        // Some file systems say only at a close that there was no room. The lock stays with the other descriptor.
        let copy = dup(place.descriptor)
        if copy >= 0, closeFile(copy) != 0, errno != EINTR { throw error("cannot be written", errno) }
        if isAbandoned() { return nil }
        guard unsafe rename(place.path, place.target) == 0 else { throw error("cannot be put in its place", errno) }
        if urlDigest != nil { unsafe unlink(place.recordPath) }
        self.place = nil
        closeFile(place.descriptor)
        if options.synchronizes { try synchronizeDirectory(of: place.target) }
        return (place.target, size)
    }

    private func check(_ total: Int64?) throws(TransferError) {
        if let total = options.length ?? total, size != total {
            throw mismatch("\(size) bytes came, and it should have \(total)")
        }
        if let wanted = options.sha256.flatMap({ SHA256.Digest(hexadecimal: $0) }) {
            let digest = hash?.finish()
            hash = nil
            guard digest == wanted else {
                throw mismatch(
                    "its SHA-256 is \(digest?.hexadecimal ?? "unknown"), and should be \(wanted.hexadecimal)"
                )
            }
        }
        if let wanted = options.crc32, let value = crc?.value, value != wanted {
            throw mismatch("its CRC-32 is \(String(value, radix: 16)), and should be \(String(wanted, radix: 16))")
        }
    }

    /// What came is wrong, so that nobody must go on with it.
    private func mismatch(_ words: String) -> TransferError {
        try? restart(nil)
        return TransferError(.contentMismatch, "\(words); it was thrown away", path: path)
    }

    private func synchronizeDirectory(of target: String) throws(TransferError) {
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { String(target[...$0]) } ?? "."
        let descriptor = openFile(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0)
        guard descriptor >= 0 else { throw error("its directory cannot be brought to the disk", errno) }
        defer { closeFile(descriptor) }
        // EINVAL: a file system that does not do so.
        if fsync(descriptor) != 0, errno != EINVAL { throw error("its directory cannot be brought to the disk", errno) }
    }

    /// Closes the file where it has not been put in its place.
    ///
    /// - Parameter keeps: Whether to leave it for a later download, if that could go on with it.
    func close(keeps: Bool) {
        guard let place else { return }
        self.place = nil
        if !(keeps && hasRecord && size > 0) {
            if urlDigest != nil { unsafe unlink(place.recordPath) }
            unsafe unlink(place.path)
        }
        closeFile(place.descriptor)
    }

    private func error(_ words: String, _ number: Int32? = nil) -> TransferError {
        let text = number.map { ": \(Errno($0))" } ?? ""
        return TransferError(.fileFailed, words + text, path: path, errno: number)
    }
}

extension FileWriter.Block {
    /// The bytes that still fit.
    var room: Int { Self.capacity - count }
}

/// The system's calls under names that the methods here do not hide.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    unsafe open(path, flags, mode)
}

@discardableResult
private func closeFile(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}

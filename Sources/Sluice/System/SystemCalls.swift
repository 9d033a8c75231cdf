internal import CSluiceShims

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Every system call the engine makes, retried on EINTR and with its error thrown.
///
/// All of the engine's traffic with the kernel goes through here, so that there is one place to read when one
/// asks what it does, and one seam for tests that make calls fail.
package enum SystemCalls {
    /// Repeats a call while a signal interrupts it, and throws its error number if it fails.
    @inline(__always)
    @discardableResult
    package static func retrying<Result: SignedInteger>(
        _ function: StaticString = #function,
        _ call: () -> Result
    ) throws(Errno) -> Result {
        try retrying(function, count: 0) { _ in call() }
    }

    /// The same for a call that moves bytes, which is told how many it may.
    @inline(__always)
    package static func retrying<Result: SignedInteger>(
        _ function: StaticString = #function,
        count: Int,
        _ call: (Int) -> Result
    ) throws(Errno) -> Result {
        let most = min(count, longestTransfer)
        while true {
            var count = most
            #if DEBUG
            switch SystemFaults.next(function) {
            case nil: break
            case .short(let few): count = min(count, few)
            case .failure(.interrupted): continue
            case .failure(let error): throw error
            }
            #endif
            let result = call(count)
            if result >= 0 { return result }
            let error = Errno.current
            if error != .interrupted { throw error }
        }
    }

    /// The most bytes one read or write call is asked to move: Linux cuts at 0x7ffff000, Darwin refuses above
    /// `INT_MAX`.
    static let longestTransfer = 0x4000_0000

    // MARK: Descriptors

    static func openForReading(_ path: String) throws(Errno) -> Int32 {
        // O_NONBLOCK: opening a FIFO must not wait for its writer where no cancellation can reach it. For
        // regular files it has no effect. O_NOCTTY: a terminal given as a part must not become ours.
        try retrying { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    }

    /// - Returns: What close(2) does, of which only those need to know who wrote.
    @discardableResult
    package static func close(_ descriptor: Int32) -> Int32 {
        // Not retried: after EINTR the descriptor is gone on Linux, and may be another thread's by then.
        #if canImport(Glibc)
        Glibc.close(descriptor)
        #elseif canImport(Musl)
        Musl.close(descriptor)
        #elseif canImport(Darwin)
        Darwin.close(descriptor)
        #endif
    }

    package static func status(of descriptor: Int32) throws(Errno) -> FileStatus {
        var result = sluice_status()
        _ = try retrying { unsafe sluice_status(descriptor, nil, &result) }
        return FileStatus(result)
    }

    /// The same by a shorter call where the file is as `known` says, down to its time of modification: then its time of
    /// birth need not be asked for, which would cost half as much again.
    static func status(of descriptor: Int32, like known: FileStatus) throws(Errno) -> FileStatus {
        var result = sluice_status()
        if unsafe sluice_short_status(descriptor, &result) == 0 {
            result.born = known.identity.born
            let short = FileStatus(result)
            if short.identity == known.identity, short.size == known.size, short.modified == known.modified {
                return short
            }
        }
        return try status(of: descriptor)
    }

    package static func status(ofPath path: String) throws(Errno) -> FileStatus {
        var result = sluice_status()
        _ = try retrying { unsafe sluice_status(-1, path, &result) }
        return FileStatus(result)
    }

    /// Throws where the process, as who it acts, may not read the path.
    static func checkReadable(_ path: String) throws(Errno) {
        _ = try retrying { unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) }
    }

    /// Whether the file's content is made up as it is read (procfs and its kin), so that its size means nothing.
    static func isSynthetic(_ descriptor: Int32) throws(Errno) -> Bool {
        #if os(Linux)
        try retrying { sluice_is_synthetic_file(descriptor) } == 1
        #else
        false
        #endif
    }

    /// The descriptor's offset, which must be that of a seekable file.
    static func offset(of descriptor: Int32) throws(Errno) -> Int64 {
        Int64(try retrying { lseek(descriptor, 0, SEEK_CUR) })
    }

    /// Whether the descriptor is a TCP socket that is connected to this very machine.
    static func isLoopback(_ descriptor: Int32) -> Bool {
        sluice_is_loopback(descriptor) == 1
    }

    /// Tells the kernel that a file will be read from front to back, which doubles its read-ahead.
    static func adviseSequential(_ descriptor: Int32) {
        #if os(Linux)
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        #endif
    }

    // MARK: Reading and writing

    package static func read(
        _ descriptor: Int32,
        at offset: Int64,
        into buffer: UnsafeMutableRawBufferPointer
    )
        throws(Errno) -> Int
    {
        try retrying(count: buffer.count) { unsafe pread(descriptor, buffer.baseAddress, $0, off_t(offset)) }
    }

    package static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try retrying(count: buffer.count) {
            #if canImport(Glibc)
            unsafe Glibc.read(descriptor, buffer.baseAddress, $0)
            #elseif canImport(Musl)
            unsafe Musl.read(descriptor, buffer.baseAddress, $0)
            #elseif canImport(Darwin)
            unsafe Darwin.read(descriptor, buffer.baseAddress, $0)
            #endif
        }
    }

    static func write(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) throws(Errno) -> Int {
        try retrying(count: buffer.count) {
            #if canImport(Glibc)
            unsafe Glibc.write(descriptor, buffer.baseAddress, $0)
            #elseif canImport(Musl)
            unsafe Musl.write(descriptor, buffer.baseAddress, $0)
            #elseif canImport(Darwin)
            unsafe Darwin.write(descriptor, buffer.baseAddress, $0)
            #endif
        }
    }

    /// Writes the pieces one behind the other; at most POSIX's IOV_MAX of them, which is 1024 on Linux and Darwin.
    static func write(_ descriptor: Int32, gathering pieces: [UnsafeRawBufferPointer]) throws(Errno) -> Int {
        let count = unsafe pieces.reduce(0) { $0 + $1.count }
        return try retrying(count: count) { most in
            var left = most
            let vectors = unsafe pieces.map { piece in
                let length = min(piece.count, left)
                left -= length
                return unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: piece.baseAddress), iov_len: length)
            }
            return unsafe writev(descriptor, vectors, Int32(vectors.count))
        }
    }

    /// A file of at most 4 KiB as text, or as much of a longer one; nil where it cannot be read.
    static func text(ofSmallFile path: String) -> String? {
        guard let descriptor = try? SharedDescriptor(openForReading(path), .owned) else { return nil }
        var text = [UInt8](repeating: 0, count: 4096)
        let count = unsafe text.withUnsafeMutableBytes { unsafe try? read(descriptor.rawValue, into: $0) }
        return count.map { String(decoding: text.prefix($0), as: UTF8.self) }
    }

    /// Writes all of the bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, lent for the call.
    ///   - descriptor: A descriptor open for writing.
    ///   - waits: Whether to wait for room in a pipe or socket that has none and does not block.
    /// - Throws: The system's error.
    package static func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        waitingForRoom waits: Bool = false
    ) throws(Errno) {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            do throws(Errno) {
                let count = unsafe try write(descriptor, rest)
                // What takes nothing and has no error would be asked for ever.
                guard count > 0 else { throw .inputOutput }
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } catch {
                guard waits, error == .wouldBlock else { throw error }
                _ = try waitUntilWritable(descriptor, wake: nil)
            }
        }
    }

    // MARK: Copying inside the kernel (Linux)

    #if os(Linux)
    static func copyFileRange(
        from source: Int32,
        at offset: inout Int64,
        to target: Int32,
        count: Int
    )
        throws(Errno) -> Int
    {
        var position = offset
        let copied = try retrying(count: count) { unsafe sluice_copy_file_range(source, &position, target, $0) }
        offset = position
        return copied
    }

    static func sendFile(
        from source: Int32,
        at offset: inout Int64,
        to target: Int32,
        count: Int
    )
        throws(Errno) -> Int
    {
        var position = offset
        let copied = try retrying(count: count) { unsafe sluice_sendfile(target, source, &position, $0) }
        offset = position
        return copied
    }

    /// `expectsMore` lets a socket hold back a last packet that is not full, for up to 200 ms.
    static func splice(
        from source: Int32,
        at offset: inout Int64,
        to target: Int32,
        count: Int,
        expectsMore: Bool
    ) throws(Errno) -> Int {
        var position = offset
        let moved = try retrying(count: count) {
            unsafe sluice_splice(source, &position, target, $0, expectsMore ? 1 : 0)
        }
        offset = position
        return moved
    }

    /// - Returns: The capacity that the pipe has now, at least the one asked for.
    static func setCapacity(ofPipe descriptor: Int32, to capacity: Int) throws(Errno) -> Int {
        Int(try retrying { sluice_set_pipe_capacity(descriptor, Int32(capacity)) })
    }

    static func splice(
        fromPipe source: Int32,
        to target: Int32,
        count: Int,
        expectsMore: Bool
    ) throws(Errno) -> Int {
        try retrying(count: count) { sluice_splice(source, nil, target, $0, expectsMore ? 1 : 0) }
    }
    #endif

    // MARK: Waiting

    /// A pipe that other programs do not inherit.
    static func makePipe() throws(Errno) -> (readEnd: SharedDescriptor, writeEnd: SharedDescriptor) {
        var ends: (Int32, Int32) = (-1, -1)
        _ = try retrying {
            unsafe withUnsafeMutablePointer(to: &ends) { pointer in
                unsafe pointer.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe sluice_pipe($0) }
            }
        }
        return (SharedDescriptor(ends.0, .owned), SharedDescriptor(ends.1, .owned))
    }

    /// Two ends, or one descriptor twice, of which the first can be polled for what is written to the second.
    static func makeWakeDescriptors() throws(Errno) -> (readEnd: SharedDescriptor, writeEnd: SharedDescriptor) {
        #if os(Linux)
        let shared = SharedDescriptor(try retrying { sluice_eventfd() }, .owned)
        return (shared, shared)
        #else
        return try makePipe()
        #endif
    }

    /// Waits until the descriptor can be read, or until `wake` can.
    ///
    /// - Returns: False where `wake` ended the wait.
    static func waitUntilReadable(_ descriptor: Int32, wake: WakeDescriptor?) throws(Errno) -> Bool {
        try wait(for: Int16(POLLIN), on: descriptor, wake)
    }

    /// Waits until the descriptor can be written (or its reader is gone, which the write then reports), or until
    /// `wake` can be read.
    ///
    /// - Returns: False where `wake` ended the wait.
    static func waitUntilWritable(_ descriptor: Int32, wake: WakeDescriptor?) throws(Errno) -> Bool {
        try wait(for: Int16(POLLOUT), on: descriptor, wake)
    }

    private static func wait(
        for events: Int16,
        on descriptor: Int32,
        _ wake: WakeDescriptor?
    ) throws(Errno) -> Bool {
        // A descriptor of -1 is passed over.
        var first = pollfd(fd: descriptor, events: events, revents: 0)
        var second = pollfd(fd: wake?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        return unsafe try withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { (set) throws(Errno) -> Bool in
            unsafe set.initializeElement(at: 0, to: first)
            unsafe set.initializeElement(at: 1, to: second)
            _ = try retrying { unsafe poll(set.baseAddress, 2, -1) }
            (first, second) = unsafe (set[0], set[1])
            return second.revents == 0
        }
    }

    /// Seconds of a clock that never goes back.
    static func monotonicSeconds() -> Double {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
    }

    /// Whether `needle` occurs in the bytes.
    static func contains(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, bytes.count >= needle.count else { return needle.isEmpty }
        return unsafe sluice_memmem(start, bytes.count, needle, needle.count) != 0
    }
}

/// What `fstat` says of a file, as far as reading asks, which keeps one for each file part: see ``FileDetails``.
package struct FileStatus: Sendable {
    package enum Kind: Sendable {
        case regular
        case directory
        /// A pipe, socket or character device: bytes come as they come.
        case stream
        case socket
        case blockDevice
    }

    package let kind: Kind
    package let size: Int64
    package let identity: FileIdentity
    let modified: Int64
    /// False for a regular file with content but no blocks: sparse, inlined, or made up (procfs).
    let hasBlocks: Bool

    init(_ status: sluice_status) {
        switch mode_t(status.mode) & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFBLK: kind = .blockDevice
        case S_IFSOCK: kind = .socket
        default: kind = .stream
        }
        size = status.size
        identity = FileIdentity(device: status.device, inode: status.inode, born: status.born)
        modified = status.modified
        hasBlocks = status.blocks > 0
    }
}

/// Which file it is, whatever its name: the device, the inode, and the time of birth.
///
/// File systems give the inode of a file that was deleted to the next one that is made, so that the first two say
/// little of a file that was written anew.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let born: Int64
}

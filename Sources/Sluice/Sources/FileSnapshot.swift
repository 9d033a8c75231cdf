/// A regular file as it was when the body was made: which bytes of which file, and how it is told from another.
struct FileSnapshot: ByteSource {
    let origin: FileOrigin
    let path: String?
    /// The bytes of the file to send.
    let bounds: Range<Int64>
    let status: FileStatus
    let changePolicy: FileSource.ChangePolicy

    var knownLength: Int64? { bounds.upperBound - bounds.lowerBound }
    var replay: Replay { .seekable }
    var mayBlock: Bool { false }

    func open(at offset: Int64) throws(MultipartError) -> any ByteCursor {
        FileCursor(self, try openDescriptor(), offset: bounds.lowerBound + offset)
    }

    /// Opens the file and makes sure that it still is the one that was seen.
    func openDescriptor() throws(MultipartError) -> SharedDescriptor {
        let descriptor: SharedDescriptor
        do {
            descriptor = try origin.open()
        } catch {
            let reason =
                error == .notFound
                ? "was deleted or moved after the body was made; keep it in place until the body is sent"
                : "cannot be opened any more; check its permissions and the limit of open files"
            throw MultipartError(error == .notFound ? .fileChanged : .openFailed, reason, path: path, error)
        }
        try verify(descriptor)
        return descriptor
    }

    /// Compares the open file with the snapshot, as the policy asks.
    func verify(_ descriptor: SharedDescriptor) throws(MultipartError) {
        let now: FileStatus
        do {
            // The short call says all that is to be known of a file that is as it was.
            now = try SystemCalls.status(of: descriptor.rawValue, like: status)
        } catch {
            throw MultipartError(.readFailed, "cannot be examined", path: path, error)
        }
        if now.identity != status.identity {
            throw MultipartError(
                .fileChanged,
                "was replaced by another file after the body was made; make the body again",
                path: path
            )
        }
        if now.size < bounds.upperBound { throw shrank(at: now.size) }
        if changePolicy == .strict, now.size != status.size || now.modified != status.modified {
            throw MultipartError(
                .fileChanged,
                "was modified after the body was made, which the strict policy forbids; make the body again",
                path: path
            )
        }
    }

    func shrank(at size: Int64) -> MultipartError {
        MultipartError(
            .fileShrank,
            "ends at byte \(size), but went up to \(bounds.upperBound) when the body was made; "
                + "do not truncate a file while it is sent",
            path: path
        )
    }
}

/// Reads a snapshot's bytes with `pread`, straight into the caller's buffer.
private final class FileCursor: ByteCursor {
    private let snapshot: FileSnapshot
    private let descriptor: SharedDescriptor
    private var offset: Int64

    init(_ snapshot: FileSnapshot, _ descriptor: SharedDescriptor, offset: Int64) {
        self.snapshot = snapshot
        self.descriptor = descriptor
        self.offset = offset
        // Worth a system call only where there is something to read ahead of.
        if snapshot.bounds.upperBound - offset > 1 << 20 { SystemCalls.adviseSequential(descriptor.rawValue) }
    }

    func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
        let remaining = snapshot.bounds.upperBound - offset
        guard remaining > 0, buffer.freeCapacity > 0 else { return }
        do {
            let count = try unsafe buffer.withUnsafeMutableBytes { (bytes, initialized) throws(Errno) -> Int in
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[initialized...])
                let wanted = unsafe Self.alignedLength(from: offset, into: room, remaining: remaining)
                let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room.prefix(wanted))
                let count = unsafe try SystemCalls.read(descriptor.rawValue, at: offset, into: target)
                initialized += count
                return count
            }
            offset += Int64(count)
            if count == 0 { throw snapshot.shrank(at: offset) }
        } catch let error as Errno {
            throw MultipartError(.readFailed, "reading failed at byte \(offset)", path: snapshot.path, error)
        } catch let error as MultipartError {
            throw error
        } catch {}
        if offset == snapshot.bounds.upperBound, snapshot.changePolicy == .strict { try snapshot.verify(descriptor) }
    }

    /// How much to ask for, so that later reads into the same buffer begin as far into a page as the buffer does.
    ///
    /// A part's head shifts the first read, and libcurl's buffer begins 16 bytes into a page. A copy to just behind
    /// where it comes from, by the offsets within a page, takes the kernel a sixth longer.
    static func alignedLength(from offset: Int64, into room: UnsafeMutableRawBufferPointer, remaining: Int64) -> Int {
        guard Int64(room.count) < remaining else { return Int(remaining) }
        // Nothing is gained by cutting a small read short.
        guard room.count >= 16 * 4096 else { return room.count }
        let page: Int64 = 4096
        let start = Int64(UInt(bitPattern: room.baseAddress) % UInt(page))
        let end = (offset + Int64(room.count) - start) / page * page + start
        return end > offset ? Int(end - offset) : room.count
    }
}

#if os(Linux)
extension DescriptorWriter {
    /// A way that the kernel does not have between a file system and this target.
    struct Refusal: Hashable {
        let method: WriteReport.Method
        let device: UInt64
    }

    /// The most that one call is asked to move inside the kernel, so that progress and interrupts get their turn.
    private static let longestCopy = 4 << 20

    /// The least of a file for which there is a pipe between: below, its own calls cost more than they save.
    private static let leastForPipe = 1 << 20

    /// The kernel's ways from a file's offset to the target, the best first.
    ///
    /// Blocks can be shared only where they lie alike in both files. Elsewhere `copy_file_range` copies by way of a
    /// pipe of 64 KiB, and a larger one of our own measured 1.6 times as fast. On loopback no device takes the pages:
    /// the receiver would copy them out of a cold page cache, and a buffer that stays in the processor's measured up to
    /// a quarter faster.
    private func methods(from offset: Int64) -> [WriteReport.Method] {
        switch targetKind {
        case .regular:
            let end = (try? SystemCalls.offset(of: target)) ?? 0
            return (end - offset) % 4096 == 0
                ? [.copyFileRange, .splice, .sendFile] : [.splice, .copyFileRange, .sendFile]
        case .socket:
            return isLoopback ? [] : [.splice, .sendFile]
        case .stream:
            return [.splice, .sendFile]
        default:
            return []
        }
    }

    /// Whether a file's pages go through a pipe of ours: to anything but a pipe.
    private var usesPipe: Bool { targetKind != .stream }

    // MARK: Files

    /// Writes the rest of a file, inside the kernel as far as that goes.
    mutating func writeFile(_ file: FileSnapshot) throws(MultipartError) {
        let descriptor = try file.openDescriptor()
        for method in methods(from: file.bounds.lowerBound + offsetInSegment) {
            let refusal = Refusal(method: method, device: file.status.identity.device)
            if refusals.contains(refusal) { continue }
            if method == .splice, usesPipe, remainingInSegment < Self.leastForPipe { continue }
            if try !copy(descriptor.rawValue, from: file.bounds.lowerBound, method) { refusals.insert(refusal) }
        }
        // What the kernel did not move, for whatever reason: reading and writing tells whose fault it is.
        if remainingInSegment > 0 { return try writeThroughBuffer() }
        if file.changePolicy == .strict { try file.verify(descriptor) }
        leaveFinishedSegment()
    }

    /// Moves bytes of a file that starts at `start` until all are there or the kernel does not go on.
    ///
    /// - Returns: False where the kernel says that it does not do this for such descriptors.
    private mutating func copy(
        _ source: Int32,
        from start: Int64,
        _ method: WriteReport.Method
    ) throws(MultipartError) -> Bool {
        while remainingInSegment > 0 {
            try interrupt?.check()
            var offset = start + offsetInSegment
            let count = Int(min(remainingInSegment, Int64(Self.longestCopy)))
            let isLast = Int64(count) == remainingInSegment
            do throws(Errno) {
                let moved: Int
                if method == .splice, usesPipe {
                    moved = try moveThroughPipe(source, at: offset, count, expectsMore: !isLast)
                } else {
                    moved = try untilRoom { () throws(Errno) in
                        switch method {
                        case .copyFileRange:
                            try SystemCalls.copyFileRange(from: source, at: &offset, to: target, count: count)
                        case .splice:
                            try SystemCalls.splice(
                                from: source,
                                at: &offset,
                                to: target,
                                count: count,
                                expectsMore: !isLast
                            )
                        default:
                            try SystemCalls.sendFile(from: source, at: &offset, to: target, count: count)
                        }
                    }
                    advance(moved, method)
                }
                // The end of a file that shrank, or a file system that does not copy this way and does not say so.
                if moved == 0 { return true }
            } catch {
                if error.isOfTarget { throw targetError(error) }
                return !error.meansUnsupported
            }
        }
        return true
    }

    private mutating func moveThroughPipe(
        _ source: Int32,
        at offset: Int64,
        _ count: Int,
        expectsMore: Bool
    ) throws(Errno) -> Int {
        // Where limits on pipes or descriptors leave none, `sendfile` needs neither.
        guard let pipe = pipe ?? (try? SplicePipe()) else { throw .unsupported }
        self.pipe = pipe
        let outcome = try pipe.move(
            from: source,
            at: offset,
            to: target,
            count: count,
            expectsMore: expectsMore
        ) { () throws(Errno) in try waitUntilWritable() }
        advance(outcome.moved, .splice)
        if let failure = outcome.failure {
            self.pipe = nil
            throw failure
        }
        return outcome.moved
    }

    // MARK: Streams

    /// Writes a pipe by moving its pages, and any other stream through a buffer.
    mutating func writeStream(_ stream: StreamSource) throws(MultipartError) {
        let descriptor = try stream.openDescriptor()
        let cursor = try StreamCursor(descriptor, path: stream.path, interrupt: interrupt)
        do {
            while true {
                try cursor.waitUntilReadable()
                let moved = try untilRoom { () throws(Errno) in
                    // What comes next may be long in coming, so nothing is held back for it.
                    try SystemCalls.splice(
                        fromPipe: descriptor.rawValue,
                        to: target,
                        count: Self.longestCopy,
                        expectsMore: false
                    )
                }
                if moved == 0 { return nextSegment() }
                advance(moved, .splice)
            }
        } catch let error as MultipartError {
            throw error
        } catch let error as Errno {
            if error.isOfTarget { throw targetError(error) }
        } catch {}
        // Not a pipe, or not one that can be spliced here: reading and writing tells whose fault it is.
        unsafe try copyThroughBuffer { (buffer) throws(MultipartError) in
            var span = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
            try cursor.read(into: &span)
            return unsafe span.finalize(for: buffer)
        }
    }
}

extension Errno {
    /// Whether the target's side failed for certain, or the interrupt came.
    fileprivate var isOfTarget: Bool {
        switch self {
        case .brokenPipe, .connectionReset, .noSpace, .quotaExceeded, .fileTooLarge, .canceled: true
        default: false
        }
    }
}

#else
extension DescriptorWriter {
    mutating func writeFile(_ file: FileSnapshot) throws(MultipartError) {
        try writeThroughBuffer()
    }

    mutating func writeStream(_ stream: StreamSource) throws(MultipartError) {
        try writeThroughBuffer()
    }
}
#endif

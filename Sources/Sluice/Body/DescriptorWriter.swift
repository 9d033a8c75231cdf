/// Writes a body to a descriptor by the shortest way for each of its segments.
///
/// File bytes stay inside the kernel where it has a way, headers and memory are gathered into one call, and the rest
/// goes through a buffer. Partial writes, descriptors that do not block, and readers that go away are handled here.
struct DescriptorWriter {
    let layout: BodyLayout
    private let range: Range<Int64>?
    let target: Int32
    let targetKind: FileStatus.Kind
    let isLoopback: Bool
    let interrupt: ReadInterrupt?
    private let wake: WakeDescriptor?
    private let meter: ProgressMeter?

    /// The segment that is being written, and how much of it was.
    private(set) var index: Int
    private(set) var offsetInSegment: Int64
    private(set) var report = WriteReport()
    /// By how many bytes the sources of the segments before this one were longer, and that of this one was.
    private var passedSurplus: Int64 = 0
    private var surplusInSegment: Int64?

    #if os(Linux)
    /// The ways that the kernel does not have between a file system and the target; they are not tried again.
    var refusals: Set<Refusal> = []
    /// Made for the first file that is worth it.
    var pipe: SplicePipe?
    #endif

    init(
        _ body: MultipartBody,
        to target: Int32,
        interrupt: ReadInterrupt?,
        meter: ProgressMeter?
    ) throws(MultipartError) {
        layout = body.layout
        range = body.range
        self.target = target
        self.interrupt = interrupt
        self.meter = meter
        isLoopback = SystemCalls.isLoopback(target)
        wake = try interrupt.map { (interrupt) throws(MultipartError) in try WakeDescriptor(interrupt) }
        let start = body.range?.lowerBound ?? 0
        index = layout.segmentIndex(at: start)
        offsetInSegment = start - (layout.segments[index].start ?? 0)
        do {
            targetKind = try SystemCalls.status(of: target).kind
        } catch {
            throw MultipartError(.writeFailed, "the target descriptor \(target) cannot be written to", error)
        }
    }

    mutating func write() throws(MultipartError) {
        while index < layout.segments.count, remaining > 0 {
            do {
                try interrupt?.check()
                switch layout.segments[index].kind {
                case .rendered, .content(.memory): try writeGathered()
                case .content(.source(let file as FileSnapshot)): try writeFile(file)
                case .content(.stream(let stream as StreamSource)): try writeStream(stream)
                case .content: try writeThroughBuffer()
                }
            } catch {
                throw error.inPart(layout.segments[index].part.map { layout.labels[$0] })
            }
        }
    }

    // MARK: Position

    /// The bytes that are still to be written, as far as is known.
    private var remaining: Int64 {
        range.map { $0.upperBound - $0.lowerBound - report.bytes } ?? .max
    }

    /// The bytes that are left of the current segment, within the body's range.
    var remainingInSegment: Int64 {
        min(layout.segments[index].length.map { $0 - offsetInSegment } ?? .max, remaining)
    }

    mutating func advance(_ count: Int, _ method: WriteReport.Method) {
        report.add(count, method)
        offsetInSegment += Int64(count)
        let segment = layout.segments[index]
        var offsetInPart: Int64 = 0
        if case .content = segment.kind { offsetInPart = offsetInSegment }
        meter?.advance(
            to: .init(
                position: report.bytes,
                part: segment.part,
                offsetInPart: offsetInPart,
                sourceSurplus: passedSurplus + (surplusInSegment ?? segment.sourceSurplus(at: offsetInSegment))
            )
        )
    }

    mutating func nextSegment() {
        passedSurplus += surplusInSegment ?? layout.segments[index].sourceSurplus(at: offsetInSegment)
        surplusInSegment = nil
        index += 1
        offsetInSegment = 0
    }

    /// Goes on behind a segment of known length that is done; one that a slice ends within stays the last.
    mutating func leaveFinishedSegment() {
        if offsetInSegment == layout.segments[index].length { nextSegment() }
    }

    // MARK: Memory

    /// The most pieces in one gathering write.
    private static let mostPieces = 64
    /// The most of them that are parts in memory.
    ///
    /// Each is lent by a nested call, which takes 3 KiB of stack in a debug build, and threads may have 128 KiB.
    private static let mostLent = 32
    /// The most bytes in one, so that progress and interrupts get their turn within a large part.
    private static let longestGather: Int64 = 4 << 20

    /// Writes the run of rendered and memory segments that starts here, many in one call.
    private mutating func writeGathered() throws(MultipartError) {
        var pieces: [UnsafeRawBufferPointer] = unsafe []
        unsafe pieces.reserveCapacity(Self.mostPieces)
        let room = min(remaining, Self.longestGather)
        var count = unsafe try layout.rendered.withUnsafeBytes { rendered in
            unsafe gather(rendered, index, offsetInSegment, room, &pieces, mayLend: Self.mostLent)
        }.get()
        // Attribute what was written to the segments it came from.
        repeat {
            let taken = Int(min(Int64(count), remainingInSegment))
            if taken > 0 { advance(taken, .gather) }
            count -= taken
            leaveFinishedSegment()
        } while count > 0
    }

    /// Lends the parts one inside the other, and writes all pieces when there are no more to lend.
    private func gather(
        _ rendered: UnsafeRawBufferPointer,
        _ index: Int,
        _ offset: Int64,
        _ room: Int64,
        _ pieces: inout [UnsafeRawBufferPointer],
        mayLend: Int
    ) -> Result<Int, MultipartError> {
        var (index, offset, room) = (index, offset, room)
        while room > 0, unsafe pieces.count < Self.mostPieces, index < layout.segments.count {
            let segment = layout.segments[index]
            let length = min((segment.length ?? 0) - offset, room)
            let bounds = Int(offset)..<Int(offset + length)
            switch segment.kind {
            case .rendered(let start):
                let piece = unsafe rendered[(start + bounds.lowerBound)..<(start + bounds.upperBound)]
                unsafe pieces.append(UnsafeRawBufferPointer(rebasing: piece))
            case .content(.memory(let bytes)) where length > 0 && mayLend > 0:
                return unsafe bytes.withBytes { lent in
                    unsafe pieces.append(UnsafeRawBufferPointer(rebasing: lent[bounds]))
                    return unsafe gather(rendered, index + 1, 0, room - length, &pieces, mayLend: mayLend - 1)
                }
            case .content(.memory) where length == 0:
                break
            default:
                return unsafe write(pieces)
            }
            (index, offset, room) = (index + 1, 0, room - length)
        }
        return unsafe write(pieces)
    }

    private func write(_ pieces: [UnsafeRawBufferPointer]) -> Result<Int, MultipartError> {
        guard unsafe !pieces.isEmpty else { return .success(0) }
        return Result { () throws(MultipartError) in
            try untilWritten { () throws(Errno) in unsafe try SystemCalls.write(target, gathering: pieces) }
        }
    }

    // MARK: Everything else

    private static let bufferSize = 512 * 1024

    /// Reads the rest of the segment, and writes it.
    mutating func writeThroughBuffer() throws(MultipartError) {
        let reader = BodyReader(layout, segments: index..<index + 1, offset: offsetInSegment, interrupt: interrupt)
        let countsSource = layout.isCompressed
        unsafe try copyThroughBuffer(
            { (buffer) throws(MultipartError) in unsafe try reader.read(into: buffer) },
            surplus: { countsSource ? reader.mark.sourceSurplus : nil }
        )
    }

    /// Writes what `read` puts into a buffer, until it gives 0 or the body's range ends.
    mutating func copyThroughBuffer(
        _ read: (UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int,
        surplus: () -> Int64? = { nil }
    ) throws(MultipartError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        while remaining > 0 {
            let wanted = Int(min(remaining, Int64(Self.bufferSize)))
            let count = try unsafe read(.init(rebasing: buffer[..<wanted]))
            surplusInSegment = surplus()
            if count == 0 { return nextSegment() }
            unsafe try writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private mutating func writeAll(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let count = try untilWritten { () throws(Errno) in unsafe try SystemCalls.write(target, piece) }
            advance(count, .readWrite)
            unsafe rest = rest.dropFirst(count)
        }
    }

    // MARK: Waiting and errors

    /// Repeats a call while the target has no room.
    func untilRoom(_ call: () throws(Errno) -> Int) throws(Errno) -> Int {
        while true {
            do throws(Errno) {
                return try call()
            } catch {
                guard error == .wouldBlock else { throw error }
                try waitUntilWritable()
            }
        }
    }

    /// The same for calls that only the target can fail.
    private func untilWritten(_ call: () throws(Errno) -> Int) throws(MultipartError) -> Int {
        do { return try untilRoom(call) } catch { throw targetError(error) }
    }

    /// Waits for room in the target.
    ///
    /// - Throws: `.canceled` where the interrupt came first.
    func waitUntilWritable() throws(Errno) {
        if try !SystemCalls.waitUntilWritable(target, wake: wake) { throw .canceled }
    }

    func targetError(_ errno: Errno) -> MultipartError {
        let written = "after \(report.bytes) bytes were written"
        return switch errno {
        case .canceled: .cancelledRead
        case .brokenPipe, .connectionReset:
            MultipartError(.connectionClosed, "the reader closed the connection \(written)", errno)
        default: MultipartError(.writeFailed, "writing failed \(written)", errno)
        }
    }
}

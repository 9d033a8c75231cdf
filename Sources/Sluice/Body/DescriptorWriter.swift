/// Writes a body to a descriptor by the shortest way for each of its segments.
///
/// File bytes stay inside the kernel where it has a way, headers and memory are gathered into one call, and the rest
/// goes through a buffer. Partial writes, descriptors that do not block, and readers that go away are handled here.
struct DescriptorWriter {
    private let layout: BodyLayout
    private let range: Range<Int64>?
    private let target: Int32
    private let targetKind: FileStatus.Kind
    private let interrupt: ReadInterrupt?
    private let meter: ProgressMeter?
    /// The ways that this target refused; they are not tried again.
    private var refused: Set<WriteReport.Method> = []
    private var index: Int
    private var offsetInSegment: Int64
    private(set) var report = WriteReport()
    #if os(Linux)
    /// Made for the first file that is worth it.
    private var pipe: SplicePipe?
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
    private var remainingInSegment: Int64 {
        min(layout.segments[index].length.map { $0 - offsetInSegment } ?? .max, remaining)
    }

    private mutating func advance(_ count: Int, _ method: WriteReport.Method) {
        report.add(count, method)
        offsetInSegment += Int64(count)
        meter?.advance(
            to: .init(position: report.bytes, part: layout.segments[index].part, offsetInPart: offsetInSegment)
        )
    }

    private mutating func nextSegment() {
        index += 1
        offsetInSegment = 0
    }

    // MARK: Memory

    /// The most pieces in one gathering write; each is lent by a nested call, so this bounds the stack as well.
    private static let mostPieces = 64

    /// Writes the run of rendered and memory segments that starts here, many in one call.
    private mutating func writeGathered() throws(MultipartError) {
        let written = unsafe try gather(index, offsetInSegment, remaining, [])
        guard written > 0 else {
            // Only segments without bytes.
            return nextSegment()
        }
        // Attribute what was written to the segments it came from.
        var count = written
        while count > 0 {
            let taken = Int(min(Int64(count), remainingInSegment))
            advance(taken, .gather)
            count -= taken
            if offsetInSegment == layout.segments[index].length { nextSegment() }
        }
    }

    /// Lends the pieces one inside the other, and writes them when there are no more to lend.
    private func gather(
        _ index: Int,
        _ offset: Int64,
        _ remaining: Int64,
        _ pieces: [UnsafeRawBufferPointer]
    ) throws(MultipartError) -> Int {
        guard remaining > 0, unsafe pieces.count < Self.mostPieces, index < layout.segments.count else {
            return unsafe try write(pieces)
        }
        func lend(_ bytes: UnsafeRawBufferPointer) -> Result<Int, MultipartError> {
            let length = min(Int64(bytes.count) - offset, remaining)
            let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset + length)])
            return Result { () throws(MultipartError) in
                unsafe try gather(index + 1, 0, remaining - length, length > 0 ? pieces + [piece] : pieces)
            }
        }
        switch layout.segments[index].kind {
        case .rendered(let start):
            let end = start + Int(layout.segments[index].length ?? 0)
            return try unsafe layout.rendered.withUnsafeBytes { unsafe lend(.init(rebasing: $0[start..<end])) }.get()
        case .content(.memory(let bytes)):
            return try unsafe bytes.withBytes { unsafe lend($0) }.get()
        default:
            return unsafe try write(pieces)
        }
    }

    private func write(_ pieces: [UnsafeRawBufferPointer]) throws(MultipartError) -> Int {
        guard unsafe !pieces.isEmpty else { return 0 }
        return try untilWritten { () throws(Errno) in unsafe try SystemCalls.write(target, gathering: pieces) }
    }

    // MARK: Files

    /// The most that one call is asked to move inside the kernel, so that progress and interrupts get their turn.
    private static let longestKernelCopy = 4 << 20

    private mutating func writeFile(_ file: FileSnapshot) throws(MultipartError) {
        #if os(Linux)
        let descriptor = try file.openDescriptor()
        var offset = file.bounds.lowerBound + offsetInSegment
        for method in Self.kernelMethods(for: targetKind) where !refused.contains(method) {
            // Below this, the pipe's own calls cost more than they save.
            if method == .splice, targetKind == .socket, remainingInSegment < 1 << 20 { continue }
            while remainingInSegment > 0 {
                try interrupt?.check()
                let wanted = Int(min(remainingInSegment, Int64(Self.longestKernelCopy)))
                guard let moved = try copy(descriptor.rawValue, at: &offset, wanted, method) else {
                    refused.insert(method)
                    break
                }
                if moved == 0 { throw file.shrank(at: offset) }
                advance(moved, method)
            }
        }
        if remainingInSegment == 0 {
            if file.changePolicy == .strict { try file.verify(descriptor) }
            if offsetInSegment == layout.segments[index].length { nextSegment() }
            return
        }
        #endif
        try writeThroughBuffer()
    }

    #if os(Linux)
    /// The kernel's ways to a kind of target, the best first.
    private static func kernelMethods(for target: FileStatus.Kind) -> [WriteReport.Method] {
        switch target {
        case .regular: [.copyFileRange, .sendFile]
        case .socket: [.splice, .sendFile]
        case .stream: [.splice, .sendFile]
        default: []
        }
    }

    /// Moves bytes inside the kernel; nil where it does not do so for these two descriptors.
    private mutating func copy(
        _ source: Int32,
        at offset: inout Int64,
        _ count: Int,
        _ method: WriteReport.Method
    ) throws(MultipartError) -> Int? {
        var position = offset
        defer { offset = position }
        do {
            let (target, pipe) = (target, try splicePipe(for: method))
            return try untilWritten { () throws(Errno) in
                switch (method, pipe) {
                case (.copyFileRange, _):
                    try SystemCalls.copyFileRange(from: source, at: &position, to: target, count: count)
                case (.splice, let pipe?):
                    try pipe.move(from: source, at: &position, to: target, count: count) { () throws(Errno) in
                        try SystemCalls.waitUntilWritable(target)
                    }
                case (.splice, nil):
                    try SystemCalls.splice(from: source, at: &position, to: target, count: count)
                default:
                    try SystemCalls.sendFile(from: source, at: &position, to: target, count: count)
                }
            }
        } catch {
            if let number = error.errno, Errno(number).meansUnsupported { return nil }
            throw error
        }
    }

    /// The pipe between a file and a socket; a target that is a pipe itself needs none.
    private mutating func splicePipe(for method: WriteReport.Method) throws(MultipartError) -> SplicePipe? {
        guard method == .splice, targetKind == .socket else { return nil }
        if let pipe { return pipe }
        do {
            let made = try SplicePipe()
            pipe = made
            return made
        } catch {
            // Limits on pipes or descriptors: `sendfile` needs neither.
            throw MultipartError(.resourcesExhausted, "no pipe", .unsupported)
        }
    }
    #endif

    // MARK: Streams

    private mutating func writeStream(_ stream: StreamSource) throws(MultipartError) {
        let descriptor = try stream.openDescriptor()
        let cursor = try StreamCursor(descriptor, path: stream.path, interrupt: interrupt)
        #if os(Linux)
        while !refused.contains(.splice) {
            try cursor.waitUntilReadable()
            do {
                let moved = try untilWritten { () throws(Errno) in
                    try SystemCalls.splice(
                        fromPipe: descriptor.rawValue,
                        to: target,
                        count: Self.longestKernelCopy
                    )
                }
                if moved == 0 { return nextSegment() }
                advance(moved, .splice)
            } catch {
                guard let number = error.errno, Errno(number).meansUnsupported else { throw error }
                refused.insert(.splice)
            }
        }
        #endif
        unsafe try withBuffer { (writer, buffer) throws(MultipartError) in
            while true {
                var span = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
                try cursor.read(into: &span)
                let count = unsafe span.finalize(for: buffer)
                if count == 0 { return writer.nextSegment() }
                unsafe try writer.writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    // MARK: Everything else

    private static let bufferSize = 256 * 1024

    /// Reads the rest of the segment, and writes it.
    private mutating func writeThroughBuffer() throws(MultipartError) {
        let reader = BodyReader(layout, segments: index..<index + 1, offset: offsetInSegment, interrupt: interrupt)
        unsafe try withBuffer { (writer, buffer) throws(MultipartError) in
            while writer.remaining > 0 {
                let wanted = Int(min(writer.remaining, Int64(buffer.count)))
                let count = unsafe try reader.read(into: .init(rebasing: buffer[..<wanted]))
                if count == 0 { return writer.nextSegment() }
                unsafe try writer.writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    private mutating func withBuffer(
        _ body: (inout DescriptorWriter, UnsafeMutableRawBufferPointer) throws(MultipartError) -> Void
    ) throws(MultipartError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        unsafe try body(&self, buffer)
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

    /// Repeats a call while the target has no room, and gives its error the right name.
    private func untilWritten(_ call: () throws(Errno) -> Int) throws(MultipartError) -> Int {
        while true {
            do throws(Errno) {
                do throws(Errno) {
                    return try call()
                } catch {
                    guard error == .wouldBlock else { throw error }
                    try SystemCalls.waitUntilWritable(target)
                }
            } catch {
                if error == .brokenPipe || error == .connectionReset {
                    throw MultipartError(
                        .connectionClosed,
                        "the reader closed the connection after \(report.bytes) bytes were written",
                        error
                    )
                }
                throw MultipartError(.writeFailed, "writing failed after \(report.bytes) bytes were written", error)
            }
        }
    }
}

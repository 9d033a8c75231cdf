internal import Sluice

/// Where the body of a download's answer goes, if not to memory.
///
/// Used on the loop's thread only.
protocol BodySink: AnyObject {
    /// Where the next request is to go on; nil to ask for all.
    var resumePoint: ResumePoint? { get }

    /// The bytes that were taken, with those of earlier requests.
    var position: Int64 { get }

    /// The bytes of the whole, where known.
    var total: Int64? { get }

    /// Says what is to become of an answer's body, and gets ready for it.
    func begin(_ response: CurlResponse) -> SinkVerdict

    /// Takes bytes.
    func take(_ bytes: UnsafeRawBufferPointer) -> SinkTaking
}

/// What became of bytes that were offered.
enum SinkTaking {
    case taken
    /// They do not fit now, and are to be offered again.
    case pause
    /// They are more than there should be.
    case abort
}

/// What a sink makes of an answer.
enum SinkVerdict {
    /// It takes the body.
    case take
    /// The body is for whoever reads the error.
    case collect
    /// The answer is not the rest that was asked for; the whole is to be asked for.
    case startOver
    /// The answer is of no use.
    case refuse(TransferError.Code, String)
}

/// The sinks that have bytes for tasks, which are told of them once libcurl has no more at the moment.
final class FullSinks {
    private var sinks: [ChunkSink] = []

    func add(_ sink: ChunkSink) { sinks.append(sink) }

    func flush() {
        guard !sinks.isEmpty else { return }
        for sink in sinks { sink.flush() }
        sinks.removeAll(keepingCapacity: true)
    }
}

/// The sink for a task that takes chunks.
final class ChunkSink: BodySink {
    private let channel: ChunkChannel
    private let fullSinks: FullSinks
    private var isFull = false
    private let onRoom: @Sendable () -> Void
    private var validator: Validator?
    private var hasBegun = false
    private(set) var position: Int64 = 0
    private(set) var total: Int64?

    /// Makes a sink; `onRoom` is called from another thread when there is room again.
    init(_ channel: ChunkChannel, _ fullSinks: FullSinks, onRoom: @escaping @Sendable () -> Void) {
        self.channel = channel
        self.fullSinks = fullSinks
        self.onRoom = onRoom
    }

    /// Whether an attempt that breaks off now can be followed by another one.
    var canGoOn: Bool { !hasBegun || validator != nil }

    var resumePoint: ResumePoint? {
        guard hasBegun, let validator else { return nil }
        return ResumePoint(offset: position, validator: validator, total: total)
    }

    func begin(_ response: CurlResponse) -> SinkVerdict {
        guard hasBegun else {
            hasBegun = true
            // What is not all of a resource is not gone on with.
            if response.status == 200 { validator = Validator(of: response.header) }
            total = response.bodyLength
            channel.begin(response)
            return .take
        }
        guard let point = resumePoint, response.continues(point) else {
            return .refuse(
                .connectionLost,
                "the rest cannot be had: the server has another version by now, or does not give parts of it"
            )
        }
        return .take
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> SinkTaking {
        guard unsafe channel.add(bytes, onRoom: onRoom) else { return .pause }
        position += Int64(bytes.count)
        if !isFull {
            isFull = true
            fullSinks.add(self)
        }
        return .taken
    }

    /// Hands what was taken to the task, if it waits.
    func flush() {
        isFull = false
        channel.flush()
    }
}

extension CurlResponse {
    /// The bytes of the body, where the head says so.
    var bodyLength: Int64? {
        // RFC 9112 section 6.3: chunked coding overrides it.
        header("Transfer-Encoding") == nil
            ? header("Content-Length").flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 } : nil
    }

    /// Whether the answer is the rest of the resource from this point on.
    func continues(_ point: ResumePoint) -> Bool {
        func values(_ name: String) -> [String] { headers.filter { $0.name.lowercased() == name }.map(\.value) }
        let ranges = values("content-range")
        guard status == 206, ranges.count == 1, let range = ContentRange(ranges[0]) else { return false }
        // Of two of them, either might be the one that counts.
        guard values("etag").count <= 1, values("last-modified").count <= 1, values("content-encoding").count <= 1
        else {
            return false
        }
        if range.first != point.offset || point.validator.contradicts(header) { return false }
        // The rest was asked for, and not a part of it: where nobody says how long the whole is, that cannot be told.
        guard let total = range.total ?? point.total else { return false }
        return range.last == total - 1 && (point.total ?? total) == total
    }
}

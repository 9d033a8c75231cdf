import Sluice

/// Takes in a multipart body as it comes: counts and digests its parts, and writes them to files.
///
/// Content is written from the chunk that it comes in. What is kept in memory is what is known of the parts, and the
/// content of fields where that is asked for; the parser's limits bound both.
struct BodyReceiver: ~Copyable {
    /// What becomes of a part's content.
    enum Treatment: Sendable {
        /// It is counted and digested.
        case inspect
        /// It is written to a file of this name.
        case store(name: String)
        /// The same, but nothing is stored where it is empty.
        case storeUnlessEmpty(name: String)
        /// It is kept in memory.
        case keep
    }

    /// What does not depend on the body.
    struct Rules: Sendable {
        var limits: ParserLimits
        /// The policies for a subtype.
        var policies: @Sendable (MultipartForm.Subtype) -> ParserPolicies = { ParserPolicies(for: $0) }
        /// Whether each part's SHA-256 is made.
        var makesDigests = true
        /// The bytes that are to stay free on the disk.
        var minimumFree: Int64 = 0
        /// What becomes of a part; where the body is a form, the limits bound what is kept of fields.
        var treatment: @Sendable (PartHeaders, _ isForm: Bool) -> Treatment = { _, _ in .inspect }
    }

    private let rules: Rules
    private let inbox: Inbox?
    private let files: FileBatch?
    private var parser: MultipartParser
    private var parts: [PartRecord] = []
    private var open: OpenPart?
    private var fileCount = 0
    /// The bytes that may be written before the free space is looked at again.
    private var unchecked: Int64 = 0

    private struct OpenPart {
        var part: PartRecord
        let digest: ContentDigest?
        var treatment: Treatment
    }

    /// How much is written between two looks at the free space.
    private static let checkInterval: Int64 = 32 << 20

    /// - Parameters:
    ///   - contentType: The body's.
    ///   - rules: What is done with it.
    ///   - inbox: Where files go; nil where none are stored.
    ///   - collision: What happens where a name is taken.
    init(
        _ contentType: MultipartContentType,
        _ rules: Rules,
        into inbox: Inbox? = nil,
        _ collision: FileBatch.Collision = .refuse
    ) {
        self.rules = rules
        self.inbox = inbox
        files = inbox.map { FileBatch(in: $0, collision) }
        parser = MultipartParser(contentType, limits: rules.limits, policies: rules.policies(contentType.subtype))
    }

    /// Whether the body is complete; what follows is its epilogue.
    private(set) var isComplete = false

    /// How many of the bytes at hand to take in, so that files are written in whole blocks.
    ///
    /// File systems are much quicker with large writes at round offsets. Bytes that are left are to be offered again, with
    /// those that follow; nothing is wrong with taking more.
    ///
    /// - Parameter count: The bytes at hand.
    /// - Returns: How many to take; 0 where it is better to wait for more.
    func wholeBlocks(of count: Int) -> Int {
        guard let part = open?.part, part.fileIndex != nil else { return count }
        return max(count - Int((part.size + Int64(count)) % Self.blockSize), 0)
    }

    private static let blockSize: Int64 = 128 * 1024

    /// Takes in the next bytes.
    ///
    /// - Parameters:
    ///   - chunk: The bytes, lent for the call.
    ///   - toCome: The bytes of the body behind them, where that is known.
    /// - Throws: What is wrong with the body, or why it cannot be stored.
    mutating func take(_ chunk: UnsafeRawBufferPointer, toCome: Int64? = nil) throws(MultipartError) {
        files?.mostToCome = toCome.map { $0.addingSaturated(Int64(chunk.count)) } ?? .max
        while let event = try unsafe parser.next(in: chunk.bytes) {
            if case .body(let range) = event {
                try unsafe write(UnsafeRawBufferPointer(rebasing: chunk[range]))
            } else {
                try handle(event)
            }
        }
    }

    /// Ends the body, and gives its files their names.
    ///
    /// - Returns: The parts, and the paths of those that are files.
    /// - Throws: Where the body is not complete, or a file cannot have its name. No file is then left.
    consuming func finish() throws(MultipartError) -> [(part: PartRecord, path: String?)] {
        while let event = try parser.finish() { try handle(event) }
        let names = try files?.commit() ?? []
        let inbox = inbox
        return parts.map { part in
            (part, part.fileIndex.flatMap { index in inbox?.path(of: names[index]) })
        }
    }

    private mutating func handle(_ event: MultipartParser.Event) throws(MultipartError) {
        switch event {
        case .partBegan(let headers): try begin(headers)
        case .body: break
        case .heldBody(let range):
            let held = parser.heldBytes
            try unsafe held.span.bytes.withUnsafeBytes { (held) throws(MultipartError) in
                try unsafe write(UnsafeRawBufferPointer(rebasing: held[range]))
            }
        case .partEnded: try end()
        case .end: isComplete = true
        }
    }

    // MARK: Parts

    private mutating func begin(_ headers: PartHeaders) throws(MultipartError) {
        let treatment = rules.treatment(headers, parser.policies.requiresFormData)
        var part = PartRecord(headers: headers)
        if case .keep = treatment { part.content = [] }
        open = OpenPart(part: part, digest: rules.makesDigests ? ContentDigest() : nil, treatment: treatment)
        if case .store(let name) = treatment { try beginFile(name) }
    }

    private mutating func beginFile(_ name: String) throws(MultipartError) {
        do {
            try files?.begin(name)
        } catch {
            throw labelled(error)
        }
        open?.part.fileIndex = fileCount
        fileCount += 1
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
        guard let treatment = open?.treatment else { return }
        open?.part.size += Int64(bytes.count)
        unsafe open?.digest?.update(bytes)
        switch treatment {
        case .inspect:
            return
        case .keep:
            unsafe open?.part.content?.append(contentsOf: bytes)
            return
        case .storeUnlessEmpty(let name):
            if open?.part.fileIndex == nil { try beginFile(name) }
        case .store:
            break
        }
        try checkSpace(for: Int64(bytes.count))
        do {
            try unsafe files?.write(bytes)
        } catch {
            throw labelled(error)
        }
    }

    private mutating func end() throws(MultipartError) {
        guard var part = open?.part else { return }
        if part.fileIndex != nil {
            do {
                try files?.end()
            } catch {
                throw labelled(error)
            }
        }
        part.sha256 = open?.digest?.finish()
        parts.append(part)
        open = nil
    }

    private mutating func checkSpace(for count: Int64) throws(MultipartError) {
        unchecked -= count
        guard rules.minimumFree > 0, unchecked < 0 else { return }
        unchecked = Self.checkInterval
        guard let inbox, let free = inbox.freeBytes, let files else { return }
        guard free + files.reservedBytes - count < rules.minimumFree else { return }
        throw labelled(.diskFull(inbox.path, keeping: rules.minimumFree))
    }

    private func labelled(_ error: MultipartError) -> MultipartError {
        MultipartError(
            error.code,
            error.reason,
            part: open?.part.headers.label,
            path: error.path,
            errno: error.errno
        )
    }
}

extension MultipartError {
    /// The disk is not to be filled further.
    static func diskFull(_ path: String, keeping bytes: Int64) -> MultipartError {
        MultipartError(
            .writeFailed,
            "less than \(Units.bytes(bytes)) would be left free on its disk; see --min-free",
            path: path,
            errno: Errno.noSpace.rawValue
        )
    }
}

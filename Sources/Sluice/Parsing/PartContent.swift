/// What one does with the content of a part, compressed or not.
enum PartContent {
    static func collect<Content: AsyncSequence>(
        _ content: Content,
        upTo limit: Int
    ) async throws(MultipartError) -> [UInt8]
    where Content.Element: Collection<UInt8>, Content.Failure == MultipartError {
        var bytes: [UInt8] = []
        for try await piece in content {
            guard piece.count <= limit - bytes.count else {
                throw MultipartError(
                    .limitExceeded,
                    "the content has more than \(limit) bytes; read it as it comes instead"
                )
            }
            bytes.append(contentsOf: piece)
        }
        return bytes
    }

    static func text<Content: AsyncSequence>(
        _ content: Content,
        upTo limit: Int
    ) async throws(MultipartError) -> String
    where Content.Element: Collection<UInt8>, Content.Failure == MultipartError {
        guard let text = String(validating: try await collect(content, upTo: limit), as: UTF8.self) else {
            throw MultipartError(
                .invalidText,
                "the content is not UTF-8; collect its bytes and decode them as they are"
            )
        }
        return text
    }

    static func save<Content: AsyncSequence>(
        _ content: Content,
        to path: String,
        replacing: Bool
    ) async throws(MultipartError) -> Int64
    where Content.Element: Collection<UInt8> & Sendable, Content.Failure == MultipartError {
        let saver = FileSaver(path: path, replacing: replacing)
        try saver.start()
        var count: Int64 = 0
        do {
            for try await piece in content {
                count += Int64(piece.count)
                try await saver.append(HeldBytes(collecting: piece))
            }
            if Task.isCancelled { throw MultipartError.cancelledRead }
        } catch {
            await saver.abandon()
            throw .fromSource(error)
        }
        try await saver.finish()
        return count
    }
}

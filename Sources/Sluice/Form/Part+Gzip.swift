extension Part {
    /// The part, compressed with gzip (RFC 1952) as it is read.
    ///
    /// ```swift
    /// try form.append(Part.file("log", path: "/var/log/app.log").gzip())
    /// ```
    ///
    /// Any part can be compressed, whatever its bytes come from; a nested form only as
    /// ``Gzip/Mode/contentEncoding``. With the same zlib, the compressed bytes depend on the part's bytes, the level and the
    /// block size alone: they are the same for any number of workers, at any time. Bytes that cannot be compressed are
    /// stored, block by block, so that they cost little more than a copy, and never grow by more than 5 bytes for each
    /// 32 KiB begun, and 20 in all.
    ///
    /// The part is ``Replay/restartable`` if its source can be read more than once. A reader that starts within the part
    /// compresses from its start again, and drops what comes before; where the source is ``Replay/seekable``, from the
    /// nearest place that an earlier reader of the same body passed, of which up to 1024 are remembered.
    ///
    /// - Parameters:
    ///   - level: 0 (store) and 1 (fastest) to 9 (smallest).
    ///   - mode: How the receiver is told. As a file, a part without a filename gets its field's name and `.gz`.
    ///   - workers: How many threads compress.
    ///   - length: How the compressed length becomes known. All but ``Gzip/Length/unknown`` make
    ///     ``MultipartForm/body()`` read and compress the part, which takes its time and must not run on Swift's shared
    ///     thread pool.
    ///   - blockSize: The bytes that are compressed at a time, 32 KiB to 64 MiB.
    /// - Returns: The compressed part. A level, block size or number of workers that there is not is an error when the
    ///   part is added to a form, ``MultipartError/Code/invalidCompression``, and a second Content-Encoding is one, too.
    public func gzip(
        level: Int = Gzip.defaultLevel,
        mode: Gzip.Mode = .file,
        workers: Gzip.Workers = .automatic,
        length: Gzip.Length = .unknown,
        blockSize: Int = Gzip.defaultBlockSize
    ) -> Part {
        let settings = GzipSettings(level: level, blockSize: blockSize, workers: workers)
        let origin = Origin.gzip(origin, Compression(settings: settings, mode: mode, length: length))
        switch mode {
        case .file:
            return Part(disposition?.namingGzipFile(), .gzip, headers, origin)
        case .contentEncoding:
            return Part(disposition, mediaType, headers + [.gzipEncoding], origin)
        }
    }

    /// How a part is compressed, and how that is told.
    struct Compression: Sendable {
        let settings: GzipSettings
        let mode: Gzip.Mode
        let length: Gzip.Length
    }

    /// Checks what ``gzip(level:mode:workers:length:blockSize:)`` was given.
    func validateCompression() throws(MultipartError) {
        var origin = origin
        while case .gzip(let inner, let compression) = origin {
            try compression.settings.validate()
            if case .form = inner, compression.mode == .file {
                throw MultipartError(
                    .invalidCompression,
                    "a nested form loses its type as a gzip file; compress it with the mode .contentEncoding"
                )
            }
            if compression.mode == .contentEncoding,
                headers.count(where: { $0.name.lowercased() == HeaderField.gzipEncoding.name.lowercased() }) > 1
            {
                throw MultipartError(
                    .invalidHeader,
                    "the part has a Content-Encoding already; compress it with the mode .file, or take the header out"
                )
            }
            origin = inner
        }
    }
}

extension ContentDisposition {
    fileprivate func namingGzipFile() -> ContentDisposition {
        var copy = self
        let base = filename.flatMap { $0.isEmpty ? nil : $0 } ?? name
        if let base { copy.filename = base + ".gz" }
        return copy
    }
}

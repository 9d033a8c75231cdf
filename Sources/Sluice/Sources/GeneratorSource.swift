/// Bytes that a closure makes as they are asked for.
///
/// The closure appends the next bytes to the span it is given, and nothing at the end.
///
/// ```swift
/// let zeros = GeneratorSource.restartable(knownLength: 1_000_000) {
///     { buffer in while buffer.freeCapacity > 0 { buffer.append(0) } }
/// }
/// ```
///
/// The span never has more room than a declared length leaves, and may have room for a single byte: keep what does
/// not fit for the next call, because appending more than `freeCapacity` traps.
/// ``chunks(knownLength:_:)`` does the keeping for generators of whole chunks.
public struct GeneratorSource: ByteSource {
    /// A closure that appends the next bytes, and nothing at the end.
    public typealias Generator = (_ buffer: inout OutputRawSpan) throws -> Void

    /// The number of bytes, where it is known.
    public let knownLength: Int64?
    /// ``Replay/once`` or ``Replay/restartable``, by how the source was made.
    public let replay: Replay
    private let makeGenerator: @Sendable () throws(MultipartError) -> Generator

    /// A generator that can be run once.
    ///
    /// - Parameters:
    ///   - knownLength: The number of bytes, where it is known.
    ///   - generator: Appends the next bytes, and nothing at the end. What it throws becomes
    ///     ``MultipartError/underlyingError``.
    /// - Returns: A source that can be read once.
    public static func once(
        knownLength: Int64? = nil,
        _ generator: sending @escaping Generator
    ) -> GeneratorSource {
        let unused = OnceOnly(generator)
        return GeneratorSource(knownLength: knownLength, replay: .once) { () throws(MultipartError) in
            try unused.take()
        }
    }

    /// A generator that a factory makes anew for each reading.
    ///
    /// - Parameters:
    ///   - knownLength: The number of bytes, where it is known.
    ///   - factory: Makes a generator that starts at the first byte. Each must make the same bytes.
    /// - Returns: A source that can be read any number of times, from the start.
    public static func restartable(
        knownLength: Int64? = nil,
        _ factory: @escaping @Sendable () throws -> Generator
    ) -> GeneratorSource {
        GeneratorSource(knownLength: knownLength, replay: .restartable) { () throws(MultipartError) in
            do { return try factory() } catch { throw .fromSource(error) }
        }
    }

    /// A generator of whole chunks, of any size, that a factory makes anew for each reading.
    ///
    /// What of a chunk does not fit the reader's buffer is kept for its next one, at the cost of a copy. Each chunk is handed
    /// on at once, since the next one may be long in coming; those that nobody has taken yet are put together, unless the
    /// sink is synchronous: ``MultipartBody/write(to:interrupt:progress:)`` makes a system call of each.
    ///
    /// ```swift
    /// let rows = GeneratorSource.chunks {
    ///     var number = 0
    ///     return {
    ///         number += 1
    ///         return number <= 1000 ? Array("row \(number)\n".utf8) : nil
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - knownLength: The number of bytes, where it is known.
    ///   - factory: Makes a function that gives the next chunk, and nil at the end. Each must give the same bytes.
    /// - Returns: A source that can be read any number of times, from the start.
    public static func chunks(
        knownLength: Int64? = nil,
        _ factory: @escaping @Sendable () throws -> () throws -> [UInt8]?
    ) -> GeneratorSource {
        restartable(knownLength: knownLength) {
            let next = try factory()
            var rest: ArraySlice<UInt8> = []
            return { buffer in
                while rest.isEmpty {
                    guard let chunk = try next() else { return }
                    rest = chunk[...]
                }
                let held = HeldBytes(rest)
                let count = unsafe buffer.withUnsafeMutableBytes { bytes, initialized in
                    let count = unsafe held.copy(from: 0, into: .init(rebasing: bytes[initialized...]))
                    initialized += count
                    return count
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    private init(
        knownLength: Int64?,
        replay: Replay,
        _ makeGenerator: @escaping @Sendable () throws(MultipartError) -> Generator
    ) {
        self.knownLength = knownLength
        self.replay = replay
        self.makeGenerator = makeGenerator
    }

    /// Starts the generator.
    ///
    /// - Parameter offset: 0.
    /// - Returns: A cursor that runs the closure.
    /// - Throws: ``MultipartError/Code/notReplayable`` for a second reading of a ``once(knownLength:_:)`` source;
    ///   ``MultipartError/Code/sourceFailed`` where the factory threw.
    public func open(at offset: Int64) throws(MultipartError) -> any ByteCursor {
        Cursor(try makeGenerator())
    }

    private final class Cursor: ByteCursor {
        private let generator: Generator

        init(_ generator: @escaping Generator) {
            self.generator = generator
        }

        func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
            do { try generator(&buffer) } catch { throw .fromSource(error) }
        }
    }
}

public import Foundation
public import Sluice

extension MultipartBody {
    /// The whole body as a `Data`, for those that are known to be small.
    ///
    /// The body is read straight into the data's memory; where its length is known, that is allocated once.
    ///
    /// - Parameter limit: The most bytes to collect.
    /// - Returns: The bytes.
    /// - Throws: `MultipartError` with the code `limitExceeded` for a longer body, at once where its length is
    ///   known; and what reading throws.
    public func data(upTo limit: Int) throws(MultipartError) -> Data {
        if let contentLength, contentLength > Int64(limit) { throw tooLong(limit) }
        let reader = try makeReader()
        var data = Data(count: contentLength.map { Int($0) } ?? Self.firstGuess)
        var filled = 0
        while true {
            let count = try Self.read(reader, into: &data, at: filled)
            filled += count
            if filled > limit { throw tooLong(limit) }
            if count == 0 || Int64(filled) == contentLength {
                if filled < data.count { data.count = filled }
                return data
            }
            if filled == data.count { data.count *= 2 }
        }
    }

    /// The bytes allocated at first for a body of unknown length; doubled as long as they do not suffice.
    private static let firstGuess = 64 * 1024

    private static func read(_ reader: BodyReader, into data: inout Data, at offset: Int) throws(MultipartError) -> Int
    {
        // `withUnsafeMutableBytes` rethrows without the error's type, so the error is handed past it.
        let result = unsafe data.withUnsafeMutableBytes { bytes -> Result<Int, MultipartError> in
            do throws(MultipartError) {
                return .success(unsafe try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func tooLong(_ limit: Int) -> MultipartError {
        MultipartError(
            .limitExceeded,
            "the body is longer than the limit of \(limit) bytes\(contentLength.map { ": \($0)" } ?? ""); stream it instead"
        )
    }
}

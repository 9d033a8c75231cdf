// Receives a form from an async sequence of chunks: files go to a directory, fields to standard output.
import Sluice

/// A server's request, as far as this needs it.
func receive(_ chunks: AsyncStream<[UInt8]>, contentType: String?, into directory: String) async throws {
    let limits = ParserLimits(fileBytes: 10 << 30, totalBytes: 11 << 30)
    let reader = try MultipartReader(chunks, contentType: contentType, limits: limits)
    for try await part in reader {
        if let name = part.headers.sanitizedFilename {
            let size = try await part.save(to: "\(directory)/\(part.headers.index)-\(name)")
            print("\(name): \(size) bytes")
        } else {
            print("\(part.headers.name ?? "-"): \(try await part.text(upTo: 10_000))")
        }
    }
}

let body = "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nHoliday\r\n--x--\r\n"
let (chunks, input) = AsyncStream<[UInt8]>.makeStream()
input.yield(Array(body.utf8))
input.finish()
do {
    try await receive(chunks, contentType: "multipart/form-data; boundary=x", into: "/tmp")
} catch let error as MultipartError {
    print(error.suggestedStatus, error)
}

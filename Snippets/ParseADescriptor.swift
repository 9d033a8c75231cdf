// Parses a body from standard input, 64 KiB at a time, and lists its parts: the parser without any other machinery.
//
//     swift run ParseADescriptor 'multipart/form-data; boundary=x' < body
import Foundation
import Sluice

struct Listing {
    private var size = 0

    mutating func add(_ event: MultipartParser.Event) {
        switch event {
        case .partBegan(let headers):
            size = 0
            print(headers.name ?? "-", headers.filename ?? "-", headers.contentType ?? "-", terminator: " ")
        case .body(let range), .heldBody(let range): size += range.count
        case .partEnded: print(size, "bytes")
        case .end: print("complete")
        }
    }
}

func list(_ contentType: String, from input: FileHandle) throws {
    let limits = ParserLimits(fileBytes: 1 << 40, totalBytes: 1 << 40)
    var parser = MultipartParser(try MultipartContentType(contentType), limits: limits)
    var listing = Listing()
    while let chunk = try input.read(upToCount: 64 * 1024), !chunk.isEmpty {
        try chunk.withUnsafeBytes { bytes in
            while let event = try parser.next(in: bytes.bytes) { listing.add(event) }
        }
    }
    while let event = try parser.finish() { listing.add(event) }
}

try list(CommandLine.arguments.dropFirst().first ?? "", from: .standardInput)

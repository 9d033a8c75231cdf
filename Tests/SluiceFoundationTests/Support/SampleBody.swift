import Foundation
import Sluice
import SluiceFoundation
import SluiceTestSupport

/// Bodies with a part from every kind of source.
enum SampleBody: CaseIterable {
    /// All lengths known.
    case known
    /// A generator and an async sequence of unknown length among them.
    case unknown
    /// Compressed parts, of known and of unknown length.
    case compressed
    /// No part at all.
    case empty
    /// Nothing but parts without content.
    case hollow

    /// Makes the form, with its files in `scratch`.
    func form(in scratch: TemporaryDirectory) throws -> MultipartForm {
        var form = MultipartForm(boundary: try Boundary("sample"))
        switch self {
        case .empty:
            return form
        case .hollow:
            try form.addField(name: "", value: "")
            try form.addFile(name: "data", filename: "", data: Data())
            try form.addFile(name: "file", url: try scratch.fileURL("empty.txt", []))
            try form.append(.file("none", GeneratorSource.restartable { { _ in } }, filename: "none"))
        case .compressed:
            let source = GeneratorSource.chunks {
                var chunks = [pattern(300_000)]
                return { chunks.popLast() }
            }
            try form.append(.file("generated", source, filename: "generated.bin").gzip(workers: 2))
            try form.addField(name: "title", value: "Ferien")
            let film = try Part.file("film", url: scratch.fileURL("film.mkv", pattern(70_001)))
            try form.append(film.gzip(length: .measured))
        case .known, .unknown:
            let isKnown = self == .known
            try form.addField(name: "title", value: "Ferien \u{1F3D6}")
            try form.addFile(name: "data", filename: "data.bin", data: Data(pattern(10_000)))
            try form.addFile(name: "film", url: try scratch.fileURL("film.mkv", pattern(70_001)))
            try form.addFile(name: "nothing", filename: "nothing", data: Data())
            let generated = pattern(5000)
            let generator = GeneratorSource.restartable(knownLength: isKnown ? 5000 : nil) {
                var rest = generated[...]
                return { buffer in
                    while buffer.freeCapacity > 0, let byte = rest.popFirst() { buffer.append(byte) }
                }
            }
            try form.append(.file("generated", generator, filename: "generated.bin"))
            let chunks = AsyncSource.restartable(knownLength: isKnown ? 9 : nil) {
                AsyncStream<Data> { continuation in
                    for text in ["one", "", "two", "six"] { continuation.yield(Data(text.utf8)) }
                    continuation.finish()
                }
            }
            try form.append(.file("chunks", chunks, filename: "chunks.txt"))
        }
        return form
    }
}

// The README's examples, so that they compile.
import Foundation
import Sluice
import SluiceCurl
import SluiceFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func describe(
    _ paths: [String],
    _ incomingChunks: AsyncStream<[UInt8]>
) throws {
    let rows = GeneratorSource.chunks {
        var numbers = (0..<1_000_000).makeIterator()
        return { numbers.next().map { Array("row \($0)\n".utf8) } }
    }
    let form = try MultipartForm {
        Part.field("title", "Holiday")
        for path in paths { Part.file("photo", path: path) }
        Part.file("log", FileSource(path: "/var/log/big.log", range: 0..<1_000_000), filename: "start.log")
        Part.file("dump", FileSource.standardInput, filename: "dump.sql")
        Part.file("rows", rows, filename: "rows.csv")
        Part.file("relay", AsyncSource(incomingChunks), filename: "relay.bin")
    }
    let body = try form.body()
    print(body.contentType, body.contentLength ?? -1, body.replay)
}

func compress(_ form: inout MultipartForm) throws {
    let log = Part.file("log", path: "/var/log/app.log")
    try form.append(log.gzip())
    try form.append(log.gzip(level: 9, workers: 4, length: .measured))
    try form.append(log.gzip(mode: .contentEncoding))
}

func upload(_ body: MultipartBody, with client: CurlClient, token: String, trace: String) async throws {
    var request = CurlRequest("PUT", url: "https://example.org/films/1")
    request.authentication = .bearer(token)
    request.totalTimeout = .seconds(3600)
    try request.addHeader("X-Trace", trace)

    let (updates, report) = TransferProgress.makeStream()
    async let response = client.upload(body, request, progress: report)
    for await progress in updates {
        print(progress.fractionCompleted ?? 0, progress.bytesPerSecond ?? 0, progress.secondsRemaining ?? 0)
    }
    print(try await response.status)
}

func read(_ body: MultipartBody, from offset: Int64, to middle: Int64, into span: inout OutputRawSpan) async throws {
    let reader = try body.makeReader(startingAt: offset)
    let count = try reader.read(into: &span)
    for try await chunk in body.chunks(ofSize: 256 * 1024) { print(chunk.count) }
    let half = try body.slice(0..<middle)
    print(count, half.contentLength ?? -1)
}

func copiedShapes(_ data: Data, _ bytes: [UInt8]) throws {
    var first = FormData()
    first.addField(name: "title", value: "Holiday")
    first.addFile(name: "photo", filename: "a.jpg", mimeType: "image/jpeg", data: data)
    print(first.contentType, first.encode().count)

    var second = FormData()
    second.add(key: "title", value: "Holiday")
    second.add(key: "photo", fileName: "a.jpg", fileMimeType: "image/jpeg", fileData: data)
    print(second.httpContentTypeHeaderValue, second.httpBody.count)

    var form = MultipartForm()
    try form.addField(name: "title", value: "Holiday")
    try form.addFile(name: "photo", filename: "a.jpg", mimeType: "image/jpeg", data: bytes)
    let (contentType, httpBody) = (form.contentType, try form.body().collect(upTo: 10_000_000))
    print(contentType, httpBody.count)
}

func transfer(_ body: MultipartBody, to url: URL, and file: URL, by session: URLSession) async throws {
    let response = try await session.upload(body, for: URLRequest(url: url))
    print(response.status)

    for try await event in session.download(for: URLRequest(url: url), to: file) {
        switch event {
        case .progress(let progress): print(progress.fractionCompleted ?? 0)
        case .completed(let file): print(file.path)
        case .failed(let error): print(error)
        }
    }
}

func receive(_ requestBody: AsyncStream<[UInt8]>, contentType: String?, into directory: String) async throws {
    let limits = ParserLimits(fileBytes: 1 << 30, totalBytes: 2 << 30)
    for try await part in try MultipartReader(requestBody, contentType: contentType, limits: limits) {
        if part.headers.isFile {
            let name = part.headers.sanitizedFilename ?? "unnamed"
            try await part.save(to: "\(directory)/\(name)")
        } else {
            print(part.headers.name ?? "", try await part.text(upTo: 10_000))
        }
    }
}

func download(_ client: CurlClient) async throws {
    var download = CurlRequest(url: "https://example.org/film.mkv")
    download.retry = RetryPolicy(maximumAttempts: 5)
    let film = try await client.download(download, toFile: "/data/film.mkv")
    print(film.byteCount, film.resumedBytes)

    for try await chunk in try await client.downloadChunks(download).chunks {
        print(chunk.count)  // the transfer waits for whoever takes them
    }
}

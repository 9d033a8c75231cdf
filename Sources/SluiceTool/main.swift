import Sluice

var form = try MultipartForm(boundary: Boundary("XX YY"))
try form.addField(name: "a\nb\"c", value: "värde")
try form.addFile(name: "file", path: CommandLine.arguments[1])
try form.append(.file("cpu", path: "/proc/cpuinfo"))
try form.append(
    .file(
        "async",
        AsyncSource(
            AsyncStream<[UInt8]> { c in
                for i in 0..<5 { c.yield(Array("chunk \(i)\n".utf8)) }; c.finish()
            }
        ),
        filename: "x.txt"
    )
)
try form.append(
    .file(
        "gen",
        GeneratorSource.restartable {
            var n = 0;
            return { span in
                n += 1; if n < 4 { for b in "gen \(n)\n".utf8 { span.append(b, as: UInt8.self) } }
            }
        },
        filename: "g.txt"
    )
)
try form.append(.form("nested", MultipartForm(subtype: .mixed) { Part.file("n", bytes: [65, 66], filename: "n.bin") }))
let body = try form.body()
print(body.contentType, body.contentLength as Any, body.replay, body.contentRanges)
if CommandLine.arguments.count > 2 {
    var n = 0
    for try await c in body.chunks(ofSize: 1000, progress: { print($0) }) { n += c.count }
    print(n)
} else {
    print(try body.write(to: 1, progress: { p in print(p) }))
}

import Sluice
import SluiceTestSupport
import Testing

@Suite struct MultipartParserTests {
    static let form = [
        "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nHoliday\r\n",
        "--b\r\nContent-Disposition: form-data; name=\"film\"; filename=\"a.mkv\"\r\nContent-Type: video/matroska\r\n\r\n",
        "\r\n--\r\n\r\n--a\r\n--\r--b\r\n\r\n--b  \r\n",
        "content-disposition: form-data; name=empty\r\n\r\n\r\n--b--\r\nepilogue\r\n--b\r\n",
    ].joined()

    @Test func `A form has its parts, names, contents and offsets`() throws {
        let log = try ParserRun().parse(Self.form)
        #expect(log.failure == nil && log.hasEnd)
        #expect(log.parts.map(\.name) == ["title", "film", "empty"])
        #expect(log.parts.map(\.filename) == [nil, "a.mkv", nil])
        #expect(log.texts == ["Holiday", "\r\n--\r\n\r\n--a\r\n--\r--b\r\n", ""])
        #expect(log.parts.filter { !$0.isEnded }.isEmpty)
        #expect(log.endOffset == Int64(Self.form.utf8.count - "epilogue\r\n--b\r\n".utf8.count))
    }

    @Test func `Every cut in two gives the same events`() throws {
        let run = try ParserRun()
        let bytes = Array(Self.form.utf8)
        let whole = run.parse(bytes)
        for chunks in Split.inTwo(bytes) { #expect(run.parse(chunks) == whole) }
        for size in 1..<100 { #expect(run.parse(Split.every(size, bytes)) == whole) }
    }

    @Test func `Every truncation of any form is an error`() throws {
        var tried = 0
        for seed in 0..<100 as Range<UInt64> {
            var generator = RandomForm(seed: seed, sources: RandomForm.plainSources)
            let (_, bytes, contentType) = try generator.next()
            var run = try ParserRun()
            run.contentType = try MultipartContentType(contentType)
            run.policies = ParserPolicies(for: run.contentType.subtype)
            // Names with a NUL, for one, can be written and are not read; and long forms take too long.
            guard bytes.count <= 1000, run.parse(bytes).failure == nil else { continue }
            tried += 1
            for suffix in [ParserPolicies.DelimiterSuffix.reject, .data] {
                run.policies.delimiterSuffix = suffix
                for count in 0...bytes.count {
                    let log = run.parse(Array(bytes[..<count]))
                    // A whole body may lack its last line break.
                    let isWhole = count >= bytes.count - 2
                    #expect(log.hasEnd == isWhole && log.code == (isWhole ? nil : .unexpectedEnd), "seed \(seed)")
                    if !isWhole { #expect(log.errorOffset == Int64(count), "seed \(seed)") }
                }
            }
        }
        #expect(tried >= 10)
    }

    @Test func `Every truncation is an error, but behind the close delimiter`() throws {
        let run = try ParserRun()
        let bytes = Array(Self.form.utf8)
        let close = Int(run.parse(bytes).endOffset) - 2
        for count in 0...bytes.count {
            let log = run.parse(Array(bytes[..<count]))
            #expect(log.hasEnd == (count >= close))
            #expect(log.code == (count >= close ? nil : .unexpectedEnd))
            if count < close { #expect(log.errorOffset == Int64(count)) }
        }
    }
}

import Testing

@testable import Sluice
@testable import SluiceCurl
@testable import SluiceTool

@Suite struct ProgressLinesTests {
    @Test(arguments: [
        (
            TransferProgress.sample(1_288_490_188, of: 2_791_728_742),
            #"46%, 1.20 GiB of 2.60 GiB, 312 MiB/s, 0:05 left, part "video" (2 of 2)"#
        ),
        (.sample(2048, of: nil, rate: nil), #"2.00 KiB, part "video" (2 of 2)"#),
        (.sample(2048, of: nil, name: "a\nb", attempt: 2), #"2.00 KiB, 312 MiB/s, part "a\nb" (2 of 2), attempt 2"#),
        (
            .sample(4096, of: 4096, rate: 2048, elapsed: 2, isFinished: true),
            "100%, 4.00 KiB of 4.00 KiB, 2.00 KiB/s, done in 0:02"
        ),
        (
            .sample(4096, of: 4096, rate: 1024, elapsed: 2, resumed: 2048, isFinished: true),
            "100%, 4.00 KiB of 4.00 KiB, 1.00 KiB/s, done in 0:02, from 2.00 KiB"
        ),
    ])
    func `A plain line says where it is`(progress: TransferProgress, line: String) {
        #expect(ProgressLines.plain(progress) == line)
    }

    @Test(arguments: [
        (
            TransferProgress.sample(250, of: 1000, rate: 100, elapsed: 2.5),
            #"{"transfer":1,"completed":250,"total":1000,"fraction":0.25,"rate":100,"eta":7.5,"attempt":1,"resumed":0,"#
                + #""part":{"name":"video","index":1,"count":2,"completed":150,"total":800},"source":null,"elapsed":2.5,"finished":false}"#
        ),
        (
            .sample(250, of: nil, name: nil, rate: nil, elapsed: 1 / 3, attempt: 3, resumed: 100),
            #"{"transfer":1,"completed":250,"total":null,"fraction":null,"rate":null,"eta":null,"attempt":3,"resumed":100,"#
                + #""part":{"name":null,"index":1,"count":2,"completed":150,"total":null},"source":null,"elapsed":0.3333,"finished":false}"#
        ),
    ])
    func `A JSON line has every key`(progress: TransferProgress, line: String) {
        #expect(ProgressLines.json(progress, transfer: 1) == line)
    }

    @Test func `A note takes the place of the attempt, which is one of several transfers'`() {
        let line = ProgressLines.plain(.sample(1024, of: 2048, rate: nil, attempt: 2), note: "1 of 3 done")
        #expect(line == #"50%, 1.00 KiB of 2.00 KiB, part "video" (2 of 2), 1 of 3 done"#)
    }

    @Test func `A retry is a JSON line, too`() throws {
        let notice = RetryNotice(attempt: 2, reason: .status(503), delay: .milliseconds(1500))
        #expect(
            ProgressLines.json(notice, transfer: 3)
                == #"{"transfer":3,"retrying":{"attempt":2,"delay":1.5,"reason":"the server answered 503"}}"#
        )
    }

    @Test func `A body without parts has no part`() {
        let progress = TransferProgress(
            completedBytes: 5,
            totalBytes: 5,
            part: nil,
            elapsedSeconds: 0,
            bytesPerSecond: nil,
            attempt: 1,
            isFinished: true,
            isLast: true
        )
        #expect(
            ProgressLines.json(progress, transfer: 1).contains(
                #""part":null,"source":null,"elapsed":0,"finished":true}"#
            )
        )
        #expect(ProgressBar.line(progress, columns: 100).hasSuffix("in     0:00"))
    }

    @Test(arguments: [
        ("a", #""a""#), (#"a"b\c"#, #""a\"b\\c""#),
        ("\n\r\t\u{1}\u{1B}\u{7F}\u{85}", #""\n\r\t\u0001\u001b\u007f\u0085""#),
        ("é日🎬", #""é日🎬""#), ("e\u{301}\"\u{301}", #""é\"\#u{301}""#), ("", #""""#),
    ])
    func `Strings are escaped`(text: String, json: String) {
        #expect(JSONText.string(text) == json)
    }

    @Test(arguments: [
        (0.0, "0"), (1.5, "1.5"), (-2.0, "-2"), (0.123_456, "0.1235"), (0.000_01, "0"), (123_456_789.5, "123456789.5"),
        (1e14, "100000000000000"),
    ])
    func `Numbers are written without an exponent`(value: Double, json: String) {
        #expect(JSONText.number(value) == json)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func `What is no number of JSON's is null`(value: Double) {
        #expect(JSONText.number(value) == nil)
    }
}

import Sluice
import SluiceTestSupport
import Testing

/// Each limit: what is just within it passes, one more is its own error at its own byte, wherever chunks end.
@Suite struct ParserLimitTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: MultipartError.Code
        /// What makes a body of `amount` things.
        let body: @Sendable (_ amount: Int) -> String
        /// Sets the limit to an amount.
        let limit: @Sendable (inout ParserLimits, _ amount: Int) -> Void
        /// Where the error is, with one thing too many.
        let offset: @Sendable (_ amount: Int) -> Int
        var amounts = [1, 2, 5]
        var subtype = MultipartForm.Subtype.formData
    }

    private static func text(_ amount: Int) -> String { String(repeating: "v", count: amount) }
    private static let field = "--b\r\nContent-Disposition: form-data; name=n\r\n\r\n"
    private static let multipartField =
        "--b\r\nContent-Disposition: form-data; name=n\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
    private static let file = "--b\r\nContent-Disposition: form-data; name=n; filename=f\r\n\r\n"

    static let cases: [Case] = [
        Case(
            testDescription: "bytes of a field",
            code: .fieldTooLarge,
            body: { "\(field)\(text($0))\r\n--b--" },
            limit: { $0.fieldBytes = Int64($1) },
            offset: { field.utf8.count + $0 }
        ),
        Case(
            testDescription: "bytes of a field that look like a delimiter",
            code: .fieldTooLarge,
            body: { "\(field)\(String(decoding: "\r\n-------".utf8.prefix($0), as: UTF8.self))\r\n--b--" },
            limit: { $0.fieldBytes = Int64($1) },
            offset: { field.utf8.count + $0 },
            amounts: [3, 4, 5]
        ),
        Case(
            testDescription: "bytes of all fields",
            code: .totalFieldsTooLarge,
            body: { "\(field)1\r\n\(field)\(text($0 - 1))\r\n--b--" },
            limit: { $0.totalFieldBytes = Int64($1) },
            offset: { 2 * field.utf8.count + 3 + $0 - 1 },
            amounts: [1, 2, 5]
        ),
        Case(
            testDescription: "bytes of a field that calls itself a multipart",
            code: .fieldTooLarge,
            body: { "\(multipartField)\(text($0))\r\n--b--" },
            limit: { $0.fieldBytes = Int64($1) },
            offset: { multipartField.utf8.count + $0 }
        ),
        Case(
            testDescription: "bytes of all fields, multiparts among them",
            code: .totalFieldsTooLarge,
            body: { "\(multipartField)1\r\n\(field)\(text($0 - 1))\r\n--b--" },
            limit: { $0.totalFieldBytes = Int64($1) },
            offset: { multipartField.utf8.count + 3 + field.utf8.count + $0 - 1 },
            amounts: [1, 2, 5]
        ),
        Case(
            testDescription: "bytes of a file",
            code: .fileTooLarge,
            body: { "\(file)\(text($0))\r\n--b--" },
            limit: { $0.fileBytes = Int64($1) },
            offset: { file.utf8.count + $0 },
            amounts: [1, 2, 5]
        ),
        Case(
            testDescription: "bytes of a part that is no form's",
            code: .fileTooLarge,
            body: { "--b\r\n\r\n\(text($0))\r\n--b--" },
            limit: { $0.fileBytes = Int64($1) },
            offset: { 7 + $0 },
            subtype: .mixed
        ),
        Case(
            testDescription: "parts",
            code: .tooManyParts,
            body: { String(repeating: "\(field)\r\n", count: $0) + "--b--" },
            limit: { $0.partCount = $1 },
            offset: { $0 * (field.utf8.count + 2) + 5 }
        ),
        Case(
            testDescription: "parts without a name",
            code: .tooManyParts,
            body: { String(repeating: "--b\r\n\r\n\r\n", count: $0) + "--b--" },
            limit: { $0.partCount = $1 },
            offset: { $0 * 9 + 5 },
            subtype: .mixed
        ),
        Case(
            testDescription: "header lines",
            code: .tooManyPartHeaders,
            body: { "--b\r\n\(String(repeating: "a: b\r\n", count: $0))\r\n\r\n--b--" },
            limit: { $0.partHeaderCount = $1 },
            offset: { 5 + 6 * $0 },
            subtype: .mixed
        ),
        Case(
            testDescription: "bytes of a part's headers",
            code: .partHeadersTooLarge,
            body: { "--b\r\na: \(text($0 - 7))\r\n\r\n\r\n--b--" },
            limit: { $0.partHeaderBytes = $1 },
            offset: { 5 + $0 },
            amounts: [8, 20, 100],
            subtype: .mixed
        ),
        Case(
            testDescription: "bytes of all headers",
            code: .totalHeadersTooLarge,
            body: { "--b\r\na:\r\n\r\n\r\n--b\r\na: \(text($0 - 13))\r\n\r\n\r\n--b--" },
            limit: { $0.totalHeaderBytes = $1 },
            offset: { 5 + 6 + 2 + 5 + $0 - 6 },
            amounts: [14, 20, 100],
            subtype: .mixed
        ),
        Case(
            testDescription: "parameters",
            code: .tooManyParameters,
            body: { "--b\r\nContent-Disposition: a\(String(repeating: ";", count: $0))\r\n\r\n\r\n--b--" },
            limit: { $0.parameterCount = $1 },
            offset: { 5 + 22 + $0 },
            subtype: .mixed
        ),
        Case(
            testDescription: "padding",
            code: .paddingTooLong,
            body: { "--b\(String(repeating: " ", count: $0))\r\n\r\n\r\n--b--" },
            limit: { $0.paddingBytes = $1 },
            offset: { 3 + $0 },
            subtype: .mixed
        ),
        Case(
            testDescription: "the preamble",
            code: .preambleTooLong,
            body: { "\(text($0))\r\n--b\r\n\r\n\r\n--b--" },
            limit: { $0.preambleBytes = Int64($1) },
            offset: { $0 },
            subtype: .mixed
        ),
        Case(
            testDescription: "the whole body",
            code: .bodyTooLarge,
            body: { "--b\r\n\r\n\(text($0 - 16))\r\n--b--\r\n" },
            limit: { $0.totalBytes = Int64($1) },
            offset: { $0 },
            amounts: [16, 17, 40],
            subtype: .mixed
        ),
    ]

    @Test(arguments: cases)
    func `Just within passes, and one more is an error at its byte`(test: Case) throws {
        for amount in test.amounts {
            var run = try ParserRun("b", test.subtype)
            test.limit(&run.limits, amount)
            let within = run.parseInAllSplits(Array(test.body(amount).utf8))
            #expect(within.difference == nil)
            #expect(within.log.failure == nil && within.log.hasEnd)

            let beyond = run.parseInAllSplits(Array(test.body(amount + 1).utf8))
            #expect(beyond.difference == nil)
            #expect(beyond.log.code == test.code)
            #expect(beyond.log.errorOffset == Int64(test.offset(amount)))
            #expect(!beyond.log.hasEnd)
        }
    }

    @Test(arguments: cases)
    func `Each limit has a status that says whose fault it is`(test: Case) throws {
        #expect([400, 413, 431].contains(MultipartError(test.code, "").suggestedStatus))
    }

    @Test func `Limits are as documented unless set`() {
        let limits = ParserLimits(fileBytes: 1, totalBytes: 2)
        #expect(limits.fieldBytes == 1 << 20 && limits.totalFieldBytes == 8 << 20)
        #expect(limits.partCount == 1000 && limits.partHeaderCount == 16 && limits.parameterCount == 16)
        #expect(limits.partHeaderBytes == 8192 && limits.totalHeaderBytes == 1 << 20)
        #expect(limits.nestingDepth == 2 && limits.paddingBytes == 256 && limits.preambleBytes == 65_536)
    }

    @Test func `Limits of strange size stop everything or nothing`() throws {
        let bytes = Array(MultipartParserTests.form.utf8)
        for strange in [Int64.min, -1, 0] {
            var run = try ParserRun(limits: ParserLimits(fileBytes: strange, totalBytes: strange))
            #expect(run.parse(bytes).code == .bodyTooLarge)
            run.limits.totalBytes = .max
            run.limits.fieldBytes = strange
            #expect(run.parse(bytes).code == .fieldTooLarge)
            run.limits.fieldBytes = .max
            #expect(run.parse(bytes).code == .fileTooLarge)
            run.limits.totalHeaderBytes = Int(strange)
            run.limits.partHeaderBytes = Int(strange)
            #expect(run.parse(bytes).failure != nil)
            run.limits.partCount = Int(strange)
            #expect(run.parse(bytes).code == .tooManyParts)
        }
        var run = try ParserRun()
        run.limits.partHeaderBytes = .max
        run.limits.totalHeaderBytes = .max
        run.limits.paddingBytes = .max
        #expect(run.parseInAllSplits(bytes).difference == nil && run.parse(bytes).hasEnd)
    }

    @Test func `One large field and many small ones are refused before they are kept`() throws {
        let chunk = [UInt8](repeating: 0x41, count: 64 << 10)
        let large = [Array(Self.field.utf8)[...]] + (0..<100).map { _ in chunk[...] }
        let (log, cost) = try ParserRun().parseCounting(large)
        #expect(log.code == .fieldTooLarge && log.errorOffset == Int64(Self.field.utf8.count + 1 << 20))
        #expect(cost.retained <= 5)

        let small = (0..<100).flatMap { _ in
            [Array((Self.field).utf8)[...], chunk[...], chunk[...], Array("\r\n".utf8)[...]]
        }
        #expect(try ParserRun().parse(small).code == .totalFieldsTooLarge)
    }
}

import Sluice
import Testing

@testable import SluiceCurl

/// When something is tried again, and when not; without a network and without waiting.
@Suite struct RetryPolicyTests {
    // MARK: Delays

    @Test(arguments: [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (60, 10), (Int.max, 10)])
    func `Delays double up to the longest`(attempt: Int, seconds: Int) {
        var policy = RetryPolicy()
        policy.maximumDelay = .seconds(10)
        policy.random = { 0 }
        #expect(policy.delay(after: attempt) == .seconds(seconds))
        policy.random = { 1 }
        #expect(policy.delay(after: attempt) == .seconds(seconds) / 2)
    }

    @Test func `Delays are spread over their second half`() {
        let policy = RetryPolicy()
        let delays = (0..<1000).map { _ in policy.delay(after: 3) }
        #expect(delays.allSatisfy { $0 > .seconds(2) && $0 <= .seconds(4) })
        #expect(Set(delays).count > 900)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1), .zero])
    func `Delays without measure are no reason to trap`(delay: Duration) {
        var policy = RetryPolicy()
        policy.baseDelay = delay
        policy.maximumDelay = .seconds(Int64.max)
        #expect(policy.delay(after: .max) >= .zero)
    }

    // MARK: Retry-After

    // RFC 9110 section 10.2.3 and the three forms of section 5.6.7.
    @Test(arguments: [
        ("120", 120), ("0", 0), ("99999999999999999999", 1_000_000_000), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sunday, 06-Nov-94 08:49:47 GMT", 10), ("Sun Nov  6 08:49:47 1994", 10), ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
    ])
    func `A server says when to come back`(value: String, seconds: Int) {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(RetryAfter.delay(value, date: date, now: 0) == .seconds(seconds))
        // 784111777 is that date by `date -d`.
        #expect(RetryAfter.delay(value, date: nil, now: 784_111_777) == .seconds(seconds))
    }

    @Test(arguments: ["", "-1", "soon", "1.5", "1 s", "\u{0}"])
    func `What is neither a number nor a date is nothing`(value: String) {
        #expect(RetryAfter.delay(value, date: nil, now: 0) == nil)
    }

    // MARK: Answers

    private func response(_ status: Int, method: String, _ headers: [(String, String)] = []) -> CurlResponse {
        CurlResponse(
            status: status,
            reason: nil,
            headers: headers.map { (name: $0.0, value: $0.1) },
            body: [],
            method: method,
            url: "",
            httpVersion: "HTTP/1.1",
            sentBytes: 0,
            sentCompletely: true,
            redirectCount: 0,
            attempts: 1,
            elapsedSeconds: 0
        )
    }

    private func state(_ change: (inout RetryPolicy) -> Void = { _ in }, total: Duration? = nil) -> RetryState {
        var request = CurlRequest(url: "")
        request.retry = RetryPolicy()
        request.retry.random = { 0 }
        request.totalTimeout = total
        change(&request.retry)
        return RetryState(request, start: .now)
    }

    @Test(arguments: [
        (408, true, true), (429, true, true), (503, true, true), (502, false, true), (504, false, true),
        (500, false, false), (501, false, false), (400, false, false), (401, false, false), (404, false, false),
        (409, false, false), (413, false, false), (200, false, false), (201, false, false), (304, false, false),
    ])
    func `Answers are tried again where that is safe`(status: Int, forPost: Bool, forPut: Bool) {
        for method in ["POST", "PATCH", "post", "put"] {
            #expect((state().delay(after: response(status, method: method)) != nil) == forPost, "\(method)")
        }
        for method in ["PUT", "GET", "HEAD", "DELETE"] {
            #expect((state().delay(after: response(status, method: method)) != nil) == forPut, "\(method)")
        }
    }

    @Test func `More can be tried again, and less`() {
        let wide = state { policy in
            policy.statuses.insert(500)
            policy.repeatsAnyMethod = true
        }
        #expect(wide.delay(after: response(500, method: "POST")) != nil)
        #expect(wide.delay(after: response(502, method: "POST")) != nil)
        let narrow = state { $0.statuses = [] }
        #expect(narrow.delay(after: response(503, method: "GET")) == nil)
    }

    @Test func `A server that asks for patience gets it, up to a limit`() {
        func delay(_ seconds: String) -> Duration? {
            state().delay(after: response(503, method: "POST", [("retry-after", seconds)]))
        }
        #expect(delay("7") == .seconds(7))
        // Never sooner than without it.
        #expect(delay("0") == .seconds(1))
        #expect(delay("300") == .seconds(300))
        #expect(delay("301") == nil)
        #expect(delay("99999999999999999999") == nil)
        #expect(delay("nonsense") == .seconds(1))
    }

    @Test func `Nothing is tried again behind the deadline, nor behind the transfer's own`() {
        let asked = response(503, method: "POST", [("Retry-After", "20")])
        #expect(state({ $0.deadline = .seconds(19) }).delay(after: asked) == nil)
        #expect(state({ $0.deadline = .seconds(60) }).delay(after: asked) == .seconds(20))
        #expect(state(total: .seconds(19)).delay(after: asked) == nil)
        #expect(state({ $0.deadline = .seconds(60) }, total: .seconds(19)).delay(after: asked) == nil)
    }

    @Test func `Nothing is tried more often than was asked for`() {
        var state = state { $0.maximumAttempts = 3 }
        var delays: [Duration] = []
        while let delay = state.delay(after: response(503, method: "GET")), delays.count < 10 {
            delays.append(delay)
            state.begin()
        }
        #expect(delays == [.seconds(1), .seconds(2)])
        #expect(self.state({ $0.maximumAttempts = 1 }).delay(after: response(503, method: "GET")) == nil)
    }

    // MARK: Errors

    @Test(arguments: [
        TransferError.Code.couldNotResolve, .couldNotConnect, .connectionLost, .idleTimeout, .timeout,
    ])
    func `A request that the server has not seen is tried again, whatever its method`(code: TransferError.Code) {
        let error = TransferError(code, "")
        #expect(state().delay(after: error, method: "POST", isUntouched: true) != nil)
    }

    @Test(arguments: [TransferError.Code.connectionLost, .idleTimeout])
    func `A request that was lost in the middle is tried again where that makes no difference`(code: TransferError.Code)
    {
        let error = TransferError(code, "")
        #expect(state().delay(after: error, method: "POST", isUntouched: false) == nil)
        #expect(state().delay(after: error, method: "PUT", isUntouched: false) != nil)
        #expect(state({ $0.repeatsAnyMethod = true }).delay(after: error, method: "POST", isUntouched: false) != nil)
    }

    @Test(arguments: [
        TransferError.Code.invalidRequest, .tls, .tooManyRedirects, .bodyNotReplayable, .bodyFailed, .responseTooLarge,
        .cancelled, .clientClosed, .protocolError, .resourcesExhausted, .other, .insecureRedirect, .unexpectedStatus,
        .contentMismatch, .fileFailed, .fileInUse,
    ])
    func `What another attempt would not change is not tried again`(code: TransferError.Code) {
        #expect(state().delay(after: TransferError(code, ""), method: "GET", isUntouched: true) == nil)
    }

    @Test func `The whole transfer's time is not tried again`() {
        #expect(state().delay(after: TransferError(.timeout, ""), method: "GET", isUntouched: false) == nil)
    }

    @Test(arguments: ["attempts", "base", "longest", "retry-after", "deadline"])
    func `A policy that makes no sense is refused`(what: String) async throws {
        var request = CurlRequest(url: "http://127.0.0.1:1/")
        switch what {
        case "attempts": request.retry.maximumAttempts = 0
        case "base": request.retry.baseDelay = .seconds(-1)
        case "longest": request.retry.maximumDelay = .seconds(-1)
        case "retry-after": request.retry.maximumRetryAfter = .seconds(-1)
        default: request.retry.deadline = .seconds(-1)
        }
        #expect(await failure { try await CurlClient().download(request) }?.code == .invalidRequest)
    }

    // MARK: Validators and ranges

    @Test(arguments: [
        ("\"a\"", true), ("\"\"", true), ("\"ä\"", true), ("W/\"a\"", false), ("a", false), ("\"", false),
        ("\"a b\"", false),
        ("\"\(String(repeating: "a", count: 1022))\"", true), ("\"\(String(repeating: "a", count: 1023))\"", false),
        // What a byte becomes that is no UTF-8.
        ("\"\u{FFFD}\"", false), ("\"a\"b\"", false), ("\"a\r\nX: y\"", false), ("", false),
    ])
    func `Only a strong entity tag says that bytes are the same`(tag: String, isStrong: Bool) {
        #expect((Validator(.etag, tag) != nil) == isStrong)
        #expect((Validator { $0 == "ETag" ? tag : nil } != nil) == isStrong)
    }

    @Test func `A time of modification counts where it is older than the answer`() {
        func validator(_ modified: String, _ date: String?) -> Validator? {
            Validator { name in
                switch name {
                case "Last-Modified": modified
                case "Date": date
                default: nil
                }
            }
        }
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(validator(modified, "Sun, 06 Nov 1994 08:49:38 GMT")?.value == modified)
        #expect(validator(modified, "Sun, 06 Nov 1994 08:49:37 GMT") == nil)
        #expect(validator(modified, nil) == nil)
        #expect(validator("yesterday", "Sun, 06 Nov 1994 08:49:38 GMT") == nil)
    }

    @Test func `A server without ranges has nothing to go on with`() {
        #expect(Validator { ["ETag": "\"a\"", "Accept-Ranges": "none"][$0] } == nil)
    }

    // RFC 9110 section 14.4.
    @Test(arguments: [
        ("bytes 0-499/1234", 0, 499, 1234), ("bytes 42-1233/1234", 42, 1233, 1234), ("Bytes 5-5/6", 5, 5, 6),
        ("bytes 42-1233/*", 42, 1233, nil),
    ])
    func `A content range is read`(text: String, first: Int64, last: Int64, total: Int64?) throws {
        let range = try #require(ContentRange(text))
        #expect((range.first, range.last) == (first, last))
        #expect(range.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes */1234", "bytes 5-4/10", "bytes 0-10/10", "bytes -5-4/10", "items 0-4/10", "bytes 0-4",
        "bytes 0-/10",
        "bytes 0-4/x", "bytes 0-99999999999999999999/*", "bytes 0-9223372036854775807/*", "bytes +0-4/10",
        "bytes 0-4/10/10",
        "bytes 0-4/10 x",
    ])
    func `A content range that contradicts itself is none`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func `A record is read as it was written`() throws {
        for (kind, value) in [(Validator.Kind.etag, "\"a\""), (.modified, "Sun, 06 Nov 1994 08:49:37 GMT")] {
            for total in [nil, 0, Int64.max] {
                let validator = try #require(Validator(kind, value))
                let record = PartialRecord(urlDigest: "ab", validator: validator, total: total)
                #expect(PartialRecord(record.text) == record)
                #expect(PartialRecord(String(record.text.prefix(30))) == nil)
            }
        }
        for text in ["length -1", "length x", "etag W/\"a\"", "modified x"] {
            #expect(
                PartialRecord("sluice-partial-1\nurl-sha256 ab\netag \"a\"\n\(text)\n") == nil || text.hasPrefix("mod")
            )
        }
    }

    // MARK: SHA-256

    // FIPS 180-4's examples, and the million letters of NIST's.
    @Test(arguments: [
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func `SHA-256 is the standard's`(text: String, times: Int, expected: String) throws {
        let hash = try #require(SHA256())
        let bytes = Array(String(repeating: text, count: times).utf8)
        // In pieces that fit no block.
        for start in stride(from: 0, to: bytes.count, by: 999) {
            unsafe bytes[start..<min(start + 999, bytes.count)].withUnsafeBytes { unsafe hash.add($0) }
        }
        #expect(hash.finish().hexadecimal == expected)
    }
}

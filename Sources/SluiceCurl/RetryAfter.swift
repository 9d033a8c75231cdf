internal import CCurl

/// When to come back, in the words of RFC 9110 section 10.2.3.
enum RetryAfter {
    /// Reads a `Retry-After`: seconds, or a date.
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - date: The value of the answer's `Date`, so that a clock that is wrong makes no difference.
    ///   - now: The seconds since 1970 by this machine's clock, where there is no `Date`.
    /// - Returns: The time to wait, none for a date that has passed; nil for what is neither.
    static func delay(_ value: String, date: String?, now: @autoclosure () -> Int64) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number holds are longer than anybody waits.
            return .seconds(min(Int64(value) ?? .max, 1_000_000_000))
        }
        guard let then = HTTPDate.seconds(value) else { return nil }
        let seconds = then - (date.flatMap { HTTPDate.seconds($0) } ?? now())
        return .seconds(min(max(seconds, 0), 1_000_000_000))
    }
}

/// A date as RFC 9110 section 5.6.7 has it.
enum HTTPDate {
    /// The seconds since 1970; nil for what is no date.
    static func seconds(_ text: String) -> Int64? {
        let seconds = unsafe curl_getdate(text, nil)
        return seconds < 0 ? nil : Int64(seconds)
    }
}

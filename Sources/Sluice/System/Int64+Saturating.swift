extension Int64 {
    /// The sum, or the number nearest to it that there is: for lengths that somebody else says, and may make up.
    package func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}

extension ParserPolicies.NameDecoding {
    /// What a backslash does to a quotation mark behind it.
    var backslash: ParameterScanner.Backslash {
        self == .percent ? .stands : .escapes
    }

    /// What the inside of a quoted string stands for.
    func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .compatible:
            Self.withoutBackslashes(bytes) { $0 == UInt8(ascii: "\"") }
        case .backslash:
            Self.withoutBackslashes(bytes) { _ in true }
        case .percent:
            Self.percentDecoded(bytes)
        }
    }

    /// Drops the backslashes before those bytes that `isEscaped` names.
    ///
    /// A backslash and what follows it are a pair whether it is dropped or not.
    private static func withoutBackslashes(_ bytes: ArraySlice<UInt8>, _ isEscaped: (UInt8) -> Bool) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return Array(bytes) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < bytes.endIndex else {
                result.append(byte)
                continue
            }
            if !isEscaped(bytes[index]) { result.append(byte) }
            result.append(bytes[index])
            index += 1
        }
        return result
    }

    /// Decodes `%22`, `%0D` and `%0A`, and nothing else.
    private static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return Array(bytes) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let second = rest.dropFirst().first, let first = rest.first else {
                result.append(byte)
                continue
            }
            let decoded: UInt8
            switch (first, second) {
            case (UInt8(ascii: "2"), UInt8(ascii: "2")): decoded = UInt8(ascii: "\"")
            case (UInt8(ascii: "0"), UInt8(ascii: "D")), (UInt8(ascii: "0"), UInt8(ascii: "d")): decoded = 0x0D
            case (UInt8(ascii: "0"), UInt8(ascii: "A")), (UInt8(ascii: "0"), UInt8(ascii: "a")): decoded = 0x0A
            default:
                result.append(byte)
                continue
            }
            result.append(decoded)
            rest = rest.dropFirst(2)
        }
        return result
    }
}

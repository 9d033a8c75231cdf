import Foundation

/// JSON as a test looks at it.
struct JSONValue {
    private let value: Any?

    init(_ bytes: [UInt8]) throws {
        value = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }

    private init(value: Any?) {
        self.value = value is NSNull ? nil : value
    }

    subscript(key: String) -> JSONValue {
        JSONValue(value: (value as? [String: Any])?[key])
    }

    var string: String? { value as? String }
    var number: Double? { (value as? NSNumber)?.doubleValue }
    var isNull: Bool { value == nil }
    var keys: Set<String> { Set((value as? [String: Any] ?? [:]).keys) }
    var array: [JSONValue] { (value as? [Any] ?? []).map(JSONValue.init(value:)) }

    /// A text member of each of the array's objects.
    func map(_ key: String) -> [String?] { array.map { $0[key].string } }
}

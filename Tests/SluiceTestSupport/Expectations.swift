package import Sluice

/// Whether `body` throws the engine's error of this kind, for `#expect`.
package func throwing<Result>(_ code: MultipartError.Code, _ body: () throws -> Result) -> Bool {
    failure(of: body)?.code == code
}

/// The engine's error that `body` throws; nil where it throws none or another one.
package func failure<Result>(of body: () throws -> Result) -> MultipartError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? MultipartError
    }
}

/// The same for code that awaits.
package func failure<Result>(of body: () async throws -> Result) async -> MultipartError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? MultipartError
    }
}

/// Where two runs of bytes differ, in words; nil where they do not.
///
/// For long ones in `#expect`, which takes minutes to show all that differs in a megabyte.
package func difference(_ first: [UInt8], _ second: [UInt8]) -> String? {
    if first == second { return nil }
    let place = zip(first, second).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    return
        "\(first.count) and \(second.count) bytes, the first difference at \(place ?? min(first.count, second.count))"
}

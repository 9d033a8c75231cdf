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

public import Foundation
public import Sluice

/// A form in memory with the method names that code around the web uses, to take that code's own type's place.
///
/// ```swift
/// var form = FormData()  // the one line that changes
/// form.addField(name: "title", value: "Holiday")
/// form.addFile(name: "photo", filename: "beach.jpg", mimeType: "image/jpeg", data: photo)
/// request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
/// request.httpBody = form.encode()
/// ```
///
/// Code that says ``add(key:value:)`` and ``httpBody`` compiles as well. Nothing throws, and nothing that is added can
/// break out of its place: names and filenames are written as browsers write them (the WHATWG's multipart/form-data
/// encoding algorithm to the letter, with newlines in names and values as CRLF). What cannot be sent is replaced, and
/// ``problems`` says so: a MIME type that is none by `application/octet-stream`, a boundary that is none by a random
/// one.
///
/// Files are held and not copied; ``encode()`` makes one copy of everything, because it has to give one `Data`.
/// The step from there to a body of constant memory is ``body()``:
///
/// ```swift
/// request.setMultipartBody(try form.body())
/// ```
public struct FormData: Sendable {
    /// What could not be sent as it was given, in the order in which it was; empty where all could.
    public private(set) var problems: [MultipartError] = []
    private var form: MultipartForm
    private let isBoundaryRandom: Bool

    /// An empty form with a random boundary.
    public init() {
        form = MultipartForm(escaping: .html)
        isBoundaryRandom = true
    }

    /// An empty form with a boundary of the caller's.
    ///
    /// - Parameter boundary: What separates the parts, as RFC 2046 allows it; else a random one takes its place, and
    ///   ``problems`` has the reason. It must not occur in what is sent, and must not be predictable where that comes
    ///   from others: ``init()`` needs no such care.
    public init(boundary: String) {
        do throws(MultipartError) {
            form = MultipartForm(boundary: try Boundary(boundary), escaping: .html)
            isBoundaryRandom = false
        } catch {
            form = MultipartForm(escaping: .html)
            isBoundaryRandom = true
            problems = [error]
        }
    }

    /// What separates the parts.
    public var boundary: String { form.boundary.description }

    /// The value of the Content-Type header that goes with the body, with the boundary quoted where it has to be.
    public var contentType: String { form.contentType }

    /// Adds a text field.
    ///
    /// - Parameters:
    ///   - name: The field's name; any text.
    ///   - value: The value, sent as UTF-8, each newline as CRLF.
    public mutating func addField(name: String, value: String) {
        append(.field(name, value))
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - name: The field's name; any text.
    ///   - filename: The name that the receiver is told; any text.
    ///   - mimeType: The file's type. One that is not `type/subtype` is sent as `application/octet-stream`, and
    ///     ``problems`` has the reason.
    ///   - data: The file's bytes, held and not copied.
    public mutating func addFile(name: String, filename: String, mimeType: String, data: Data) {
        var mediaType = MediaType.octetStream
        do throws(MultipartError) {
            mediaType = try MediaType(mimeType)
        } catch {
            let label = MultipartError.PartLabel(index: form.parts.count, name: name)
            problems.append(MultipartError(error.code, error.reason, part: label))
        }
        append(.file(name, data: data, filename: filename, mediaType: mediaType))
    }

    /// The body in memory.
    ///
    /// - Returns: The bytes: all of the form's, copied once.
    public func encode() -> Data {
        // Everything is in memory and `.html` can write every name, so there is nothing left that could throw.
        (try? form.body().data(upTo: .max)) ?? Data()
    }

    /// The form as a body to be streamed, which takes no memory besides what the form holds.
    ///
    /// The bytes are those of ``encode()``. This is the strict way: nothing is replaced.
    ///
    /// - Returns: The body.
    /// - Throws: The first of ``problems``; and `MultipartError` with the code `boundaryConflict` where a boundary of
    ///   the caller's occurs in what is sent, which costs a pass over the bytes.
    public func body() throws(MultipartError) -> MultipartBody {
        if let problem = problems.first { throw problem }
        var form = form
        form.checksMemoryForBoundary = !isBoundaryRandom
        return try form.body()
    }

    private mutating func append(_ part: Part) {
        do throws(MultipartError) {
            try form.append(part)
        } catch {
            problems.append(error)
        }
    }
}

/// A form as a source of bytes: what a compressed part that is a form itself is made of.
///
/// A form that is not compressed is no source, but part of the layout around it.
struct FormSource: InterruptibleSource {
    private let layout: BodyLayout

    /// - Parameters:
    ///   - form: The form.
    ///   - enclosing: The descriptions of the parts around it, outermost first.
    ///   - interrupt: Ends reads of what its parts are compressed from before.
    /// - Throws: What is wrong with its parts.
    init(_ form: MultipartForm, enclosing: [String], interrupt: ReadInterrupt?) throws(MultipartError) {
        layout = try BodyLayout(form, enclosing: enclosing, interrupt: interrupt)
    }

    var knownLength: Int64? { layout.contentLength }
    var replay: Replay { min(layout.replay, .restartable) }

    func open(interrupt: ReadInterrupt?) throws(MultipartError) -> any ByteCursor {
        Cursor(BodyReader(layout, segments: layout.segments.indices, interrupt: interrupt))
    }

    private final class Cursor: ByteCursor {
        private let reader: BodyReader

        init(_ reader: BodyReader) {
            self.reader = reader
        }

        func read(into buffer: inout OutputRawSpan) throws(MultipartError) {
            _ = try reader.read(into: &buffer)
        }
    }
}

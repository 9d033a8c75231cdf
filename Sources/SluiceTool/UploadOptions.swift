import Sluice
import SluiceCurl

/// What the options of `sluice upload` say about one upload, checked as far as that takes no network and no files.
struct UploadOptions: Sendable {
    private(set) var form = FormOptions()
    private(set) var request: RequestOptions
    /// How the body is sent.
    var method: String { request.method ?? "POST" }
    /// The file for the answer; nil for standard output.
    private(set) var output: String?
    private(set) var failsOnError = false

    /// Reads the arguments.
    ///
    /// - Parameter arguments: The parsed command line, or what of it is about this upload.
    /// - Throws: A usage error.
    init(_ arguments: ParsedArguments) throws(ToolError) {
        guard let url = arguments.operands.first else { throw .usage("there is no URL to upload to") }
        guard arguments.operands.count == 1 else {
            // Not shown: a URL may hold a password.
            throw .usage(
                "there is one argument too many behind the URL; a part is given with -F, another URL with --next"
            )
        }
        request = RequestOptions(url: url, responseLimit: 64 << 20)
        for given in arguments.options {
            if try form.take(given) { continue }
            if try request.take(given) { continue }
            switch given.option {
            case .fail: failsOnError = true
            case .output: output = given.value == "-" ? nil : given.value
            default: break
            }
        }
        try request.check()
    }
}

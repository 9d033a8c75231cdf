import SluiceTestSupport

/// The servers that the uploads of these tests go to.
enum UploadServers {
    /// A real server; started by whichever test asks first.
    static let real = Result { try ServerProcess("upload_server.py") }

    /// The real server's URL for a path.
    static func url(_ path: String) throws -> String {
        try real.get().url(path)
    }

    /// A port that nobody listens on.
    static let refusing = "http://127.0.0.1:1/"
}

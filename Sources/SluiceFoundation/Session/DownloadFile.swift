internal import Foundation
internal import Sluice
internal import Synchronization

/// The file of a download: written beside its place, and moved there when it is whole.
///
/// Until then, and on every failure, whatever is in the place stays as it is.
final class DownloadFile: Sendable {
    /// Its place.
    let url: URL
    /// Nil once it is in its place, or given up.
    private let file: Mutex<NewFile?>

    /// Makes the temporary file, in the directory that the download is for, so that the move is one `rename`.
    ///
    /// - Parameter url: A `file:` URL. Where a symbolic link is there, the file that it leads to is replaced.
    /// - Throws: ``SessionError/Code/fileFailed`` where no file can be there, or what is there may not be replaced.
    init(_ url: URL) throws(SessionError) {
        guard url.isFileURL else {
            throw SessionError(.fileFailed, "the download's place \(url.shown) is not a file; give a file: URL")
        }
        self.url = url
        do {
            // A path of Foundation's does not end in the slash that says it is a directory's.
            let new = try NewFile(url.hasDirectoryPath ? url.path + "/" : url.path, replacing: .file)
            try new.create()
            file = Mutex(new)
        } catch {
            throw Self.failure(error)
        }
    }

    /// Writes the next bytes.
    func write(_ data: Data) throws(SessionError) {
        guard let file = file.withLock(\.self) else { return }
        let outcome = unsafe data.withUnsafeBytes { bytes in
            Result { () throws(MultipartError) in unsafe try file.append(bytes) }
        }
        do { try outcome.get() } catch { throw Self.failure(error) }
    }

    /// Moves the file to its place, in one step.
    func commit() throws(SessionError) {
        do { try file.withLock { $0.take() }?.commit() } catch { throw Self.failure(error) }
    }

    /// Removes what was written; does nothing after ``commit()``.
    func discard() {
        file.withLock { $0.take() }?.discard()
    }

    private static func failure(_ error: MultipartError) -> SessionError {
        SessionError(.fileFailed, "the download's file: \(error)")
    }
}

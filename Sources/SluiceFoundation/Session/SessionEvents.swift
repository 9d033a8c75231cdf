public import Foundation
public import Sluice

/// What happens in an upload, in order.
public enum SessionUploadEvent: Sendable {
    /// How far it is.
    ///
    /// Only the newest report is kept for whoever is slow to ask.
    case progress(TransferProgress)
    /// The server's answer, whatever its status is; nothing follows.
    case response(SessionResponse)
}

/// What happens in a download, in order.
public enum SessionDownloadEvent: Sendable {
    /// How far it is.
    ///
    /// Only the newest report is kept for whoever is slow to ask.
    case progress(TransferProgress)
    /// All of it is in its place, under this URL; nothing follows.
    case completed(URL)
    /// It failed, and the file that was there before, if any, is as it was.
    ///
    /// The stream then throws the same error, so that nobody who overlooks this takes it for a success.
    case failed(SessionError)
}

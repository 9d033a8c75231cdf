import Sluice
internal import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The directory into which received files go.
final class Inbox: Sendable {
    /// Its path, as the user gave it.
    let path: String
    /// It, opened once: whatever becomes of the path meanwhile, files go to the same place.
    let descriptor: Int32
    private let place: Place

    /// Opens a directory, and makes it where there is none.
    ///
    /// One that was made for this goes again where a signal ends the tool before there is anything in it.
    ///
    /// - Parameter path: Its path; the directory around it has to be there.
    /// - Throws: Where there is none and none can be made.
    init(_ path: String) throws(ToolError) {
        self.path = path
        let place = Place(path)
        self.place = place
        do throws(Errno) {
            try place.make()
        } catch {
            place.forget()
            throw .system(.cannotCreate, path, "cannot be made", error.rawValue)
        }
        do throws(Errno) {
            descriptor = try SystemCalls.openDirectory(path, in: AT_FDCWD, followingLinks: true)
        } catch {
            place.removeIfNew()
            place.forget()
            throw .system(.cannotCreate, path, "cannot be opened as a directory", error.rawValue)
        }
    }

    deinit {
        place.forget()
        close(descriptor)
    }

    /// Takes it away again if it was made for this and is empty.
    func removeIfNew() {
        place.removeIfNew()
    }

    /// Leaves it there, whatever comes.
    func keep() {
        place.forget()
    }

    /// The path of a file in it.
    func path(of name: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// The bytes that are free on its disk for those who are not root; nil where the system does not say.
    var freeBytes: Int64? {
        var status = statvfs()
        guard unsafe fstatvfs(descriptor, &status) == 0 else { return nil }
        return Int64(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
        )
    }

    /// A path at which there may be no directory yet, and who made it.
    private final class Place: Sendable {
        private struct State {
            var isNew = false
            /// Whether it is too late to make it.
            var isOver = false
            var cleanup: Cleanup.Token?
        }

        private let path: String
        private let state = Mutex(State())

        init(_ path: String) {
            self.path = path
        }

        /// Makes the directory unless it is there.
        func make() throws(Errno) {
            // Before there is one, so that no signal finds one that nobody removes.
            let token = Cleanup.add { self.removeIfNew() }
            try state.withLock { state throws(Errno) in
                state.cleanup = token
                if state.isOver { throw .canceled }
                do throws(Errno) {
                    try SystemCalls.makeDirectory(path, in: AT_FDCWD, mode: 0o777)
                    state.isNew = true
                } catch {
                    if error != .exists { throw error }
                }
            }
        }

        func removeIfNew() {
            state.withLock { state in
                if state.isNew { _ = unsafe rmdir(path) }
                state.isNew = false
                state.isOver = true
            }
        }

        /// Leaves the directory as it is, whatever comes.
        func forget() {
            if let token = state.withLock({ $0.cleanup.take() }) { Cleanup.forget(token) }
        }
    }
}

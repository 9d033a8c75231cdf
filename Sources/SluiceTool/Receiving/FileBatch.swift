internal import CSluiceTool
import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Files that are received together: all of them get their names, or none does.
final class FileBatch {
    /// What happens where there is a file of that name already.
    enum Collision: Sendable {
        /// It is an error, and no file gets its name.
        case refuse
        /// It is replaced; a symbolic link itself, not what it leads to.
        case replace
        /// The new file gets another name, with a number.
        case number
    }

    private struct Entry {
        /// Its name in the staging directory.
        let staged: String
        var name: String
        /// Whether it has its name.
        var isNamed = false
        /// The name that the file which it replaces has in the staging directory.
        var old: String?
    }

    private let inbox: Inbox
    private let collision: Collision
    private var staging: StagingDirectory?
    private var entries: [Entry] = []
    /// The names given so far, in lower case: on some file systems that makes no difference.
    private var names: Set<String> = []
    /// How often each name was asked for, so that many files of one name do not try all numbers again and again.
    private var counts: [String: Int] = [:]
    private var file: OpenFile?
    private let mode = CreationMask.fileMode

    private struct OpenFile {
        let descriptor: Int32
        var size: Int64 = 0
        /// Up to where there are blocks; nil where the file system sets none aside.
        var reserved: Int64? = 0
    }

    /// The most bytes for which blocks are set aside at a time.
    private static let mostReserved: Int64 = 64 << 20
    /// A file that stays below needs none.
    private static let leastReserved: Int64 = 1 << 20

    init(in inbox: Inbox, _ collision: Collision) {
        self.inbox = inbox
        self.collision = collision
    }

    deinit {
        discard()
    }

    /// Begins a file, the one that is written from now on.
    ///
    /// - Parameter name: The name that it is to have, safe to use. It gets a number where the batch has that name already.
    /// - Throws: ``MultipartError/Code/writeFailed`` where it cannot be created, ``MultipartError/Code/fileExists`` where it
    ///   is clear by now that it will not get its name.
    func begin(_ name: String) throws(MultipartError) {
        closeFile()
        let name = distinct(name)
        if collision == .refuse { try refuse(exists(name), name) }
        if staging == nil { staging = try StagingDirectory(in: inbox, holdsOld: collision == .replace) }
        guard let staging else { return }
        do throws(Errno) {
            let created = try staging.createFile()
            file = OpenFile(descriptor: created.descriptor)
            entries.append(Entry(staged: created.name, name: name))
        } catch {
            throw failure(error, name)
        }
    }

    /// Writes to the file that was begun last.
    ///
    /// - Parameter bytes: The bytes, lent for the call.
    /// - Throws: ``MultipartError/Code/writeFailed`` where not all of them can be written.
    func write(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
        guard let file, let entry = entries.last else { return }
        reserve(bytes.count)
        do {
            try unsafe SystemCalls.writeAll(bytes, to: file.descriptor)
        } catch {
            throw failure(error, entry.name)
        }
        self.file?.size += Int64(bytes.count)
    }

    /// No more bytes than these can still be written.
    var mostToCome = Int64.max

    /// The bytes for which blocks are set aside that are still to be written.
    var reservedBytes: Int64 { file.map { max(($0.reserved ?? 0) - $0.size, 0) } ?? 0 }

    /// Sets blocks aside for as much as was written already, which is quicker than to look for each as it is written.
    ///
    /// What is too much is given back at the file's end. Where there is no room, writing will say so.
    private func reserve(_ count: Int) {
        guard let file, let reserved = file.reserved, file.size >= Self.leastReserved else { return }
        guard file.size + Int64(count) > reserved else { return }
        let start = max(reserved, file.size)
        let room = max(min(file.size, Self.mostReserved, mostToCome), Int64(count))
        let isReserved = sluice_reserve_blocks(file.descriptor, start, room) == 0
        self.file?.reserved = isReserved ? start + room : nil
    }

    /// Ends the file that was begun last.
    ///
    /// - Throws: ``MultipartError/Code/writeFailed`` where it could not be kept.
    func end() throws(MultipartError) {
        guard let file, let entry = entries.last else { return }
        self.file = nil
        // Gives back the blocks behind the end, too, though the size does not change.
        if file.size >= Self.leastReserved { _ = ftruncate(file.descriptor, off_t(file.size)) }
        // Nobody else can get at it before it has its name. Not every file system knows permissions.
        try? SystemCalls.setPermissions(of: file.descriptor, to: mode)
        do {
            try SystemCalls.closeWritten(file.descriptor)
        } catch {
            throw failure(error, entry.name)
        }
    }

    /// Gives all files their names.
    ///
    /// - Returns: The names, in the order of ``begin(_:)``.
    /// - Throws: ``MultipartError/Code/fileExists`` or ``MultipartError/Code/writeFailed``; everything is then as it was.
    func commit() throws(MultipartError) -> [String] {
        guard let staging = staging.take() else { return [] }
        defer { staging.remove() }
        try staging.withoutInterruption { directory, kept throws(MultipartError) in
            for index in entries.indices {
                do throws(MultipartError) {
                    try giveName(&entries[index], from: directory)
                } catch {
                    kept = entries[...index].reversed().compactMap { takeName($0, from: directory) }
                    throw kept.isEmpty ? error : Self.leaving(kept.map(staging.path), error)
                }
            }
        }
        return entries.map(\.name)
    }

    /// The error, where old files could not be put back, and have these paths now.
    private static func leaving(_ paths: [String], _ error: MultipartError) -> MultipartError {
        MultipartError(
            error.code,
            "\(error.reason), nor put back what was there: it is now \(paths.map(printable).joined(separator: ", "))",
            path: error.path,
            errno: error.errno
        )
    }

    /// Takes away what was written.
    func discard() {
        closeFile()
        staging?.remove()
        staging = nil
    }

    private func closeFile() {
        if let file { close(file.descriptor) }
        file = nil
    }

    // MARK: Names

    /// The name, with a number where the batch has it already.
    private func distinct(_ name: String) -> String {
        var number = counts[name.lowercased(), default: 0]
        var candidate: String
        repeat {
            number += 1
            candidate = NumberedName.name(name, number)
        } while !names.insert(candidate.lowercased()).inserted
        counts[name.lowercased()] = number
        return candidate
    }

    private func giveName(_ entry: inout Entry, from directory: Int32) throws(MultipartError) {
        var number = 1
        while true {
            let name = NumberedName.name(entry.name, number)
            do throws(Errno) {
                try SystemCalls.renameNew(entry.staged, in: directory, to: name, in: inbox.descriptor)
                entry.name = name
                entry.isNamed = true
                return
            } catch {
                guard error == .exists else { throw failure(error, name) }
            }
            switch collision {
            case .refuse: try refuse(true, name)
            case .replace: return try replace(&entry, from: directory)
            case .number: number += 1
            }
        }
    }

    private func replace(_ entry: inout Entry, from directory: Int32) throws(MultipartError) {
        var status = stat()
        let isThere = unsafe fstatat(inbox.descriptor, entry.name, &status, AT_SYMLINK_NOFOLLOW) == 0
        if isThere, status.st_mode & S_IFMT == S_IFDIR { throw failure(.isDirectory, entry.name) }
        do throws(Errno) {
            do throws(Errno) {
                try SystemCalls.exchangeNames(entry.staged, in: directory, entry.name, in: inbox.descriptor)
                entry.old = entry.staged
            } catch {
                // Not every file system can.
                try setAside(&entry, in: directory)
                try SystemCalls.rename(entry.staged, in: directory, to: entry.name, in: inbox.descriptor)
            }
        } catch {
            throw failure(error, entry.name)
        }
        entry.isNamed = true
    }

    /// Keeps the file that is to be replaced, by a second name where it can have one: so its own is never free.
    private func setAside(_ entry: inout Entry, in directory: Int32) throws(Errno) {
        let old = StagingDirectory.nameOfOld(entry.staged)
        do throws(Errno) {
            try SystemCalls.link(entry.name, in: inbox.descriptor, to: old, in: directory)
        } catch {
            // Gone meanwhile.
            if error == .notFound { return }
            try SystemCalls.rename(entry.name, in: inbox.descriptor, to: old, in: directory)
        }
        entry.old = old
    }

    /// Undoes what ``giveName(_:from:)`` did, or as much as it did.
    ///
    /// - Returns: The name in the staging directory of an old file that could not be put back.
    private func takeName(_ entry: Entry, from directory: Int32) -> String? {
        if let old = entry.old {
            let isBack: Void? = try? SystemCalls.rename(old, in: directory, to: entry.name, in: inbox.descriptor)
            return isBack == nil ? old : nil
        }
        if entry.isNamed { _ = unsafe unlinkat(inbox.descriptor, entry.name, 0) }
        return nil
    }

    private func exists(_ name: String) -> Bool {
        var status = stat()
        return unsafe fstatat(inbox.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    private func refuse(_ exists: Bool, _ name: String) throws(MultipartError) {
        guard exists else { return }
        throw MultipartError(.fileExists, "is there already; --force replaces it", path: inbox.path(of: name))
    }

    private func failure(_ error: Errno, _ name: String) -> MultipartError {
        MultipartError(.writeFailed, "cannot be written", path: inbox.path(of: name), errno: error.rawValue)
    }
}

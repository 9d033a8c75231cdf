import Foundation
import SluiceTestSupport
import Testing

extension TemporaryDirectory {
    var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

    /// Makes a file of the given bytes.
    func fileURL(_ name: String, _ bytes: [UInt8]) throws -> URL {
        URL(fileURLWithPath: try file(name, bytes))
    }
}

extension ServerProcess {
    func endpoint(_ path: String) throws -> URL {
        try #require(URL(string: url(path)))
    }
}

/// Cuts a file to a size.
func cut(_ file: URL, to size: Int) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: UInt64(size))
    try handle.close()
}

/// The number of this process's descriptors that are open for this file.
func descriptorsOpen(for path: String) -> Int {
    ProcessState.openDescriptors().values.count { $0 == path }
}

/// Bytes that repeat only after 251, so that a page or buffer out of place shows.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
}

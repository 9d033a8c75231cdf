internal import CCurl
internal import CZlib
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the figures were made on, and with.
struct Machine: Codable {
    var processor: String
    var cores: Int
    var memoryMebibytes: Int
    var system: String
    var kernel: String
    var compiler: String
    var isOptimized: Bool
    /// Libraries, programs that are limits, and peers by name; a peer that is not installed is "absent".
    var versions: [String: String]

    /// - Parameter peers: The peers whose versions are asked for.
    init(peers: [String]) {
        func field(_ path: String, _ name: String, _ separator: Character) -> String? {
            let line = (try? Libc.contents(path))?.split(separator: "\n").first { $0.hasPrefix(name) }
            let value = line?.split(separator: separator, maxSplits: 1).last
            return value.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")) }
        }
        processor = field("/proc/cpuinfo", "model name", ":") ?? "unknown processor"
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryMebibytes = Int(ProcessInfo.processInfo.physicalMemory >> 20)
        system = field("/etc/os-release", "PRETTY_NAME", "=") ?? ProcessInfo.processInfo.operatingSystemVersionString
        let release = try? Libc.contents("/proc/sys/kernel/osrelease")
        kernel = "Linux \(release?.split(separator: "\n").first ?? "unknown")"
        compiler = Self.compiler ?? "Swift"
        isOptimized = Self.isOptimized
        versions = [
            "libcurl": unsafe String(cString: curl_version()), "zlib": unsafe String(cString: zlibVersion()),
        ]
        for (program, option) in Self.programs { versions[program] = Self.version(of: program, option) }
        for peer in peers { versions[peer] = Self.version(ofPeer: peer) ?? "absent" }
    }

    /// What Sluice is measured beside, besides the libraries and the peers, and how each tells its version.
    private static let programs = [
        ("curl", "--version"), ("gzip", "--version"), ("nginx", "-v"), ("pigz", "--version"),
    ]

    /// All versions, in one line.
    var versionLine: String {
        versions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
    }

    /// Whether this program was built for release.
    static var isOptimized: Bool {
        #if DEBUG
        false
        #else
        true
        #endif
    }

    /// What built this program, as it is noted in it.
    private static let compiler: String? = {
        guard let program = try? Data(contentsOf: URL(fileURLWithPath: "/proc/self/exe"), options: .alwaysMapped),
            let start = program.range(of: Data("Swift version ".utf8), options: .backwards)
        else { return nil }
        let text = program[start.lowerBound...].prefix { (0x20..<0x7F).contains($0) }
        return String(decoding: text.prefix { $0 != UInt8(ascii: "(") }, as: UTF8.self)
            .trimmingCharacters(in: .whitespaces)
    }()

    private static func version(of program: String, _ option: String) -> String? {
        guard let path = Child.onPath(program) else { return nil }
        // Some tell it on standard error.
        return try? PipedChild("/bin/sh", ["-c", "\"$0\" \"$1\" 2>&1", path, option]).nextLine()
    }

    private static func version(ofPeer name: String) -> String? {
        guard let path = Peer.path(name), let child = try? PipedChild(path, ["--version"]) else { return nil }
        return try? child.nextLine()
    }
}

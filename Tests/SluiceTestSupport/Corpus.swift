/// The fuzzers' inputs that are kept, in `Tests/Corpus`.
package enum Corpus {
    /// The inputs of a target; none where there is no such directory.
    package static func inputs(of target: String) -> [(name: String, bytes: [UInt8])] {
        let directory = ServerProcess.packageRoot + "/Tests/Corpus/" + target
        let names = (try? ChildProcess(["/bin/sh", "-c", "cd \"$0\" && echo *", directory]).readLine()) ?? ""
        return names.split(separator: " ").compactMap { name in
            (try? TemporaryDirectory.contents(ofFile: "\(directory)/\(name)")).map { (String(name), $0) }
        }
    }

    /// An input with one to four changes of a few bytes.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - words: What the grammar is made of.
    ///   - random: Where the changes come from.
    /// - Returns: What it is now.
    package static func changed(_ input: [UInt8], words: [String], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.insert(contentsOf: (words.randomElement(using: &random) ?? "").utf8, at: place)
            case 2: bytes.removeSubrange(place..<min(place + Int.random(in: 1...9, using: &random), bytes.count))
            default: bytes += bytes[place...].prefix(40)
            }
        }
        return bytes
    }
}

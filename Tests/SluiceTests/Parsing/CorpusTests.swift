import Sluice
import SluiceTestSupport
import Testing

/// The fuzzer's corpus, and what a few changes make of it: see `Scripts/fuzz.sh`.
@Suite(.timeLimit(.minutes(10))) struct CorpusTests {
    static let inputs: [(name: String, bytes: [UInt8])] = {
        let directory = ServerProcess.packageRoot + "/Tests/Corpus"
        let names = (try? ChildProcess(["/bin/sh", "-c", "cd \"$0\"; echo *", directory]).readLine()) ?? ""
        return names.split(separator: " ").compactMap { name in
            (try? TemporaryDirectory.contents(ofFile: "\(directory)/\(name)")).map { (String(name), $0) }
        }
    }()

    @Test func `Whatever the fuzzer has found holds`() {
        #expect(Self.inputs.count > 30)
        for input in Self.inputs { #expect(FuzzInput(input.bytes).finding() == nil, "\(input.name)") }
    }

    @Test(arguments: seeds(fixed: 4, fresh: 4))
    func `What is changed at random is parsed alike in every split`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = ["\r\n", "--b", "--", "\r", "\n", "\"", "\\", ";", ": ", " ", "\0"].map { Array($0.utf8) }
        for round in 0..<200 {
            guard var bytes = Self.inputs.randomElement(using: &random)?.bytes else { return }
            for _ in 0..<Int.random(in: 1...4, using: &random) where bytes.count > 2 {
                let place = Int.random(in: 2..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(contentsOf: words.randomElement(using: &random) ?? [], at: place)
                case 2: bytes.removeSubrange(place..<min(place + Int.random(in: 1...9, using: &random), bytes.count))
                default: bytes += bytes[place...].prefix(40)
                }
            }
            if bytes.count > 1 { bytes[1] = UInt8.random(in: 0...255, using: &random) }
            #expect(FuzzInput(bytes).finding() == nil, "seed \(seed), round \(round): \(bytes)")
        }
    }
}

import Sluice
import SluiceTestSupport
import Testing

/// The fuzzers' corpora, and what a few changes make of them: see `Scripts/fuzz.sh`.
@Suite(.timeLimit(.minutes(10))) struct CorpusTests {
    static let inputs = Dictionary(
        uniqueKeysWithValues: FuzzTarget.allCases.map { ($0, Corpus.inputs(of: $0.rawValue)) }
    )

    @Test(arguments: FuzzTarget.allCases)
    func `Whatever the fuzzer has found holds`(target: FuzzTarget) throws {
        let inputs = try #require(Self.inputs[target])
        #expect(inputs.count > 1)
        for input in inputs { #expect(target.finding(input.bytes) == nil, "\(input.name)") }
    }

    @Test(arguments: FuzzTarget.allCases, seeds(fixed: 2, fresh: 2))
    func `What is changed at random is read alike in every split`(target: FuzzTarget, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words = ["\r\n", "--b", "--", "\r", "\n", "\"", "\\", ";", ": ", " ", "\0"]
        let inputs = try #require(Self.inputs[target])
        for round in 0..<100 {
            guard let input = inputs.randomElement(using: &random)?.bytes else { return }
            var bytes = Corpus.changed(input, words: words, &random)
            if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...255, using: &random) }
            #expect(target.finding(bytes) == nil, "seed \(seed), round \(round): \(bytes)")
        }
    }
}

import SluiceTestSupport
import Testing

/// The fuzzer's corpus of `-F`, and what a few changes make of it: see `Scripts/fuzz.sh`.
@Suite struct FormArgumentCorpusTests {
    private static let inputs = Corpus.inputs(of: FormArgumentInput.target)

    @Test func `Whatever the fuzzer has found holds`() {
        #expect(Self.inputs.count >= 10)
        for input in Self.inputs { #expect(FormArgumentInput(input.bytes).finding() == nil, "\(input.name)") }
    }

    @Test(arguments: seeds(fixed: 2, fresh: 2))
    func `What is changed at random is read again as it was read`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<2000 {
            guard let input = Self.inputs.randomElement(using: &random) else { return }
            let bytes = Corpus.changed(input.bytes, words: ["\"", "\\", ";", ",", "=", " ", "@", "("], &random)
            #expect(FormArgumentInput(bytes).finding() == nil, "seed \(seed), round \(round): \(bytes)")
        }
    }
}

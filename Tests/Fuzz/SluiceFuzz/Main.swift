internal import CSluiceFuzz
internal import Glibc
internal import SluiceTestSupport

/// Feeds a target what libFuzzer thinks of: `make fuzz`.
///
/// The target is named by the environment, because libFuzzer starts this program again with arguments of its own.
@main
enum Main {
    private static let name = unsafe getenv("SLUICE_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    private static let target = FuzzTarget(rawValue: name)

    static func main() {
        guard target != nil || name == FormArgumentInput.target else {
            fatalError("SLUICE_FUZZ_TARGET is \"\(name)\", which is no directory of Tests/Corpus")
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        // The process ends in here.
        unsafe LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            if let finding = unsafe Main.finding(UnsafeBufferPointer(start: data, count: size)) { fatalError(finding) }
            return 0
        }
    }

    private static func finding(_ input: UnsafeBufferPointer<UInt8>) -> String? {
        switch target {
        case .parser: unsafe FastParserInput.finding(input.span)
        case let target?: unsafe target.finding(Array(input))
        case nil: unsafe FormArgumentInput(Array(input)).finding()
        }
    }
}

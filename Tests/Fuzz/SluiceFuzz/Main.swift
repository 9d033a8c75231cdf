internal import CSluiceFuzz
internal import SluiceTestSupport

/// Feeds the parser what libFuzzer thinks of: `make fuzz`.
@main
enum Main {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        // The process ends in here.
        unsafe LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
            if let finding = FuzzInput(input).finding() { fatalError(finding) }
            return 0
        }
    }
}

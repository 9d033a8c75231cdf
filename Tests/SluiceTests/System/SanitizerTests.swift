import SluiceTestSupport
import Testing

/// What the silence of `make sanitize` is worth.
@Suite(.enabled(if: !PlantedFault.found.isEmpty, "built for no sanitizer")) struct SanitizerTests {
    @Test(arguments: PlantedFault.found)
    func `A fault ends a process of the tests with a failure`(fault: PlantedFault) async {
        await #expect(processExitsWith: .failure) { [fault = fault as PlantedFault] in fault.plant() }
    }

    @Test func `A process without a fault ends well`() async {
        await #expect(processExitsWith: .success) {}
    }
}

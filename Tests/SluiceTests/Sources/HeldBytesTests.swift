import SluiceTestSupport
import Testing

@testable import Sluice

/// Bytes in memory are held, and copied once: into the buffer of whoever reads them.
@Suite struct HeldBytesTests {
    private let array = TemporaryDirectory.noise(10_000)

    private func address(_ held: HeldBytes) -> UInt {
        unsafe held.withBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private func address(_ bytes: some Collection<UInt8>) -> UInt? {
        bytes.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) }
    }

    @Test func `Arrays, slices and strings are held without a copy`() {
        #expect(address(HeldBytes(array)) == address(array))
        #expect(address(HeldBytes(array[100..<200])) == address(array[100..<200]))
        #expect(address(HeldBytes(collecting: array)) == address(array))
        #expect(address(HeldBytes(collecting: array[5...])) == address(array[5...]))
        let text = String(repeating: "long enough to be no small string ", count: 100)
        #expect(address(HeldBytes(text)) == address(text.utf8))
    }

    @Test func `A body holds the very bytes that it was given`() throws {
        let text = String(repeating: "long enough to be no small string ", count: 100)
        let body = try MultipartForm {
            Part.file("a", bytes: array, filename: "a")
            Part.file("b", bytes: array[7..<70], filename: "b")
            Part.field("c", text)
        }.body()
        let held = body.layout.segments.compactMap { segment in
            if case .content(.memory(let bytes)) = segment.kind { address(bytes) } else { nil as UInt? }
        }
        #expect(held == [address(array), address(array[7..<70]), address(text.utf8)])
    }

    @Test func `Other collections are copied once`() {
        let reversed = array.reversed()
        let held = HeldBytes(collecting: reversed)
        #expect(unsafe held.withBytes { unsafe Array($0) } == Array(reversed))
    }

    @Test(arguments: [0, 1, 5, 9_999, 10_000], [0, 1, 100, 10_000])
    func `Copies are as long as both sides allow`(offset: Int, room: Int) {
        for held in [HeldBytes(array), HeldBytes(array[0...])] {
            var buffer = [UInt8](repeating: 0, count: room)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe held.copy(from: offset, into: $0) }
            #expect(count == min(room, 10_000 - offset))
            #expect(Array(buffer[..<count]) == Array(array[offset..<offset + count]))
        }
    }

    @Test func `An array that is all of it is handed on as it is, a part of it is copied`() {
        let held = HeldBytes(array)
        #expect(address(held.array(from: 0, upTo: 10_000)) == address(array))
        #expect(address(held.array(from: 0, upTo: .max)) == address(array))
        #expect(held.array(from: 10, upTo: 20) == Array(array[10..<30]))
        #expect(HeldBytes("text").array(from: 1, upTo: 2) == Array("ex".utf8))
        #expect(HeldBytes(array[10..<30]).array(from: 5, upTo: 100) == Array(array[15..<30]))
    }

    @Test(arguments: ["", "a", "\u{E9}", "e\u{301}\r\n", String(repeating: "\u{1F4A9}", count: 1000)])
    func `A string is its UTF-8, not normalised`(text: String) {
        let held = HeldBytes(text)
        #expect(held.count == text.utf8.count)
        #expect(unsafe held.withBytes { unsafe Array($0) } == Array(text.utf8))
    }
}

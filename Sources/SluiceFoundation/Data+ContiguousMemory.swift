public import Foundation
internal import Sluice

/// `Data` is one run of bytes in every form it comes in: where it wraps an object that keeps its bytes in pieces (a
/// dispatch data, a custom `NSData`), Foundation joins them once when the `Data` is made.
extension Data: ContiguousMemory {
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe withUnsafeBytes { unsafe body($0) }
    }
}

public import Foundation
public import Sluice

/// A body as an `InputStream`: whoever reads it has its bytes put straight into their own buffer.
///
/// It is made by ``Sluice/MultipartBody/makeInputStream(startingAt:progress:)`` and is for `URLSession` and everything
/// else that takes an `InputStream`. Between a part's file and the buffer given to ``read(_:maxLength:)`` there is
/// no other buffer.
///
/// - **End.** Exactly `contentLength` bytes of the body are given, or an error; never more and never fewer.
/// - **Errors.** ``read(_:maxLength:)`` gives -1, and ``bodyError`` says what happened to which part, also after
///   ``close()``. Until the end was reached ``hasBytesAvailable`` is true, after an error and after an early
///   ``close()`` as well: readers that take false for the end, as `URLSession` on Linux does, would call a body cut
///   short a whole one.
/// - **Threads.** One thread reads. A stream is not `Sendable`, as no stream of Foundation's is; its ``handle`` is, and
///   closes the stream or asks for its error from any thread, also while a read waits.
/// - **Events.** None are sent: a delegate is kept and never called, and scheduling in a run loop does nothing. The
///   stream is read by asking it.
///
/// A stream is read once. Where the body's `replay` allows it, make a new one for each attempt.
public final class BodyInputStream: InputStream {
    /// What other threads may do with the stream while one reads it.
    public let handle: Handle
    private let core: StreamCore
    private weak var keptDelegate: (any StreamDelegate)?

    init(_ core: StreamCore) {
        self.core = core
        handle = Handle(core)
        // An empty native stream, because the superclass has no other initializer. It is never opened, and every
        // method and property that would touch it is overridden.
        super.init(data: Data())
    }

    deinit {
        // `URLSession` never closes its streams, and a handle may live longer than the stream.
        core.close()
    }

    // MARK: Opening and closing

    /// Opens the stream.
    ///
    /// Files are opened when reading comes to them, so this neither waits nor fails for them. An offset that the body does not have shows here: the status is then `.error`. A stream that is open, or that
    /// was closed, stays as it is.
    public override func open() {
        core.open()
    }

    /// Closes the stream and what it holds open.
    ///
    /// Later calls do nothing, and a closed stream cannot be opened again. See ``Handle/close()`` for closing it while another thread reads. Releasing the stream closes it, too.
    public override func close() {
        core.close()
    }

    // MARK: Reading

    /// Reads the next bytes straight into the buffer.
    ///
    /// Called again after an error, it gives -1 again. Before ``open()`` and after an early ``close()`` it gives -1
    /// too, with an error that says so; after a close at the end, 0. One thread reads at a time: a second one gets -1
    /// and leaves the first undisturbed.
    ///
    /// - Parameters:
    ///   - buffer: Where the bytes go; there is no copy on the way.
    ///   - length: The number of bytes that fit.
    /// - Returns: The number of bytes, which may be fewer than fit; 0 at the end, or -1 for an error.
    public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        unsafe core.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: max(length, 0)))
    }

    /// Whether ``read(_:maxLength:)`` has something to say: true until the end was reached, for errors as well.
    public override var hasBytesAvailable: Bool { core.hasBytesAvailable }

    /// False: there is no buffer to look into.
    ///
    /// - Parameters:
    ///   - buffer: Left as it is.
    ///   - length: Left as it is.
    /// - Returns: False.
    public override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    // MARK: Looking at it

    /// `notOpen`, `open`, `reading` while another thread reads, `atEnd`, `error`, or `closed` whatever was before.
    ///
    /// It is `atEnd` with the last byte where the body's length is known, else with the read that gives 0.
    public override var streamStatus: Stream.Status { core.status }

    /// What went wrong, a `MultipartError`; nil where nothing did.
    ///
    /// It stays after ``close()``.
    public override var streamError: (any Error)? { core.error }

    /// What went wrong, with the part and the path; nil where nothing did.
    ///
    /// It stays after ``close()``. `URLSession` reports an error of its own in place of the stream's, so ask here why an upload failed.
    public var bodyError: MultipartError? { core.error }

    /// The offset in the body of the next byte, from 0.
    public var position: Int64 { core.position }

    // MARK: What every InputStream has

    #if canImport(Darwin)
    /// The type of a stream's properties.
    public typealias PropertyValue = Any
    #else
    /// The type of a stream's properties.
    public typealias PropertyValue = AnyObject
    #endif

    /// The ``position`` for `.fileCurrentOffsetKey`; nil for everything else.
    ///
    /// - Parameter key: The property's key.
    /// - Returns: An `NSNumber`, or nil.
    public override func property(forKey key: Stream.PropertyKey) -> PropertyValue? {
        key == .fileCurrentOffsetKey ? NSNumber(value: position) : nil
    }

    /// Sets nothing: a stream begins where it was made to begin.
    ///
    /// - Parameters:
    ///   - property: Ignored.
    ///   - key: Ignored.
    /// - Returns: False.
    public override func setProperty(_ property: PropertyValue?, forKey key: Stream.PropertyKey) -> Bool { false }

    /// Kept, not retained, and never called: the stream sends no events.
    public override var delegate: (any StreamDelegate)? {
        get { keptDelegate }
        set { keptDelegate = newValue }
    }

    /// Does nothing: the stream sends no events.
    ///
    /// - Parameters:
    ///   - runLoop: Ignored.
    ///   - mode: Ignored.
    public override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    /// Does nothing: the stream sends no events.
    ///
    /// - Parameters:
    ///   - runLoop: Ignored.
    ///   - mode: Ignored.
    public override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    #if canImport(Darwin)
    // Core Foundation calls these of any stream that `URLSession` is given. They are not documented, and a subclass
    // without them is met with "unrecognized selector". That no events will come makes the caller poll.
    // Written to what is known of them; no Apple platform was at hand to run them on.

    @objc(_scheduleInCFRunLoop:forMode:)
    private func scheduleInCFRunLoop(_ runLoop: CFRunLoop, forMode mode: CFString) {}

    @objc(_unscheduleFromCFRunLoop:forMode:)
    private func unscheduleFromCFRunLoop(_ runLoop: CFRunLoop, forMode mode: CFString) {}

    @objc(_setCFClientFlags:callback:context:)
    private func setCFClientFlags(
        _ flags: CFOptionFlags,
        callback: CFReadStreamClientCallBack?,
        context: UnsafeMutablePointer<CFStreamClientContext>?
    ) -> Bool {
        false
    }
    #endif
}

internal import CCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The seam between C and Swift: what libcurl calls while it has the handle.
///
/// The pointer that it passes is the transfer, unretained: the loop keeps a transfer until its handle is back from
/// libcurl, and libcurl calls nothing for a handle that it does not have.
extension EasyHandle {
    func connectCallbacks(of transfer: Transfer) throws(TransferError) {
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        if transfer.feed != nil {
            unsafe try check(sluice_set_read_function(pointer, readBody), CURLOPT_READFUNCTION)
            unsafe try set(CURLOPT_READDATA, pointer: context)
            unsafe try check(sluice_set_seek_function(pointer, seekBody), CURLOPT_SEEKFUNCTION)
            unsafe try set(CURLOPT_SEEKDATA, pointer: context)
        }
        unsafe try check(sluice_set_header_function(pointer, takeHeader), CURLOPT_HEADERFUNCTION)
        unsafe try set(CURLOPT_HEADERDATA, pointer: context)
        unsafe try check(sluice_set_write_function(pointer, takeBody), CURLOPT_WRITEFUNCTION)
        unsafe try set(CURLOPT_WRITEDATA, pointer: context)
        guard transfer.wantsDebug else { return }
        unsafe try check(sluice_set_debug_function(pointer, takeDebug), CURLOPT_DEBUGFUNCTION)
        unsafe try set(CURLOPT_DEBUGDATA, pointer: context)
        try set(CURLOPT_VERBOSE, true)
    }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}

private let readBody: curl_read_callback = { buffer, size, count, context in
    guard let transfer = unsafe transfer(context) else { return Int(CURL_READFUNC_ABORT) }
    let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    return switch unsafe transfer.readBody(into: room) {
    case .bytes(let count): count
    case .end: 0
    case .pause: Int(CURL_READFUNC_PAUSE)
    case .abort: Int(CURL_READFUNC_ABORT)
    }
}

private let seekBody: curl_seek_callback = { context, offset, origin in
    guard let transfer = unsafe transfer(context), origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
    return transfer.rewind(to: Int64(offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}

// Any other number than the one of the bytes given makes libcurl stop.
private let takeHeader: curl_write_callback = { buffer, size, count, context in
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
    let goesOn = unsafe transfer(context)?.takeHeader(bytes) ?? false
    return goesOn ? size * count : -1
}

private let takeBody: curl_write_callback = { buffer, size, count, context in
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
    return switch unsafe transfer(context)?.takeBody(bytes) {
    case .taken: size * count
    case .pause: Int(CURL_WRITEFUNC_PAUSE)
    case .abort, nil: -1
    }
}

private let takeDebug: curl_debug_callback = { _, type, buffer, count, context in
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: count)
    unsafe transfer(context)?.takeDebug(type, bytes)
    return 0
}

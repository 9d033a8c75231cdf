internal import CCurl

/// An easy handle of libcurl's, with its options typed.
///
/// Not Sendable: like the C handle, it is used by one thread at a time.
// @safe: the pointers are made in `init`, freed in `deinit`, and lent to libcurl for as long as the handle lives.
@safe
final class EasyHandle {
    /// What libcurl calls it.
    let pointer: UnsafeMutableRawPointer
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?

    init() throws(TransferError) {
        guard CurlLibrary.initStatus == CURLE_OK, let pointer = unsafe curl_easy_init() else {
            throw TransferError(.resourcesExhausted, "libcurl could not be initialised; is there memory left?")
        }
        unsafe self.pointer = pointer
        unsafe errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe headerList = nil
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        unsafe curl_slist_free_all(headerList)
        unsafe errorBuffer.deallocate()
    }

    /// Puts every option back to its default; connections stay.
    func reset() throws(TransferError) {
        unsafe curl_easy_reset(pointer)
        unsafe curl_slist_free_all(headerList)
        unsafe headerList = nil
        unsafe errorBuffer.pointee = 0
        unsafe try check(sluice_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorBuffer), CURLOPT_ERRORBUFFER)
    }

    /// libcurl's own words for the last error; empty where it has none.
    var errorText: String {
        unsafe String(cString: errorBuffer)
    }

    // MARK: Options

    func set(_ option: CURLoption, _ value: Int) throws(TransferError) {
        unsafe try check(sluice_set_long(pointer, option, value), option)
    }

    func set(_ option: CURLoption, _ value: Bool) throws(TransferError) {
        try set(option, value ? 1 : 0)
    }

    func set(_ option: CURLoption, offset value: Int64) throws(TransferError) {
        unsafe try check(sluice_set_offset(pointer, option, curl_off_t(value)), option)
    }

    func set(_ option: CURLoption, _ value: String) throws(TransferError) {
        unsafe try check(value.withCString { unsafe sluice_set_string(pointer, option, $0) }, option)
    }

    func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) throws(TransferError) {
        unsafe try check(sluice_set_pointer(pointer, option, value), option)
    }

    /// Sets the header lines, which libcurl does not copy.
    func setHeaders(_ lines: [String]) throws(TransferError) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headerList, line) else {
                throw TransferError(.resourcesExhausted, "no memory for the header fields")
            }
            unsafe headerList = longer
        }
        unsafe try check(sluice_set_list(pointer, CURLOPT_HTTPHEADER, headerList), CURLOPT_HTTPHEADER)
    }

    func check(_ code: CURLcode, _ option: CURLoption) throws(TransferError) {
        if code == CURLE_OK { return }
        throw TransferError(
            code == CURLE_OUT_OF_MEMORY ? .resourcesExhausted : .other,
            "libcurl refuses its option \(option.rawValue): \(unsafe String(cString: curl_easy_strerror(code)))",
            curlCode: Int32(code.rawValue)
        )
    }

    /// Lets a transfer that was paused by its callback go on.
    func resume() {
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }

    // MARK: What is known of the transfer

    /// This end's port of the connection that was used last.
    var localPort: Int64 { Int64(number(CURLINFO_LOCAL_PORT)) }

    /// A number of those that C calls long; 0 where libcurl does not know.
    func number(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe sluice_get_long(pointer, info, &value)
        return value
    }

    /// A number that libcurl has of the transfer; 0 where it does not know.
    func info(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        unsafe sluice_get_offset(pointer, info, &value)
        return Int64(value)
    }
}

/// What holds for the process.
enum CurlLibrary {
    /// `curl_global_init`, which must come before everything else.
    static let initStatus: CURLcode = {
        // libcurl would have it begin otherwise.
        CryptoLibrary.begin()
        return sluice_global_init()
    }()

    /// The version that the process runs with: a byte each for major, minor and patch.
    static let version = sluice_curl_version()
}

internal import CCurl

/// A multi handle of libcurl's: the transfers that run at the same time, and the connections that they share.
// @unchecked Sendable: the loop's thread alone uses it; from other threads only `wake()` is called, which
// libcurl allows, and only until `destroy()`, which `EventLoop`'s lock sees to.
@safe
struct MultiHandle: @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer

    /// Makes a handle, or nothing where there is no memory or no descriptor.
    init?(_ configuration: CurlClient.Configuration) {
        guard CurlLibrary.initStatus == CURLE_OK, let pointer = unsafe curl_multi_init() else { return nil }
        // libcurl makes a handle also where it got no descriptors to be woken up by, and then hears of nothing.
        guard unsafe curl_multi_wakeup(pointer) == CURLM_OK else {
            unsafe curl_multi_cleanup(pointer)
            return nil
        }
        unsafe self.pointer = pointer
        if let most = configuration.maximumConnectionsPerHost {
            unsafe sluice_multi_set_long(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, max(most, 1))
        }
    }

    /// Closes the connections and frees the handle, in which no easy handle may be left.
    func destroy() {
        unsafe curl_multi_cleanup(pointer)
    }

    /// Ends the thread's current or next ``wait(milliseconds:)``.
    func wake() {
        unsafe curl_multi_wakeup(pointer)
    }

    /// Moves what can be moved without waiting.
    func perform() -> CURLMcode {
        var running: Int32 = 0
        return unsafe curl_multi_perform(pointer, &running)
    }

    /// Waits until something can be moved.
    func wait(milliseconds: Int32) -> CURLMcode {
        unsafe curl_multi_poll(pointer, nil, 0, milliseconds, nil)
    }

    func add(_ handle: EasyHandle) -> CURLMcode {
        unsafe curl_multi_add_handle(pointer, handle.pointer)
    }

    func remove(_ handle: EasyHandle) {
        unsafe curl_multi_remove_handle(pointer, handle.pointer)
    }

    /// The next transfer that came to its end: its ticket's number, and libcurl's.
    func nextDone() -> (id: Int, code: CURLcode)? {
        var code = CURLE_OK
        guard let handle = unsafe sluice_multi_next_done(pointer, &code) else { return nil }
        var context: UnsafeMutableRawPointer?
        unsafe sluice_get_pointer(handle, CURLINFO_PRIVATE, &context)
        return (Int(bitPattern: context), code)
    }
}

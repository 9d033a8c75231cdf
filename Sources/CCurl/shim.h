// libcurl as Swift can call it: variadic functions with fixed types, and macros as functions.
#ifndef SLUICE_CCURL_SHIM_H
#define SLUICE_CCURL_SHIM_H

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

// curl_multi_wakeup is the newest function without which nothing works.
#if LIBCURL_VERSION_NUM < 0x074400
#error "Sluice needs libcurl 7.68 or newer."
#endif

// MARK: curl_easy_setopt

static inline CURLcode sluice_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sluice_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the string.
static inline CURLcode sluice_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl keeps the pointer: callback arguments, the error buffer, CURLOPT_PRIVATE.
static inline CURLcode sluice_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl keeps the list.
static inline CURLcode sluice_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode sluice_set_read_function(CURL *handle, curl_read_callback function) {
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, function);
}

static inline CURLcode sluice_set_seek_function(CURL *handle, curl_seek_callback function) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode sluice_set_write_function(CURL *handle, curl_write_callback function) {
    return curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
}

static inline CURLcode sluice_set_header_function(CURL *handle, curl_write_callback function) {
    return curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, function);
}

static inline CURLcode sluice_set_debug_function(CURL *handle, curl_debug_callback function) {
    return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, function);
}

static inline CURLcode sluice_set_close_socket_function(CURL *handle, curl_closesocket_callback function) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, function);
}

// http and https only, whatever a URL or a redirect says.
static inline CURLcode sluice_restrict_protocols(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    CURLcode code = curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    return code ? code : curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    CURLcode code = curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    return code ? code
                : curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

// Lets a handle that is given up leave the thread that resolves a name for it behind, which ends by itself. Else
// the event loop would stand still until the name server's timeout.
static inline void sluice_do_not_wait_for_resolver(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)handle;
#endif
}

static inline curl_socket_t sluice_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context;
    (void)purpose;
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    curl_socket_t descriptor = socket(address->family, address->socktype, address->protocol);
    if (descriptor != CURL_SOCKET_BAD) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
#endif
}

// Keeps connections from being inherited by the program's child processes, which would hold them open.
static inline CURLcode sluice_close_sockets_on_exec(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, sluice_open_socket);
}

// MARK: curl_easy_getinfo

static inline CURLcode sluice_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sluice_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode sluice_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

// MARK: curl_multi

static inline CURLMcode sluice_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// The next transfer that is done, or NULL.
static inline CURL *sluice_multi_next_done(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

// MARK: Macros

static inline CURLcode sluice_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

// The version that runs, which may be newer than the header's: a byte each for major, minor and patch.
static inline unsigned int sluice_curl_version(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }

static inline long sluice_auth_basic(void) { return (long)CURLAUTH_BASIC; }
static inline long sluice_auth_digest(void) { return (long)CURLAUTH_DIGEST; }
static inline long sluice_auth_bearer(void) { return (long)CURLAUTH_BEARER; }

#endif

// GNU libmicrohttpd as Swift can call it: its variadic functions with fixed arguments.
#ifndef SLUICE_CMICROHTTPD_SHIM_H
#define SLUICE_CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

// MHD_Result is an enumeration from here on.
#if MHD_VERSION < 0x00097002
#error "Sluice needs libmicrohttpd 0.9.71 or newer."
#endif

struct sluice_mhd_options {
    const struct sockaddr *address;
    // Bytes of each connection's buffers.
    size_t memory;
    unsigned int connections;
    // Seconds in which something has to move.
    unsigned int timeout;
};

// A server with a thread for each connection, each of which may block.
static inline struct MHD_Daemon *sluice_mhd_start(
    struct sluice_mhd_options options, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    void *context
) {
    unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC;
    if (options.address->sa_family == AF_INET6) flags |= MHD_USE_IPv6;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, context,
        MHD_OPTION_SOCK_ADDR, options.address,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options.memory,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, options.memory,
        MHD_OPTION_CONNECTION_LIMIT, options.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, options.timeout,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_END
    );
}

// The port that it listens on; 0 where that cannot be told.
static inline uint16_t sluice_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

// A header of the request, or NULL.
static inline const char *sluice_mhd_header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

struct sluice_mhd_count {
    const char *name;
    int count;
};

static inline enum MHD_Result sluice_mhd_count_one(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct sluice_mhd_count *counting = context;
    (void)kind;
    (void)value;
    // The library puts what is on a folded line behind the name where the first line has no value.
    if (strncasecmp(name, counting->name, strlen(counting->name)) == 0) counting->count++;
    return MHD_YES;
}

// How often the request has a header, or one that others may take for it: with white space before the colon, or folded.
// Longer names count as well; there are none that matter.
static inline int sluice_mhd_header_count(struct MHD_Connection *connection, const char *name) {
    struct sluice_mhd_count counting = {name, 0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, sluice_mhd_count_one, &counting);
    return counting.count;
}

// An answer; the body is copied. NULL where there is no memory.
static inline struct MHD_Response *sluice_mhd_response(const void *body, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)body, MHD_RESPMEM_MUST_COPY);
}

// The bytes of the request's head; 0 where that cannot be told.
static inline size_t sluice_mhd_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// The connection's socket; -1 where that cannot be told.
static inline int sluice_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

#endif

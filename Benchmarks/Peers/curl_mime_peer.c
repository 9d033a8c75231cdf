// libcurl's mime API as a peer; README.md has the protocol.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check(CURLcode code) {
    if (code == CURLE_OK) return;
    fprintf(stderr, "curl-mime: %s\n", curl_easy_strerror(code));
    exit(1);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--version") == 0) {
        printf("mime API of %s\n", curl_version());
        return 0;
    }
    if (count < 3) {
        fprintf(stderr, "usage: curl-mime URL FILE...\n");
        return 64;
    }
    check(curl_global_init(CURL_GLOBAL_DEFAULT));
    CURL *handle = curl_easy_init();
    if (handle == NULL) return 1;
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    check(curl_easy_setopt(handle, CURLOPT_URL, arguments[1]));
    check(curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers));
    check(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, discard));
    check(curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L));
    // As Sluice has it; the default is a quarter.
    check(curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024));
    for (int byte; (byte = getchar()) != EOF;) {
        if (byte != '\n') continue;
        double start = seconds();
        curl_mime *form = curl_mime_init(handle);
        for (int index = 2; index < count; index++) {
            curl_mimepart *part = curl_mime_addpart(form);
            check(curl_mime_name(part, "file"));
            check(curl_mime_filedata(part, arguments[index]));
        }
        check(curl_easy_setopt(handle, CURLOPT_MIMEPOST, form));
        check(curl_easy_perform(handle));
        curl_mime_free(form);
        printf("{\"seconds\": %.9f, \"parts\": %d}\n", seconds() - start, count - 2);
        fflush(stdout);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(handle);
    curl_global_cleanup();
    return 0;
}

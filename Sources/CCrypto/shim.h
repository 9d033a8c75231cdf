// SHA-256 as Swift can call it: from OpenSSL's libcrypto, which libcurl links too, or from the system on Apple's.
#ifndef SLUICE_CCRYPTO_SHIM_H
#define SLUICE_CCRYPTO_SHIM_H

#include <stddef.h>
#include <stdlib.h>

#ifdef __APPLE__
#include <CommonCrypto/CommonDigest.h>

static inline void sluice_crypto_begin(void) {}

static inline void *sluice_sha256_create(void) {
    CC_SHA256_CTX *context = malloc(sizeof *context);
    if (context) CC_SHA256_Init(context);
    return context;
}

static inline int sluice_sha256_update(void *context, const void *bytes, size_t count) {
    // A CC_LONG has 32 bits.
    const char *next = bytes;
    while (count > 0) {
        CC_LONG step = count > 0x40000000 ? 0x40000000 : (CC_LONG)count;
        if (!CC_SHA256_Update(context, next, step)) return 0;
        next += step;
        count -= step;
    }
    return 1;
}

static inline int sluice_sha256_finish(void *context, unsigned char *digest) {
    return CC_SHA256_Final(digest, context);
}

static inline void sluice_sha256_destroy(void *context) { free(context); }

#else
#include <openssl/crypto.h>
#include <openssl/evp.h>

// Begins with the library, so that it does not clear up when the process ends.
static inline void sluice_crypto_begin(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

static inline void *sluice_sha256_create(void) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context && !EVP_DigestInit_ex(context, EVP_sha256(), NULL)) {
        EVP_MD_CTX_free(context);
        return NULL;
    }
    return context;
}

static inline int sluice_sha256_update(void *context, const void *bytes, size_t count) {
    return EVP_DigestUpdate(context, bytes, count);
}

// Writes 32 bytes.
static inline int sluice_sha256_finish(void *context, unsigned char *digest) {
    return EVP_DigestFinal_ex(context, digest, NULL);
}

static inline void sluice_sha256_destroy(void *context) { EVP_MD_CTX_free(context); }
#endif

#endif

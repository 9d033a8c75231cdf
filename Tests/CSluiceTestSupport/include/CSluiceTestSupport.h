#ifndef SLUICE_TEST_SUPPORT_H
#define SLUICE_TEST_SUPPORT_H

/// Whether ThreadSanitizer is told of what Swift's `Mutex` does, which only its own builds need.
int sluice_has_mutex_annotations(void);

#endif

#ifndef SLUICE_TEST_SUPPORT_H
#define SLUICE_TEST_SUPPORT_H

/// Whether ThreadSanitizer is told of what Swift's `Mutex` does, which only its own builds need.
int sluice_has_mutex_annotations(void);

/// The sanitizer that this was built for: "address", "thread", or "" for none.
const char *sluice_sanitizer(void);

/// Faults that sanitizers are there to find: memory that nobody points to any more is left,
void sluice_plant_leak(void);
/// a byte behind the end of memory is read,
int sluice_plant_overrun(void);
/// and two threads write to the same place, in no order.
int sluice_plant_race(void);

#endif

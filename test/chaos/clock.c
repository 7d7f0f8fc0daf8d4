/* Preloaded into the processes of a chaos run: moves the calendar by the seconds in CLOCK_FILE, and no other clock. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *text;

static long offset(void) {
  if (!text) {
    int file = open(CLOCK_FILE, O_RDONLY | O_CLOEXEC);
    void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    text = mapped == MAP_FAILED ? "0" : mapped;
  }
  return atol(text);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, id, now);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec read;
  int failed = clock_gettime(CLOCK_REALTIME, &read);
  now->tv_sec = read.tv_sec;
  now->tv_usec = read.tv_nsec / 1000;
  return failed;
}

time_t time(time_t *into) {
  struct timespec read;
  clock_gettime(CLOCK_REALTIME, &read);
  if (into) *into = read.tv_sec;
  return read.tv_sec;
}

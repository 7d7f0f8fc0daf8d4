/** Stops this process for some milliseconds, as SIGSTOP does: its timers, sockets and pipes wait meanwhile. */
export const freeze = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/**
 * Processor and memory that the scheduler reserves for a worker by default: what ordinary pages use. Memory of a worker with one slot after
 * many captures (docs/benchmarks.md, "One worker over many captures"), with full Chromium 255 MiB more (ADR 27); CPU of two small pages a
 * second (docs/benchmarks.md, "The engine beside a bare loop"), with full Chromium about three times that.
 */
export const workerRequests = (slots: number): { readonly milliCores: number; readonly mebibytes: number } => ({
  milliCores: slots * 500,
  mebibytes: 300 + slots * 400,
})

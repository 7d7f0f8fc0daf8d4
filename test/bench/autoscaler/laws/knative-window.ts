// Windows of the Knative autoscaler: Knative Serving 1.23.0, pkg/autoscaler/aggregation. The average is linear by default; its alternative,
// weightedExponential, needs an annotation and is not here.

/** TimedFloat64Buckets of bucketing.go: values summed by time, and the mean of these sums over a window. Times in ms. */
export class AverageWindow {
  readonly #windowMs: number
  readonly #bucketMs: number
  readonly #buckets: number
  readonly #sums = new Map<number, number>()
  #first = 0
  #last = -Infinity

  constructor(windowMs: number, bucketMs = 1000) {
    this.#windowMs = windowMs
    this.#bucketMs = bucketMs
    this.#buckets = Math.ceil(windowMs / bucketMs)
  }

  /** Whether the window has nothing. */
  isEmpty(nowMs: number): boolean {
    return (this.#bucket(nowMs) - this.#last) * this.#bucketMs > this.#windowMs
  }

  /** Adds a value. What is as old as the window is ignored, in relation to the newest. */
  record(nowMs: number, value: number): void {
    const bucket = this.#bucket(nowMs)
    const newerMs = (bucket - this.#last) * this.#bucketMs
    if (newerMs <= -this.#windowMs) return
    if (newerMs >= this.#windowMs) this.#sums.clear()
    if (this.#sums.size === 0 || bucket < this.#first) this.#first = bucket
    this.#last = Math.max(this.#last, bucket)
    this.#sums.set(bucket, (this.#sums.get(bucket) ?? 0) + value)
    for (const old of this.#sums.keys()) if (old <= this.#last - this.#buckets) this.#sums.delete(old)
  }

  /** The mean sum of a bucket, from the first one that was written on, without those after the last one. */
  average(nowMs: number): number {
    const silent = Math.max(0, this.#bucket(nowMs) - this.#last)
    if (silent * this.#bucketMs >= this.#windowMs) return 0
    let total = 0
    for (const [bucket, sum] of this.#sums) if (bucket > this.#last + silent - this.#buckets) total += sum
    const written = Math.min(this.#last - this.#first + 1, this.#buckets - silent)
    return Math.round((total / written) * 1e6) / 1e6
  }

  #bucket(atMs: number): number {
    return Math.floor(atMs / this.#bucketMs)
  }
}

/** TimeWindow of max/timewindow.go: the greatest value in a window before the latest. Times in ms. */
export class GreatestWindow {
  readonly #bucketMs: number
  readonly #buckets: number
  #values: readonly { readonly bucket: number; readonly value: number }[] = []

  constructor(windowMs: number, bucketMs: number) {
    this.#bucketMs = bucketMs
    this.#buckets = Math.ceil(windowMs / bucketMs)
  }

  /** Adds a value and returns the greatest. */
  record(nowMs: number, value: number): number {
    const bucket = Math.floor(nowMs / this.#bucketMs)
    const recent = this.#values.filter((each) => bucket - each.bucket < this.#buckets)
    this.#values = [...recent, { bucket, value }]
    return Math.max(...this.#values.map((each) => each.value))
  }
}

/** Settings of worker alone. */
export const workerSettings = {}

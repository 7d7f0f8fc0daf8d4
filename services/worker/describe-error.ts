const depthMax = 4

/** The messages of an error and its causes, four at most, for logs. */
export const describeError = (thrown: unknown, depth = 1): string => {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : 'unknown error'
  const { message, cause } = thrown
  return cause === undefined || depth >= depthMax ? message : `${message}: ${describeError(cause, depth + 1)}`
}

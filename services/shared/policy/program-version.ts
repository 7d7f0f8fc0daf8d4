/** Oldest PostgreSQL that is supported, as major and minor version. */
export const postgresLeast = [15, 0] as const

/** Oldest NATS server that is supported, as major and minor version. */
export const natsLeast = [2, 12] as const

/** Compares `[major, minor]` with a minimum version. */
export const isAtLeast = ([major = 0, minor = 0]: readonly number[], [least, leastMinor]: readonly [number, number]) =>
  major > least || (major === least && minor >= leastMinor)

/** The first `[major, minor]` in a text such as that of `--version`; empty without one. */
export const parseVersion = (text: string): readonly number[] => {
  const [, ...parts] = /(\d{1,6})(?:\.(\d{1,6}))?/.exec(text) ?? []
  return parts.map((part) => Number(part ?? 0))
}

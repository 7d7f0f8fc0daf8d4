const { PATH, NODE_COMPILE_CACHE } = process.env

/** What a service's process needs of the test's own environment; with the cache a gateway starts in two thirds of the time. */
export const nodeEnv: Readonly<Record<string, string | undefined>> = {
  PATH,
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
}

const { PATH, NODE_COMPILE_CACHE } = process.env

/** Inherited environment of service processes; the compile cache cuts the start of a gateway to two thirds of the time. */
export const nodeEnv: Readonly<Record<string, string | undefined>> = {
  PATH,
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
}

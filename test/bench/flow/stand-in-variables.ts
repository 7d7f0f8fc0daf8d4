/** Environment variables of a process of stand-ins: how many workers it is, and how long each capture takes, in milliseconds. */
export const standInVariables = { workers: 'STAND_IN_WORKERS', captureMs: 'STAND_IN_CAPTURE_MS' } as const

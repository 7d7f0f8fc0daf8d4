/** Flags whose values contain passwords; `bin/shutterfleet` moves them to these variables before it starts Node. */
const variables = { postgres: 'HIDDEN_FLAG_POSTGRES', nats: 'HIDDEN_FLAG_NATS', s3: 'HIDDEN_FLAG_S3' } as const

/** Removes the flags that the launcher moved to `env` and returns them as arguments. */
export const takeHiddenFlags = (env: Record<string, string | undefined>): string[] =>
  Object.entries(variables).flatMap(([flag, variable]) => {
    const value = env[variable]
    delete env[variable]
    return value === undefined ? [] : [`--${flag}=${value}`]
  })

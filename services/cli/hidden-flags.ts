/** Flags whose values hold passwords; `bin/shutterfleet` puts them into these variables before it starts Node. */
const variables = { postgres: 'HIDDEN_FLAG_POSTGRES', nats: 'HIDDEN_FLAG_NATS', s3: 'HIDDEN_FLAG_S3' } as const

/** The flags that the launcher has put into the environment, as they were typed; they are removed from it. */
export const takeHiddenFlags = (env: Record<string, string | undefined>): string[] =>
  Object.entries(variables).flatMap(([flag, variable]) => {
    const value = env[variable]
    delete env[variable]
    return value === undefined ? [] : [`--${flag}=${value}`]
  })

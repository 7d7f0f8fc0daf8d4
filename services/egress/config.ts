import { type Env, readEnv, type ValuesOf } from '#shared/config/read-env.ts'
import { knownNames } from '#shared/config/settings/all.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { egressSettings } from '#shared/config/settings/egress.ts'

const settings = { ...commonSettings, ...egressSettings }

/** What an operator can set of the egress filter. */
export type Config = ValuesOf<typeof settings>

/** Reads the egress filter's settings; throws `CONFIGURATION` with all problems at once. */
export const readConfig = (env: Env): Config => readEnv(settings, env, knownNames)

import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { routerSettings } from '#shared/config/settings/router.ts'

const settings = { ...commonSettings, ...routerSettings }

/** Settings of the router. */
export type RouterConfig = SettingValues<typeof settings>

/** Reads the router's settings; throws `CONFIGURATION` with all problems at once. */
export const readRouterConfig = (env: Env): RouterConfig => readEnv(settings, env)

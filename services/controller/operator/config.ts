import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { controllerSettings } from '#shared/config/settings/controller.ts'
import { operatorSettings } from '#shared/config/settings/operator.ts'
import { queueSettings } from '#shared/config/settings/outside.ts'

const settings = {
  ...commonSettings,
  ...queueSettings,
  ...operatorSettings,
  poolTickMs: controllerSettings.poolTickMs,
}

/** The settings of the controller on Kubernetes. */
export type OperatorConfig = SettingValues<typeof settings>

/** Reads the settings of the controller on Kubernetes. Throws `CONFIGURATION`, which lists all problems. */
export const readConfig = (env: Env): OperatorConfig => readEnv(settings, env)

import { accessSync, constants } from 'node:fs'
import type { Pool } from '#shared/capture/lane.ts'
import { browsersOf } from '#shared/capture/pool-of.ts'
import { prefix, type SettingValues } from '#shared/config/read-env.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Browsers } from '#worker/protocol/protocol.ts'

/** The settings of a worker's browsers. */
export type HostConfig = SettingValues<typeof workerSettings>

const settingNames = { shell: 'chromium', full: 'stealthChromium' } as const

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Finds the browsers that workers of the pool can start. Throws `CONFIGURATION` with the name of the setting if the browser
 * that is kept running is missing; if another is missing, only captures that need it fail.
 */
export const findBrowsers = (
  config: Pick<HostConfig, 'chromium' | 'stealthChromium'> & { readonly pool: Pool },
): Browsers => {
  const [prewarmed] = browsersOf[config.pool]
  const found = browsersOf[config.pool].filter((kind) => isExecutable(config[settingNames[kind]]))
  if (!found.includes(prewarmed)) {
    const setting = settingNames[prewarmed]
    const message = `${prefix}${workerSettings[setting].name} = ${config[setting]}, must be an executable file`
    throw new AppError('CONFIGURATION', { message, publicMessage: message })
  }
  return { prewarmed, binaries: Object.fromEntries(found.map((kind) => [kind, config[settingNames[kind]]])) }
}

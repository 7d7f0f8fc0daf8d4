import { readFileSync } from 'node:fs'
import { AppError } from '#shared/errors/app-error.ts'
import type { Setting, Settings } from './settings/setting.ts'
import { knownNames, secretNames } from './settings/all.ts'

/** Prefix of every environment variable of this project. */
export const prefix = 'SHUTTERFLEET_'

/** The values of a group of settings. */
export type SettingValues<S extends Settings> = Readonly<{ [K in keyof S]: S[K] extends Setting<infer T> ? T : never }>

/** Environment variables in the form of `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>

const lookUp = (setting: Setting<unknown>, env: Env, report: (problem: string) => void): string | undefined => {
  const variable = prefix + setting.name
  // Who sets the variables of a process may not be allowed to read its files, and errors print what is not secret.
  const path = setting.secret ? env[`${variable}_FILE`] : undefined
  if (path === undefined) return env[variable] ?? setting.fallback
  if (env[variable] !== undefined) report(`${variable} and ${variable}_FILE are both set; set one of them`)
  try {
    return readFileSync(path, 'utf8').trimEnd()
  } catch {
    report(`${variable}_FILE = ${path}, cannot be read`)
    return undefined
  }
}

const readOne = (setting: Setting<unknown>, env: Env, report: (problem: string) => void): unknown => {
  const variable = prefix + setting.name
  const text = lookUp(setting, env, report)
  if (text === undefined) {
    if (env[`${variable}_FILE`] === undefined) report(`${variable} is not set; ${setting.help} (${setting.kind})`)
    return undefined
  }
  const parsed = setting.parse(text)
  if (parsed.ok) return parsed.value
  report(`${variable} = ${setting.secret ? '(hidden)' : text}, ${parsed.problem}`)
  return undefined
}

/**
 * Reads a group of settings from the environment and freezes it. Throws `CONFIGURATION` with all problems at once,
 * including every variable with the project's prefix that is not a setting.
 */
export const readEnv = <S extends Settings>(settings: S, env: Env): SettingValues<S> => {
  const problems: string[] = []
  const report = (problem: string) => problems.push(problem)
  const values = Object.entries(settings).map(([key, setting]) => [key, readOne(setting, env, report)] as const)
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith(prefix)) continue
    const name = variable.slice(prefix.length)
    const inFile = name.replace(/_FILE$/, '')
    if (knownNames.has(name) || secretNames.has(inFile)) continue
    report(
      knownNames.has(inFile)
        ? `${variable} is set, but ${prefix}${inFile} takes no file, because it is not secret; set ${prefix}${inFile}`
        : `${variable} is not a setting of Shutterfleet`,
    )
  }
  if (problems.length > 0) {
    throw new AppError('CONFIGURATION', { message: problems.join('\n'), publicMessage: problems.join('\n') })
  }
  return Object.freeze(Object.fromEntries(values)) as SettingValues<S>
}

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Env, prefix } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { routerSettings } from '#shared/config/settings/router.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { formatAuthority } from '#shared/policy/host.ts'
import { programPath } from '#shared/process/program-path.ts'
import { untilStopped } from '#shared/process/run-main.ts'
import { provideBundle } from './bundle.ts'
import { dataPaths, openDataFolder, readPrivate, writePrivate } from './data-folder.ts'
import { eventsOf } from './events.ts'
import { createFleet } from './fleet.ts'
import { type LocalSettings, readLocalSettings } from './local-settings.ts'
import { programPlan } from './part-plans.ts'
import { choosePublicPort, holdPort } from './ports.ts'
import { type LocalDeps, runLocal, type Started } from './run-local.ts'
import { loadOrCreateSecrets, shareSecrets } from './secrets.ts'
import { machineEnv, prefixed, processEnv } from './service-env.ts'
import type { PartPlan } from './supervise.ts'

const names = ['one', 'two', 'three', 'four']
const routerStopMs = 30_000

/** Stores that the operator gives would be the same for all cells. */
const assertOwnStores = ({ externalDatabaseUrl, externalNatsUrl, s3Url }: LocalSettings) => {
  if ([externalDatabaseUrl, externalNatsUrl, s3Url].every((url) => url === undefined)) return
  const publicMessage = '--databases starts stores for each database: leave out --postgres, --nats and --s3'
  throw new AppError('CONFIGURATION', { publicMessage })
}

/** Where clients reach the router, its token for each cell, and the pepper of their keys. */
type Front = {
  readonly port: number
  readonly publicUrl: string
  readonly tokens: readonly string[]
  readonly pepper: string
}

/** The folder of a cell: all but the first have theirs in that of the first. */
const cellFolder = (data: string, index: number) => (index === 0 ? data : join(data, 'cells', names[index] ?? ''))

/** Gives all cells the secrets of the first one. Resolves to the pepper of keys. */
const shareAmongCells = async ({ data, databases, keyPepper }: LocalSettings): Promise<string> => {
  const secrets = await loadOrCreateSecrets(dataPaths(data).secrets)
  for (let index = 1; index < databases; index += 1)
    await shareSecrets(secrets, (await openDataFolder(cellFolder(data, index))).secrets)
  return keyPepper || secrets.keyPepper
}

/** The environment of one cell of several. */
const cellEnv = (env: Env, settings: LocalSettings, front: Front, index: number): Env => {
  const { data, databases, poolMax, poolIdleCores, stealthMax, proxiedMax } = settings
  const shareOf = (most: number) => String(Math.ceil(most / databases))
  const changed = {
    DATA: cellFolder(data, index),
    DATABASES: '1',
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    ...(index > 0 && { ADMIN_PORT: '0' }),
    PUBLIC_URL: front.publicUrl,
    ROUTER_TOKEN: front.tokens[index] ?? '',
    TRUSTED_PROXIES: [env[`${prefix}TRUSTED_PROXIES`], '127.0.0.1'].filter(Boolean).join(','),
    POOL_MAX: shareOf(poolMax),
    POOL_IDLE_CORES: shareOf(poolIdleCores),
    STEALTH_MAX: shareOf(stealthMax),
    PROXIED_MAX: shareOf(proxiedMax),
  }
  return { ...env, ...prefixed(changed) }
}

const routerPlan = async (
  deps: LocalDeps,
  settings: LocalSettings,
  front: Front,
  cells: readonly Started[],
): Promise<PartPlan> => {
  const { env, root } = deps
  const settingsOfRouter = processEnv(
    { operator: env },
    { ...commonSettings, ...routerSettings },
    {
      ROUTER_CELLS: cells.map(({ base_url }, index) => `${names[index]}=${base_url}`).join(','),
      ROUTER_TOKENS: cells.map((_, index) => `${names[index]}=${front.tokens[index]}`).join(','),
      KEY_PEPPER: front.pepper,
      ROUTER_HOST: settings.gatewayHost,
      ROUTER_PORT: String(front.port),
      PUBLIC_URL: front.publicUrl,
    },
  )
  const { logs } = await openDataFolder(settings.data)
  const main = programPath('gateway/main-router', await provideBundle({ root, env: machineEnv(env) }))
  const program = { name: 'router', main, env: settingsOfRouter, logPath: join(logs, 'router.log') }
  return programPlan(program, routerStopMs)
}

const startedWith = (baseUrl: string, cells: readonly Started[]): Started => {
  const [first] = cells
  if (!first) throw new Error('there is no cell')
  return {
    ...first,
    base_url: baseUrl,
    cells: cells.map(({ api_key, account_id, data_dir }, index) => ({
      name: names[index] ?? '',
      api_key,
      account_id,
      data_dir,
    })),
  }
}

/** Runs the cells until `stop`; one that fails, also later, stops the others. */
const startCells = (deps: LocalDeps, settings: LocalSettings, front: Front) => {
  const stopping = new AbortController()
  const cells = names.slice(0, settings.databases).map((name, index) => {
    const up = Promise.withResolvers<Started>()
    const running = runLocal({
      ...deps,
      env: cellEnv(deps.env, settings, front, index),
      stop: stopping.signal,
      events: eventsOf(name, deps.events),
      started: up.resolve,
    })
    running.catch(up.reject)
    return { up: up.promise, running }
  })
  return {
    up: Promise.all(cells.map(({ up }) => up)),
    /** Rejects once one fails. */
    untilFailure: () => Promise.all(cells.map(({ running }) => running)),
    stop: async () => {
      stopping.abort()
      await Promise.allSettled(cells.map(({ running }) => running))
    },
  }
}

/**
 * Runs the whole system on this machine until `stop`, as `runLocal`; with more than one database a cell for each, and a router before
 * them, on the port that clients use. The first cell has the data folder of a single one, which so can grow.
 */
export const runCells = async (deps: LocalDeps): Promise<void> => {
  const settings = readLocalSettings(deps.env, availableParallelism())
  if (settings.databases === 1) return runLocal(deps)
  assertOwnStores(settings)
  const host = settings.gatewayHost
  const { path } = await openDataFolder(settings.data)
  const pepper = await shareAmongCells(settings)
  const portFile = join(path, 'router.json')
  const { port: previous } = (await readPrivate<{ readonly port: number }>(portFile)) ?? {}
  const port = await choosePublicPort({ port: settings.gatewayPort, host }, previous)
  await writePrivate(portFile, { port })
  // So that no cell chooses it, as the first one would that had it before.
  const held = await holdPort(port, host)
  const publicUrl = settings.publicUrl ?? `http://${formatAuthority({ host, port })}`
  const tokens = names.map(() => randomBytes(24).toString('base64url'))
  const front: Front = { port, publicUrl, tokens, pepper }
  const { stop, events } = deps
  // Each cell would begin it.
  await provideBundle({ root: deps.root, env: machineEnv(deps.env) })
  const cells = startCells(deps, settings, front)
  const router = createFleet({ events, stop, changed: async () => {} })
  try {
    const up = await Promise.race([cells.up, untilStopped(stop)])
    if (!up) return
    held[Symbol.dispose]()
    const part = await router.start(await routerPlan(deps, settings, front, up))
    deps.started(startedWith(part.current().addresses['baseUrl'] ?? '', up))
    await Promise.race([cells.untilFailure(), untilStopped(stop)])
  } catch (error) {
    if (!stop.aborted) throw error
  } finally {
    held[Symbol.dispose]()
    await router.stop([['router']])
    await cells.stop()
  }
}

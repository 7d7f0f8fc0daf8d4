import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { pathToFileURL } from 'node:url'
import { type Env, prefix } from '#shared/config/read-env.ts'
import { serviceNames, services } from '#shared/config/services.ts'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'
import { untilStopped } from '#shared/process/run-main.ts'
import { localSettings } from '#shared/config/settings/local.ts'
import { rotateLogs } from './rotate-log.ts'
import { openDataFolder, writePrivate } from './data-folder.ts'
import type { LocalEvents } from './events.ts'
import { findPrograms, programSearch } from './find-programs.ts'
import { captureFirst, type FirstCapture } from './first-capture.ts'
import { createFleet } from './fleet.ts'
import { gatherFacts } from './gather-facts.ts'
import type { LocalFile, LocalProcess } from './local-file.ts'
import { type LocalSettings, readLocalSettings } from './local-settings.ts'
import { acquireLock, type Lock } from './lock.ts'
import { type Facts, gatewayUrl, workerEnv } from './service-env.ts'
import { type StartedFleet, startFleet } from './start-fleet.ts'

/** The JSON document that `up` prints. */
export type Started = {
  readonly base_url: string
  readonly api_key: string
  readonly account_id: string
  readonly data_dir: string
  readonly pid: number
  /** Signs in to the console, once, within 15 minutes. */
  readonly console_url: string
  /** The reference of the API. */
  readonly reference_url: string
  /** Only of a new installation: how its first capture ended. */
  readonly first_capture?: FirstCapture
  /** With more than one database: each with its first account; the other fields are of the first. */
  readonly cells?: readonly (Pick<Started, 'api_key' | 'account_id' | 'data_dir'> & { readonly name: string })[]
}

/** Dependencies of `runLocal`. */
export type LocalDeps = {
  readonly env: Env
  readonly stop: AbortSignal
  /** Folder of the project. */
  readonly root: string
  readonly events: LocalEvents
  /** Called once, when all services run and the first capture of a new installation has ended, however it did. */
  readonly started: (started: Started) => void
}

/** The turns in which services and stores stop. */
const stopOrder = [1, 2, 3, 4].map((turn) => [
  ...serviceNames.filter((name) => services[name].stopTurn === turn),
  ...(turn === 4 ? ['nats', 'postgres'] : []),
])

/** Throws `CONFIGURATION` if a certificate or plans file is invalid. */
const checkFiles = async ({ plansFile, extraCa }: LocalSettings): Promise<void> => {
  await readExtraCertificates(extraCa)
  if (plansFile === '') return
  // Imported only if there is a file, because it loads a JSON schema compiler.
  const { readPlansFile } = await import('./read-plans-file.ts')
  await readPlansFile(plansFile)
}

const toLocalFile = (
  facts: Facts,
  { baseUrl, account }: StartedFleet,
  processes: readonly LocalProcess[],
): LocalFile => ({
  base_url: baseUrl,
  public_url: gatewayUrl(facts),
  api_key: account.apiKey,
  account_id: account.accountId,
  database_url: facts.directUrl,
  nats_url: facts.natsUrl('operator'),
  object_store: facts.settings.s3Url ?? pathToFileURL(facts.folder.objects).href,
  services: processes,
})

/** Updates `holder.json` and, once the system is up, `local.json` with the running processes. */
const createStateFiles = (facts: Facts, lock: Lock) => {
  const { localFile } = facts.folder
  let last = Promise.resolve()
  let up: StartedFleet | undefined
  let children: readonly LocalProcess[] = []
  const write = async (before: Promise<void>, stopping: boolean): Promise<void> => {
    await before
    await lock.write({ stopping, children: children.map(({ pid }) => pid) })
    if (up && !stopping) await writePrivate(localFile, toLocalFile(facts, up, children))
    else await rm(localFile, { force: true })
  }
  /** Serializes the writes in call order. */
  const enqueue = (stopping: boolean) => {
    // One that failed, as on a full disk, does not fail those after it.
    last = write(
      last.catch(() => {}),
      stopping,
    )
    return last
  }
  return {
    changed: (processes: readonly LocalProcess[]) => {
      children = processes
      return enqueue(false)
    },
    started: (fleet: StartedFleet) => {
      up = fleet
      return enqueue(false)
    },
    stopping: () => enqueue(true),
  }
}

/** Captures the first page of a new installation, and reports how it ended. */
const reportFirstCapture = async ({ baseUrl, account }: StartedFleet, { stop, events }: LocalDeps) => {
  const beganMs = performance.now()
  const firstCapture = await captureFirst(baseUrl, account.apiKey, stop)
  if (firstCapture.error === null) events.step('the first capture has succeeded', performance.now() - beganMs)
  else if (!stop.aborted) events.firstCaptureFailed(firstCapture.error)
  return firstCapture
}

/** Starts the system and keeps it running until `stop`. Other commands find it as soon as its services run, whatever they do with captures. */
const runOn = async (facts: Facts, lock: Lock, deps: LocalDeps): Promise<void> => {
  const { stop, events, started } = deps
  const abandoned = new AbortController()
  const starting = AbortSignal.any([stop, abandoned.signal])
  const stateFiles = createStateFiles(facts, lock)
  const fleet = createFleet({ events, stop: starting, changed: stateFiles.changed })
  try {
    const beganMs = performance.now()
    const up = await startFleet(fleet, facts, { starting, failed: (error) => abandoned.abort(error) })
    await stateFiles.started(up)
    const firstCapture = up.account.isNew ? await reportFirstCapture(up, deps) : undefined
    if (stop.aborted) return
    events.step('everything is up', performance.now() - beganMs)
    const { baseUrl, account } = up
    const from = { base_url: baseUrl, api_key: account.apiKey, account_id: account.accountId }
    const publicUrl = gatewayUrl(facts)
    started({
      ...from,
      data_dir: facts.folder.path,
      pid: process.pid,
      console_url: `${publicUrl}/console/sign-in#token=${account.signInToken}`,
      reference_url: `${publicUrl}/v1/docs`,
      ...(firstCapture && { first_capture: firstCapture }),
    })
    await untilStopped(stop)
  } catch (error) {
    if (!stop.aborted) throw abandoned.signal.reason ?? error
  } finally {
    events.stopping()
    await stateFiles.stopping().catch(events.notWritten)
    await fleet.stop(stopOrder)
  }
}

/** Runs the whole system on this machine until `stop`. Validates settings, programs and folder before it starts anything, and always stops every process. */
export const runLocal = async (deps: LocalDeps): Promise<void> => {
  const { env, root, events } = deps
  const settings = readLocalSettings(env, availableParallelism())
  if (settings.externalNatsUrl !== undefined) {
    events.unsafe(`${prefix}${localSettings.externalNatsUrl.name}`, 'workers too get this user, who may do everything')
  }
  await checkFiles(settings)
  const programs = await findPrograms(programSearch(settings, env, root))
  const folder = await openDataFolder(settings.data)
  await using lock = await acquireLock(folder)
  const facts = await gatherFacts({ operator: env, settings, folder, root, programs })
  await writePrivate(folder.workerEnv, workerEnv(facts, 'standard'))
  await writePrivate(folder.stealthWorkerEnv, workerEnv(facts, 'stealth'))
  await writePrivate(folder.proxiedWorkerEnv, workerEnv(facts, 'proxied'))
  using _logs = rotateLogs(folder.logs)
  await runOn(facts, lock, deps)
}

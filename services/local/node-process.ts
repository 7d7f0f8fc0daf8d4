import { untilStopped } from '#shared/process/run-main.ts'
import { startChild, startError, stopChild } from './child.ts'
import type { Running } from './supervise.ts'

const startMs = 60_000
/** 4 MiB for new objects instead of 16 saves 20 to 25 MiB in each idle gateway and ledger, which touch that memory once at the start. */
const youngSpace = '--max-semi-space-size=4'

/** A service to run as a Node process. */
export type NodeProcess = {
  readonly name: string
  /** Main file, as an absolute path. */
  readonly main: string
  readonly env: Readonly<Record<string, string>>
  readonly logPath: string
  /** Called when the service reports activity. */
  readonly active?: () => void
}

/** Starts a service and waits at most 60 s for its announcement. Throws `SERVICE_UNAVAILABLE` with the end of its log. */
export const startNodeProcess = async (service: NodeProcess, signal: AbortSignal): Promise<Running> => {
  const child = await startChild({
    command: process.execPath,
    args: [youngSpace, service.main],
    env: service.env,
    logPath: service.logPath,
    ipc: { active: service.active },
  })
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(startMs)])
  const addresses = await Promise.race([child.announced, child.exited, untilStopped(deadline)])
  if (typeof addresses === 'object') return { child, addresses }
  await stopChild(child, 'SIGTERM', 5000)
  throw await startError(`${service.name} did not start (${addresses ?? 'too slow'})`, service.logPath)
}

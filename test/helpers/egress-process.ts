import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Announcement } from '#shared/process/run-main.ts'
import { nodeEnv } from './node-env.ts'
import { testProgramPath } from './test-program-path.ts'

const main = testProgramPath('egress/main')

/** The egress service in a separate process. */
export type EgressProcess = Disposable & {
  readonly child: ChildProcess
  /** Its stdout and stderr, once it has exited. */
  readonly printed: Promise<readonly [string, string]>
  readonly ended: Promise<number | null>
  /** Its addresses, once it listens. Rejects with its output if it exits before that. */
  readonly announced: Promise<Announcement>
}

/** Starts the service on a free port, with only the given settings. */
export const startEgressProcess = (settings: Readonly<Record<string, string>>): EgressProcess => {
  const child = fork(main, {
    execArgv: [],
    env: { ...nodeEnv, SHUTTERFLEET_EGRESS_PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const printed = Promise.all([text(child.stdout!), text(child.stderr!)])
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const announced = Promise.race([
    once(child, 'message').then(([message]) => message as Announcement),
    ended.then(async () => Promise.reject(new Error((await printed).join('')))),
  ])
  // A test of a failed start awaits only `ended`.
  announced.catch(() => {})
  return { child, printed, ended, announced, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

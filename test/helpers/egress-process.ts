import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Announcement } from '#shared/process/run-main.ts'
import { nodeEnv } from './node-env.ts'

const main = new URL(import.meta.resolve('#egress/main.ts'))

/** The egress service as a process of its own. */
export type EgressProcess = Disposable & {
  readonly child: ChildProcess
  /** All that it printed, stdout and stderr, once it has ended. */
  readonly printed: Promise<readonly [string, string]>
  /** Its exit code. */
  readonly ended: Promise<number | null>
  /** Its addresses, once it listens. Rejects with what it printed where it ends before that. */
  readonly announced: Promise<Announcement>
}

/** Starts the service on a free port, told nothing but the given settings. */
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
  // A test of a service that does not start asks for its end alone.
  announced.catch(() => {})
  return { child, printed, ended, announced, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'

/** A program that has announced its addresses. */
export type AnnouncedProcess = {
  readonly pid: number
  readonly addresses: Readonly<Record<string, string>>
  /** Requests it to stop. */
  readonly stop: () => void
  /** Exit code. */
  readonly ended: Promise<number | null>
}

type Options = { readonly env: NodeJS.ProcessEnv; readonly log?: number | 'inherit' }

/** Starts one of our programs with arguments of Node; resolves once it is up. It is killed at the test's end. */
export const startAnnounced = async (
  t: { readonly teardown: (clean: () => Promise<void>) => void },
  args: readonly string[],
  { env, log = 'inherit' }: Options,
): Promise<AnnouncedProcess> => {
  const stdio: StdioOptions = ['ignore', 'inherit', log, 'ipc']
  const child: ChildProcess = spawn(process.execPath, args, { stdio, env })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const announced = once(child, 'message').then(([message]) => message as Record<string, string>)
  const addresses = await Promise.race([announced, ended])
  if (typeof addresses !== 'object' || addresses === null) throw new Error(`${args.at(-1)} ended with ${addresses}`)
  return { pid: child.pid ?? 0, addresses, stop: () => child.kill('SIGTERM'), ended }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { eventually } from '#test/helpers/eventually.ts'
import type { Fault } from './fault.ts'
import type { World } from './world.ts'

/** Longer than the lease of a delivery (10 s), shorter than a sender waits for PostgreSQL (12 s). */
const cutOffMs = 11_200
const takenMs = 10_000

/** Starts a second sender with the settings of a running one; it reaches PostgreSQL without the proxy. */
const startSecondSender = async (pid: number) => {
  const read = async (name: string) => (await readFile(`/proc/${pid}/${name}`, 'utf8')).split('\0').filter(Boolean)
  const [program = '', ...args] = await read('cmdline')
  const pairs = (await read('environ')).map((each) => /^([^=]*)=(.*)$/s.exec(each)?.slice(1) ?? [])
  const { NODE_CHANNEL_FD: _, ...env } = Object.fromEntries(pairs) as Record<string, string>
  const databaseUrl = env['SHUTTERFLEET_DATABASE_URL']?.replace('127.0.0.1', '127.0.0.2')
  return spawn(program, args, { env: { ...env, SHUTTERFLEET_DATABASE_URL: databaseUrl }, stdio: 'ignore' })
}

const isTaken = async ({ database }: World): Promise<boolean> => {
  const statement = 'select from webhook_delivery where body is null and leased_until > now() limit 1'
  return (await database.query(statement)).length > 0
}

/**
 * Cuts a webhook sender off from PostgreSQL once it has taken a delivery and not stored its body, until after another sender
 * has taken the delivery over. What it had sent arrives then.
 */
export const cutSenderOff: Fault = {
  durationsMs: [cutOffMs],
  begin: async (world) => {
    const { postgres } = world.proxies
    const [pid = 0] = await world.pidsOf('webhooks')
    // Time to observe the state between two statements.
    postgres.set({ latencyMs: 400, bytesPerSecond: 1_000_000 }, 'webhooks')
    await eventually(() => isTaken(world), { withinMs: takenMs }).catch(() => {})
    postgres.set('hold', 'webhooks')
    const second = await startSecondSender(pid)
    const ended = once(second, 'exit')
    return async () => {
      postgres.set('pass', 'webhooks')
      second.kill('SIGTERM')
      await ended
    }
  },
}

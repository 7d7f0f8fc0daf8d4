import { processTree, pssBytes } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'

const settleMs = 10_000

const nameOf = (command: string): string => {
  if (command.includes('chromium')) return 'Chromium'
  if (command.includes('browser-host')) return 'browser host'
  if (command.includes('nats-server')) return 'NATS'
  if (command.includes('postgres')) return 'PostgreSQL'
  return /services\/(\w+)\/main/.exec(command)?.[1] ?? command.slice(0, 40)
}

/** Memory of all processes of an idle system with one warm browser. */
export const measureMemory = async (): Promise<{ parts: { name: string; bytes: number }[]; total: number }> => {
  await using system = await startSystem()
  await new Promise((wake) => setTimeout(wake, settleMs))
  const sums = new Map<string, number>()
  for (const { pid, command } of processTree(system.pid)) {
    const name = nameOf(command)
    sums.set(name, (sums.get(name) ?? 0) + pssBytes(pid))
  }
  const parts = [...sums].map(([name, bytes]) => ({ name, bytes })).filter(({ bytes }) => bytes > 0)
  return { parts, total: parts.reduce((sum, { bytes }) => sum + bytes, 0) }
}

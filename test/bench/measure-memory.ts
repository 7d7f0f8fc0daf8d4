import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { processTree, pssBytes } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'

const settleMs = 10_000

const nameOf = (command: string): string => {
  const [program = ''] = command.split(' ')
  if (program === chromiumPath) return 'Chromium'
  if (program.endsWith('nats-server')) return 'NATS'
  if (/^postgres|\/postgres$/.test(program)) return 'PostgreSQL'
  if (command.includes('browser-host')) return 'browser host'
  return /services\/(\w+)\/main/.exec(command)?.[1] ?? program
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

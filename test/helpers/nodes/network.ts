import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'

const run = promisify(execFile)
const [lowest, highest] = [192, 250] as const
const triesMax = 20
const commandMs = 10_000

/** A network of this machine for one cluster's nodes: a bridge, and the machine's own address on it. */
export type NodeNetwork = AsyncDisposable & {
  readonly bridge: string
  /** Under which nodes and their pods reach this machine. */
  readonly address: string
  readonly nodeAddress: (index: number) => string
  /** Network of a node's pods. */
  readonly pods: (index: number) => string
  readonly allPods: string
  readonly services: string
  /** Name of the node's interface on this machine. */
  readonly veth: (index: number) => string
}

/** Makes one that no other cluster of this machine has: 10.N.0.0/16, N from 192 to 250. Needs root. */
export const openNodeNetwork = async (): Promise<NodeNetwork> => {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const number = randomInt(lowest, highest + 1)
    const bridge = `sfnodes${number}`
    const ip = (...args: readonly string[]) => run('ip', args, { timeout: commandMs })
    try {
      await ip('link', 'add', bridge, 'type', 'bridge')
    } catch (error) {
      if (String((error as { stderr?: unknown }).stderr).includes('File exists')) continue
      throw error
    }
    const removed = await removeAtEnd(bridge)
    const address = `10.${number}.0.1`
    await ip('address', 'add', `${address}/24`, 'dev', bridge)
    await ip('link', 'set', bridge, 'up')
    return {
      bridge,
      address,
      nodeAddress: (index) => `10.${number}.0.${10 + index}`,
      pods: (index) => `10.${number}.${index}.0/24`,
      allPods: `10.${number}.0.0/17`,
      services: `10.${number}.128.0/20`,
      veth: (index) => `${bridge}-${index}`,
      [Symbol.asyncDispose]: removed,
    }
  }
  throw new Error(`no network for nodes was free in ${triesMax} tries`)
}

/** Removes the bridge when called, or else when this process ends, however it ends: who removes it waits for the end of a pipe. */
const removeAtEnd = async (bridge: string) => {
  const script = 'cat; exec ip link delete "$1"'
  const remover = spawn('sh', ['-c', script, 'sh', bridge], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  await once(remover, 'spawn')
  return async () => {
    if (remover.exitCode !== null) return
    remover.stdin.end()
    await once(remover, 'exit')
  }
}

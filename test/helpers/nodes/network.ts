import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'

const run = promisify(execFile)
const [lowest, highest] = [192, 250] as const
/** Third octet of the pods of index 0, which no node has. */
const podsFrom = 64
const triesMax = 20
const commandMs = 10_000

/** A network on this machine for one cluster's nodes: a bridge, and the machine's address on it. */
export type NodeNetwork = AsyncDisposable & {
  readonly bridge: string
  /** Address of this machine for nodes and their pods. */
  readonly address: string
  /** Second address of this machine, in place of the web: of 203.0.113.0/24 (RFC 5737), so that it is not public. */
  readonly webAddress: string
  readonly nodeAddress: (index: number) => string
  /** Pod network of a node. */
  readonly pods: (index: number) => string
  readonly allPods: string
  readonly services: string
  /** Routes this machine's traffic for Services through a node. */
  readonly routeServices: (index: number) => Promise<void>
  /** Name of the node's interface on this machine. */
  readonly veth: (index: number) => string
}

/**
 * Creates a network unique on this machine: 10.N.0.0/16, N from 192 to 250. Nodes and pods have separate address ranges,
 * because kube-proxy preserves the client address only of pods, whose responses return the same way. Needs root.
 */
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
    const webAddress = `203.0.113.${number}`
    await ip('address', 'add', `${webAddress}/32`, 'dev', bridge)
    await ip('link', 'set', bridge, 'up')
    const services = `10.${number}.128.0/20`
    const nodeAddress = (index: number) => `10.${number}.0.${10 + index}`
    return {
      bridge,
      address,
      webAddress,
      nodeAddress,
      pods: (index) => `10.${number}.${podsFrom + index}.0/24`,
      allPods: `10.${number}.${podsFrom}.0/18`,
      services,
      routeServices: async (index) => {
        await ip('route', 'replace', services, 'via', nodeAddress(index), 'dev', bridge)
      },
      veth: (index) => `${bridge}-${index}`,
      [Symbol.asyncDispose]: removed,
    }
  }
  throw new Error(`no free network for nodes found in ${triesMax} attempts`)
}

/** Removes the bridge when called, or when this process ends for any reason: the removing process waits for a pipe's end. */
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

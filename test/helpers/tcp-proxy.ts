import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** Forwards TCP to kube-apiserver without terminating TLS. Stopped at the test's end. */
export type TcpProxy = {
  /** Path of a kubeconfig with the proxy as the server. */
  readonly kubeconfig: string
  /** Silently drops all later bytes of the open connections, in both directions. */
  readonly freeze: () => void
  /** Number of TCP connections accepted so far. */
  readonly connections: () => number
}

type Kubeconfig = { clusters: { cluster: { server: string } }[] }
type WithTeardown = { teardown: (clean: () => void) => void; testdir: () => string }

/** Starts a proxy on a free port in front of the API server of a kubeconfig in JSON. */
export const startTcpProxy = async (t: WithTeardown, kubeconfig: string): Promise<TcpProxy> => {
  const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig
  const { hostname, port } = new URL(config.clusters[0]!.cluster.server)
  const sockets = new Set<Socket>()
  let connections = 0

  const proxy = createServer((near) => {
    connections += 1
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => from.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const through = {
    server: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    'tls-server-name': 'kubernetes',
  }
  const [{ cluster, ...named }] = config.clusters as [Kubeconfig['clusters'][number]]
  const path = join(t.testdir(), 'tcp-proxy.kubeconfig')
  await writeFile(path, JSON.stringify({ ...config, clusters: [{ ...named, cluster: { ...cluster, ...through } }] }))
  return {
    kubeconfig: path,
    freeze: () => {
      for (const socket of sockets) socket.removeAllListeners('data').pause()
    },
    connections: () => connections,
  }
}

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

type WithTeardown = { teardown: (clean: () => void) => void; testdir: () => string }

/** An HTTP server in place of kube-apiserver. Stopped at the test's end. */
export type StubApiServer = {
  /** Path of its kubeconfig. */
  readonly kubeconfig: string
  /** Number of TCP connections accepted so far. */
  readonly connections: () => number
}

/** Starts a server with `answer` as the handler of every request. */
export const startStubApiServer = async (
  t: WithTeardown,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<StubApiServer> => {
  let connections = 0
  const server = createServer(handler)
  server.on('connection', () => (connections += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { kubeconfig: await writePlainKubeconfig(t.testdir(), port), connections: () => connections }
}

/** Writes a kubeconfig for a local port, without TLS, and returns its path. */
export const writePlainKubeconfig = async (folder: string, port: number): Promise<string> => {
  const path = join(folder, 'kubeconfig')
  const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
  const config = {
    clusters: [{ name: 'plain', cluster }],
    users: [{ name: 'plain', user: { token: 'secret' } }],
    contexts: [{ name: 'plain', context: { cluster: 'plain', user: 'plain', namespace: 'here' } }],
    'current-context': 'plain',
  }
  await writeFile(path, JSON.stringify(config))
  return path
}

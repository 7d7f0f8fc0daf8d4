import { freePort } from '#test/helpers/free-port.ts'
import { startNatsCluster, type TestNats } from '#test/helpers/nats.ts'
import { type PostgresPair, startPostgresPair } from './postgres-pair.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const host = '127.0.0.2'
const portOf = ({ url }: TestNats) => Number(new URL(url).port)

/** PostgreSQL with a replica and NATS of three servers, by name, each behind one address of a proxy; the replica behind another. */
export type Replicas = AsyncDisposable & {
  readonly postgres: PostgresPair
  readonly nats: ReadonlyMap<string, TestNats>
  readonly proxies: Readonly<Record<'nats' | 'postgres', TcpProxy>>
  /** Arguments of `up`, and its environment. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Starts both stores and their proxies. `clients`: as for `startTcpProxy`. */
export const startReplicas = async (clients: Parameters<typeof startTcpProxy>[1]): Promise<Replicas> => {
  await using started = new AsyncDisposableStack()
  const [natsPort, postgresPort, replicaPort] = [await freePort(), await freePort(), await freePort()]
  const nats = await startNatsCluster(undefined, host)
  for (const server of nats.values()) started.use(server)
  const postgres = started.use(await startPostgresPair(postgresPort))
  const servers = [...nats.values()]
  let connections = 0
  const nextServer = () => {
    connections += 1
    return { host, port: portOf(servers[connections % servers.length]!) }
  }
  const proxies = {
    nats: started.use(await startTcpProxy(natsPort, clients, nextServer)),
    postgres: started.use(
      await startTcpProxy(postgresPort, clients, () => ({ host: postgres.host(), port: postgresPort })),
    ),
  }
  const toReplica = () => ({ host: postgres.replicaHost(), port: postgresPort })
  started.use(await startTcpProxy(replicaPort, async () => new Map(), toReplica))
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/shutterfleet`
  const owned = started.move()
  return {
    postgres,
    nats,
    proxies,
    args: ['--postgres', urlOf(postgresPort), '--nats', `nats://127.0.0.1:${natsPort}`],
    env: { SHUTTERFLEET_DATABASE_REPLICA_URL: urlOf(replicaPort) },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

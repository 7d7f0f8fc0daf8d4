import { freePort } from '#test/helpers/free-port.ts'
import { startNatsCluster, type TestNats } from '#test/helpers/nats.ts'
import { type PostgresPair, startPostgresPair } from './postgres-pair.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const host = '127.0.0.2'
const portOf = ({ url }: TestNats) => Number(new URL(url).port)

/** PostgreSQL with a replica and NATS of three servers, by name, each behind one address of a proxy. */
export type Replicas = AsyncDisposable & {
  readonly postgres: PostgresPair
  readonly nats: ReadonlyMap<string, TestNats>
  readonly proxies: Readonly<Record<'nats' | 'postgres', TcpProxy>>
  /** Arguments of `up`. */
  readonly args: readonly string[]
}

/** Starts both stores and their proxies. `clients`: as for `startTcpProxy`. */
export const startReplicas = async (clients: Parameters<typeof startTcpProxy>[1]): Promise<Replicas> => {
  await using started = new AsyncDisposableStack()
  const [natsPort, postgresPort] = [await freePort(), await freePort()]
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
  const postgresUrl = `postgres://postgres@127.0.0.1:${postgresPort}/shutterfleet`
  const owned = started.move()
  return {
    postgres,
    nats,
    proxies,
    args: ['--postgres', postgresUrl, '--nats', `nats://127.0.0.1:${natsPort}`],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

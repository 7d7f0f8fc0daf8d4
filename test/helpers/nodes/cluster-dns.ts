import type { ClusterPlace } from '#test/helpers/cluster-programs.ts'
import { type DnsServer, startDnsServer } from '#test/helpers/dns-server.ts'
import { readApi } from './read-api.ts'

const dnsPort = 53
const serviceName = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.cluster\.local$/

type Service = { readonly spec: { readonly clusterIP: string } }

/** Resolves only the names of a cluster's Services, by a request to the API for each query. */
export const startClusterDns = (place: ClusterPlace, host: string): Promise<DnsServer> =>
  startDnsServer(
    async (name) => {
      const [, service, namespace] = serviceName.exec(name) ?? []
      if (service === undefined) return undefined
      const found = await readApi<Service>(place, `/api/v1/namespaces/${namespace}/services/${service}`)
      return found && [found.spec.clusterIP]
    },
    { host, port: dnsPort },
  )

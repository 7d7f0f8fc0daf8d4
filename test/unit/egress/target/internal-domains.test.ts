import t from 'tap'
import { isInternalName, searchDomains } from '#egress/target/internal-domains.ts'

t.test('internal domains: a name of a cluster, an intranet or a single label is internal', async (t) => {
  for (const host of [
    ...['kubernetes', 'internal', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'cluster.local'],
    ...['metadata.google.internal', 'ip-10-0-0-1.ec2.internal', 'host.docker.internal', 'printer.local', 'nas.lan'],
    ...['router.home.arpa', 'router.home', 'wiki.corp', 'wiki.intranet', 'a.private', 'default.service.arpa'],
    ...['a.localdomain', 'a.localhost', 'vault.service.consul', 'resolver.arpa'],
  ]) {
    t.ok(isInternalName(host, []), host)
  }
})

t.test('internal domains: a public name is not internal, whatever it contains', async (t) => {
  for (const host of [
    ...['example.com', 'internal.example.com', 'local.example.com', 'localhost.example.com', 'notlocal.com'],
    ...['my-internal.net', 'a.xinternal', 'svc.example', 'corp.example.org', 'in-addr.arpa', 'a.test'],
  ]) {
    t.notOk(isInternalName(host, []), host)
  }
})

t.test("internal domains: the operator's domains are internal, with all names below them", async (t) => {
  const more = ['eu.compute.example', 'svc.k8s.test']
  for (const host of ['eu.compute.example', 'ip-1.eu.compute.example', 'api.default.svc.k8s.test']) {
    t.ok(isInternalName(host, more), host)
  }
  for (const host of ['compute.example', 'xeu.compute.example', 'k8s.test']) t.notOk(isInternalName(host, more), host)
})

t.test('internal domains: reads the search list of a resolv.conf, without the root', async (t) => {
  const pod = 'nameserver 10.96.0.10\nsearch default.svc.k8s.test svc.k8s.test  K8s.Test.\noptions ndots:5\n'
  t.same(searchDomains(pod), ['default.svc.k8s.test', 'svc.k8s.test', 'k8s.test'])
  t.same(searchDomains('domain a.test\n\tsearch b.test\t. 10.0.0.1\n# search c.test\nsearches d.test'), [
    'a.test',
    'b.test',
  ])
  t.same(searchDomains('search .\n'), [])
  t.same(searchDomains(''), [])
})

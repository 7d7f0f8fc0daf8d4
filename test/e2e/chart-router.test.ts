import t from 'tap'
import { ciPath, objectsOf, podsOf, renderText } from '#test/helpers/chart.ts'

t.test('chart: clients reach the router, which reaches cells alone; a gateway accepts its routers', async (t) => {
  const policiesOf = async (name: string, args: readonly string[] = []) => {
    const policies = objectsOf(await renderText(ciPath(name), 'helm4', args)).filter(
      ({ kind }) => kind === 'NetworkPolicy',
    )
    return (component: string) =>
      policies.find(({ metadata }) => metadata.name === `shots-shutterfleet-${component}`)?.spec as
        | { readonly ingress: readonly { from?: readonly object[] }[]; readonly egress: readonly object[] }
        | undefined
  }
  const peer = (component: string) => ({ podSelector: { matchLabels: { 'app.kubernetes.io/component': component } } })
  const ports = [{ port: 8080 }]
  const behindRouter = await policiesOf('router')
  t.match(behindRouter('router'), {
    ingress: [{ from: [{ namespaceSelector: {} }, peer('test')], ports }, { ports: [{ port: 9090 }] }],
    egress: [
      { ports: [{ port: 53 }, { port: 53 }] },
      { to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'two' } } }], ports },
      { to: [peer('gateway')], ports },
    ],
  })
  t.equal(behindRouter('router')?.egress.length, 3)
  t.match(behindRouter('gateway')?.ingress[0], { from: [peer('router'), peer('test')], ports })
  t.match((await policiesOf('cell'))('gateway')?.ingress[0], { from: [peer('router'), peer('test')], ports })
  const alone = await policiesOf('router', ['--set-json=router.cells=[{"name":"one"}]'])
  t.equal(alone('router')?.egress.length, 2, 'no rule for cells elsewhere')
  const anyone = await policiesOf('minimal')
  t.strictSame(anyone('gateway')?.ingress[0], { ports })
  t.equal(anyone('router'), undefined)
})

t.test('chart: what stops has more time than its running requests, and a router takes no role', async (t) => {
  const drains = ['--set-string=gateway.settings.GATEWAY_DRAIN_MS=60000']
  const pods = podsOf(objectsOf(await renderText(ciPath('router'), 'helm4', drains)))
  const podOf = (component: string) =>
    pods.find(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component)
  const pod = podOf('router')
  t.match(pod?.spec, { terminationGracePeriodSeconds: 140, automountServiceAccountToken: false })
  t.match(podOf('gateway')?.spec, { terminationGracePeriodSeconds: 80 })
  const drain = pod?.spec.containers[0].env?.find(({ name }) => name === 'SHUTTERFLEET_ROUTER_DRAIN_MS')
  t.equal(drain?.value, '120000')
})

t.test('chart: Ingress, HTTPRoute and test of a release with a router lead to its Service', async (t) => {
  const routes = ['--set=httpRoute.enabled=true,httpRoute.parentRefs[0].name=public']
  const rendered = objectsOf(await renderText(ciPath('router'), 'helm4', routes))
  const text = (kind: string) => JSON.stringify(rendered.filter((object) => object.kind === kind))
  t.match(text('Ingress'), '"service":{"name":"shots-shutterfleet-router"')
  t.match(text('HTTPRoute'), '"backendRefs":[{"name":"shots-shutterfleet-router","port":8080}]')
  t.match(text('Pod'), '"value":"http://shots-shutterfleet-router.shots.svc:8080"')
})

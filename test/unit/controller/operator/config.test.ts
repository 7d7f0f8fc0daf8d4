import t from 'tap'
import { readConfig } from '#controller/operator/config.ts'

const env = {
  SHUTTERFLEET_NATS_URL: 'nats://controller:x@nats:4222',
  SHUTTERFLEET_POD_IMAGE: 'worker:1',
  SHUTTERFLEET_POD_EGRESS: 'egress:3128',
}

t.test('in a pod, image and egress of the workers are all that has to be said', async (t) => {
  t.match(readConfig(env), {
    kubeconfig: '',
    poolsNamespace: '',
    leaseSeconds: 15,
    poolTickMs: 1000,
    podEgress: { host: 'egress', port: 3128 },
    podSecret: 'shutterfleet-worker',
    podExtraCa: false,
    instance: 'shutterfleet',
    podSeccomp: 'shutterfleet-worker.json',
    podIsolation: 'namespace',
    podUnsafeNoSandbox: false,
  })
})

t.test('what is missing is named, all at once', async (t) => {
  t.throws(() => readConfig({}), /SHUTTERFLEET_NATS_URL.*SHUTTERFLEET_POD_IMAGE.*SHUTTERFLEET_POD_EGRESS/s)
})

t.test('settings of a single pool stand in its BrowserPool, and are taken from nowhere else', async (t) => {
  t.notOk('poolMin' in readConfig({ ...env, SHUTTERFLEET_POOL_MIN: '3' }))
})

t.test('the name of an installation can be a label', async (t) => {
  const named = (instance: string) => readConfig({ ...env, SHUTTERFLEET_INSTANCE: instance }).instance
  for (const name of ['a', 'Team.a_b-1', 'a'.repeat(63)]) t.equal(named(name), name)
  for (const name of ['', '-a', 'a-', 'a b', 'a,b=c', 'a'.repeat(64)])
    t.throws(() => named(name), /must be a label/, name)
})

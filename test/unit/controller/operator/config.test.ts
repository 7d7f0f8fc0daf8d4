import t from 'tap'
import { readConfig } from '#controller/operator/config.ts'

const env = {
  SHUTTERFLEET_NATS_URL: 'nats://controller:x@nats:4222',
  SHUTTERFLEET_POD_IMAGE: 'worker:1',
  SHUTTERFLEET_POD_EGRESS: 'egress:3128',
}

t.test('operator settings: only image and egress of the workers are required in a pod', async (t) => {
  t.match(readConfig(env), {
    kubeconfig: '',
    poolsNamespace: '',
    leaseSeconds: 6,
    poolTickMs: 1000,
    podEgress: { host: 'egress', port: 3128 },
    podSecret: 'shutterfleet-worker',
    podExtraCa: false,
    podEgressCa: '',
    podNatsFiles: [],
    instance: 'shutterfleet',
    podSeccomp: 'shutterfleet-worker.json',
    podAppArmor: '',
    podSecurityContext: { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 },
    podLabels: {},
    podAnnotations: {},
    podIsolation: 'namespace',
    podUnsafeNoSandbox: false,
  })
})

t.test('operator settings: all missing settings are reported at once', async (t) => {
  t.throws(() => readConfig({}), /SHUTTERFLEET_NATS_URL.*SHUTTERFLEET_POD_IMAGE.*SHUTTERFLEET_POD_EGRESS/s)
})

t.test('operator settings: the settings of a pool come from its BrowserPool only', async (t) => {
  t.notOk('poolMin' in readConfig({ ...env, SHUTTERFLEET_POOL_MIN: '3' }))
})

t.test('operator settings: ids of workers are above 0, and may be left out', async (t) => {
  const read = (value: string) => readConfig({ ...env, SHUTTERFLEET_POD_SECURITY_CONTEXT: value }).podSecurityContext
  t.strictSame(read('{"runAsUser":1000650000,"fsGroup":null}'), { runAsUser: 1_000_650_000 })
  for (const value of ['{"runAsUser":0}', '{"runAsUser":"1"}', '{"privileged":true}', '[]', 'null', 'x']) {
    t.throws(() => read(value), /POD_SECURITY_CONTEXT.* must be a JSON object of runAsUser/, value)
  }
})

t.test('operator settings: labels and annotations of workers are none that the controller uses', async (t) => {
  const read = (value: string) => readConfig({ ...env, SHUTTERFLEET_POD_LABELS: value }).podLabels
  t.strictSame(read('{"team":"web"}'), { team: 'web' })
  const refused = ['app.kubernetes.io/name', 'shutterfleet.dev/pool', 'custom.shutterfleet.dev/a'].map((name) => ({
    [name]: 'web',
  }))
  for (const value of [...refused, { team: 1 }, ['team'], null]) {
    t.throws(() => read(JSON.stringify(value)), /SHUTTERFLEET_POD_LABELS.*must be a JSON object/, JSON.stringify(value))
  }
  t.throws(() => read('team=web'), /must be a JSON object/)
})

t.test('operator settings: files of NATS in the Secrets of workers are of known kinds', async (t) => {
  const filesOf = (value: string) => readConfig({ ...env, SHUTTERFLEET_POD_NATS_FILES: value }).podNatsFiles
  t.strictSame(filesOf('credentials, certificate'), ['credentials', 'certificate'])
  for (const value of ['creds', 'nkey,', 'nkey;certificate'])
    t.throws(
      () => filesOf(value),
      /SHUTTERFLEET_POD_NATS_FILES.*must be a list of credentials, nkey, certificate/,
      value,
    )
})

t.test('operator settings: the name of an installation must be a valid label', async (t) => {
  const named = (instance: string) => readConfig({ ...env, SHUTTERFLEET_INSTANCE: instance }).instance
  for (const name of ['a', 'Team.a_b-1', 'a'.repeat(63)]) t.equal(named(name), name)
  for (const name of ['', '-a', 'a-', 'a b', 'a,b=c', 'a'.repeat(64)])
    t.throws(() => named(name), /must be a label/, name)
})

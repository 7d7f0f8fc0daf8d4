import t from 'tap'
import { Rest } from '#shared/process/rest.ts'
import { dataPaths } from '#local/data-folder.ts'
import { readLocalSettings } from '#local/local-settings.ts'
import { type Facts, machineEnv, serviceEnv, workerEnv } from '#local/service-env.ts'
import { serviceNames } from '#shared/config/services.ts'

const operator = {
  PATH: '/bin',
  NODE_COMPILE_CACHE: '/cache',
  AWS_SECRET_ACCESS_KEY: 'not ours',
  NODE_OPTIONS: '--import x',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
  SHUTTERFLEET_LOG_LEVEL: 'warn',
  SHUTTERFLEET_EGRESS_DNS_MS: '900',
  SHUTTERFLEET_WORKER_SLOTS: '2',
  SHUTTERFLEET_KEY_PEPPER_FILE: '/pepper',
  SHUTTERFLEET_S3_URL: 'https://K:S@store/bucket',
  SHUTTERFLEET_PROBE_PORT: '9000',
}

const facts: Facts = {
  operator,
  secrets: {
    postgresPassword: 'pg',
    keyPepper: 'pepper',
    storageSigningKey: 'signing',
    linkSigningKey: 'linking',
    recordKey: 'recording',
    egressToken: 'token of pages',
    webhookEgressToken: 'token of webhooks',
    queuePasswords: {
      operator: '',
      gateway: '',
      ledger: '',
      controller: '',
      worker_standard: '',
      worker_stealth: '',
      worker_proxied: '',
    },
    sealingKeys: {
      standard: { public: 'public', private: 'private' },
      stealth: { public: 'public of stealth', private: 'private of stealth' },
      proxied: { public: 'public of proxied', private: 'private of proxied' },
    },
    webhookKeys: { public: 'public of webhooks', private: 'private of webhooks' },
  },
  ports: { gateway: 1, objects: 2, egress: 3, webhookEgress: 6, postgres: 4, natsHealth: 1, nats: 5 },
  databaseUrl: 'postgres://database',
  directUrl: 'postgres://database',
  rest: new Rest(),
  natsUrl: (user) => `nats://${user}`,
  settings: { ...readLocalSettings({}, 1), poolMax: 2, poolIdleCores: 3, stealthMax: 2, proxiedMax: 1 },
  folder: dataPaths('/data'),
  root: '/project',
  programs: { postgresBin: '/bin', natsServer: '/nats', chromium: '/chromium', stealthChromium: '/full-chromium' },
}

const variableNames = (env: Readonly<Record<string, string>>) => Object.keys(env)

t.test('service env: a process inherits needed variables of the machine, and no foreign secret', (t) => {
  t.strictSame(machineEnv(operator), { PATH: '/bin', NODE_COMPILE_CACHE: '/cache' })
  t.end()
})

t.test('service env: services use a direct database URL only with a given pooler, whatever the environment', (t) => {
  const left = { ...facts, operator: { ...operator, SHUTTERFLEET_DATABASE_DIRECT_URL: 'postgres://elsewhere' } }
  for (const name of ['gateway', 'ledger', 'webhooks'] as const) {
    t.match(serviceEnv(left, name), { SHUTTERFLEET_DATABASE_DIRECT_URL: '' })
    const pooled = serviceEnv({ ...left, databaseUrl: 'postgres://pooler' }, name)
    t.match(pooled, {
      SHUTTERFLEET_DATABASE_URL: 'postgres://pooler',
      SHUTTERFLEET_DATABASE_DIRECT_URL: 'postgres://database',
    })
  }
  t.end()
})

t.test("service env: a worker gets its pool's key and address, and no other secret", (t) => {
  const env = workerEnv(facts, 'standard')
  t.match(env, {
    SHUTTERFLEET_NATS_URL: 'nats://worker_standard',
    SHUTTERFLEET_WORKER_OPENING_KEYS: 'private',
    SHUTTERFLEET_WORKER_EGRESS: '127.0.0.1:3',
    SHUTTERFLEET_EGRESS_TOKEN: 'token of pages',
    SHUTTERFLEET_WORKER_SLOTS: '2',
  })
  const secrets = /DATABASE|PEPPER|SIGNING|RECORD|S3_|STORAGE|AWS/
  t.strictSame(
    variableNames(env).filter((name) => secrets.test(name)),
    [],
  )
  t.not(
    variableNames(serviceEnv(facts, 'gateway')).filter((name) => secrets.test(name)).length,
    0,
    'the pattern matches in other services',
  )
  t.end()
})

t.test('service env: services reach each other where they listen, by IPv6 too', (t) => {
  const hosts = { gatewayHost: '::1', objectsHost: 'fd00::1', egressHost: '::1', s3Url: undefined }
  const v6 = { ...facts, settings: { ...facts.settings, ...hosts } }
  t.match(workerEnv(v6, 'standard'), { SHUTTERFLEET_WORKER_EGRESS: '[::1]:3' })
  t.match(serviceEnv(v6, 'webhooks'), {
    SHUTTERFLEET_PUBLIC_URL: 'http://[::1]:1',
    SHUTTERFLEET_WEBHOOK_EGRESS: '[::1]:6',
  })
  t.match(serviceEnv(v6, 'gateway'), { SHUTTERFLEET_STORAGE_FILES_URL: 'http://[fd00::1]:2' })
  t.end()
})

t.test('service env: each kind of worker has its own user, key and environment', (t) => {
  t.match(workerEnv(facts, 'proxied'), {
    SHUTTERFLEET_NATS_URL: 'nats://worker_proxied',
    SHUTTERFLEET_WORKER_POOL: 'proxied',
    SHUTTERFLEET_WORKER_OPENING_KEYS: 'private of proxied',
  })
  t.match(serviceEnv(facts, 'gateway'), {
    SHUTTERFLEET_SEALING_KEY_STANDARD: 'public',
    SHUTTERFLEET_LINK_SIGNING_KEYS: '1:linking',
    SHUTTERFLEET_RECORD_KEYS: '1:recording',
    SHUTTERFLEET_SEALING_KEY_PROXIED: 'public of proxied',
  })
  const keys = { SHUTTERFLEET_LINK_SIGNING_KEYS: 'b:new,1:linking', SHUTTERFLEET_RECORD_KEYS: 'b:new,1:recording' }
  t.match(serviceEnv({ ...facts, operator: { ...operator, ...keys } }, 'gateway'), keys, 'the operator can rotate them')
  t.match(serviceEnv(facts, 'webhooks'), { SHUTTERFLEET_RECORD_KEYS: '1:recording' })
  t.match(serviceEnv(facts, 'controller'), {
    SHUTTERFLEET_WORKER_ENV_FILE: '/data/worker-env.json',
    SHUTTERFLEET_PROXIED_WORKER_ENV_FILE: '/data/proxied-worker-env.json',
    SHUTTERFLEET_POOL_IDLE_CORES: '3',
    SHUTTERFLEET_PROXIED_MAX: '1',
  })
  t.end()
})

t.test(
  'service env: without full Chromium the gateway gets no stealth key, and the controller no stealth workers',
  (t) => {
    const without = { ...facts, programs: { ...facts.programs, stealthChromium: undefined } }
    t.equal(serviceEnv(facts, 'gateway')['SHUTTERFLEET_SEALING_KEY_STEALTH'], 'public of stealth')
    t.equal(serviceEnv(without, 'gateway')['SHUTTERFLEET_SEALING_KEY_STEALTH'], '')
    const workers = {
      SHUTTERFLEET_STEALTH_WORKER_ENV_FILE: '/data/stealth-worker-env.json',
      SHUTTERFLEET_STEALTH_MAX: '2',
    }
    t.match(serviceEnv(facts, 'controller'), workers)
    t.equal(serviceEnv(without, 'controller')['SHUTTERFLEET_STEALTH_WORKER_ENV_FILE'], undefined)
    t.match(workerEnv(facts, 'stealth'), {
      SHUTTERFLEET_NATS_URL: 'nats://worker_stealth',
      SHUTTERFLEET_WORKER_POOL: 'stealth',
      SHUTTERFLEET_WORKER_OPENING_KEYS: 'private of stealth',
      SHUTTERFLEET_STEALTH_CHROMIUM: '/full-chromium',
    })
    t.equal(workerEnv(facts, 'proxied')['SHUTTERFLEET_STEALTH_CHROMIUM'], '/full-chromium')
    t.end()
  },
)

t.test(
  'service env: webhooks gets the database, the object store, its own egress and its opening key, and no queue',
  (t) => {
    const env = serviceEnv(facts, 'webhooks')
    t.match(env, {
      SHUTTERFLEET_DATABASE_URL: 'postgres://database',
      SHUTTERFLEET_WEBHOOK_EGRESS: '127.0.0.1:6',
      SHUTTERFLEET_EGRESS_TOKEN: 'token of webhooks',
      SHUTTERFLEET_WEBHOOK_OPENING_KEYS: 'private of webhooks',
      SHUTTERFLEET_STORAGE_DRIVER: 'files',
      SHUTTERFLEET_PUBLIC_URL: 'http://127.0.0.1:1',
    })
    const others = /NATS|PEPPER|LINK_SIGNING|SEALING/
    t.strictSame(
      variableNames(env).filter((name) => others.test(name)),
      [],
    )
    t.equal(serviceEnv(facts, 'gateway')['SHUTTERFLEET_SEALING_KEY_WEBHOOKS'], 'public of webhooks')
    t.equal(serviceEnv(facts, 'webhook-egress')['SHUTTERFLEET_EGRESS_PORT'], '6')
    t.equal(serviceEnv(facts, 'webhook-egress')['SHUTTERFLEET_EGRESS_TOKENS'], 'token of webhooks')
    t.equal(serviceEnv(facts, 'egress')['SHUTTERFLEET_EGRESS_TOKENS'], 'token of pages')
    const named = { ...facts, operator: { ...operator, SHUTTERFLEET_PUBLIC_URL: 'https://shots.example' } }
    t.equal(serviceEnv(named, 'webhooks')['SHUTTERFLEET_PUBLIC_URL'], 'https://shots.example')
    t.end()
  },
)

t.test("service env: each service gets the operator's settings for it, and not those of others", (t) => {
  t.equal(serviceEnv(facts, 'egress')['SHUTTERFLEET_EGRESS_DNS_MS'], '900')
  t.equal(serviceEnv(facts, 'gateway')['SHUTTERFLEET_EGRESS_DNS_MS'], undefined)
  for (const env of [...serviceNames.map((name) => serviceEnv(facts, name)), workerEnv(facts, 'standard')]) {
    t.match(env, {
      PATH: '/bin',
      SHUTTERFLEET_LOG_LEVEL: 'warn',
      SHUTTERFLEET_PROBE_PORT: '0',
      NODE_COMPILE_CACHE: '/cache',
    })
    t.equal(env['NODE_OPTIONS'], undefined)
  }
  t.end()
})

t.test('service env: objects are local files unless an object store is given', (t) => {
  t.match(serviceEnv(facts, 'gateway'), {
    SHUTTERFLEET_STORAGE_DRIVER: 'files',
    SHUTTERFLEET_STORAGE_FOLDER: '/data/objects',
    SHUTTERFLEET_STORAGE_FILES_URL: 'http://127.0.0.1:2',
    SHUTTERFLEET_GATEWAY_OBJECTS_PORT: '2',
  })
  const withStore = { ...facts, settings: { ...facts.settings, s3Url: 'https://K:S@store/bucket' } }
  for (const env of [serviceEnv(withStore, 'gateway'), serviceEnv(withStore, 'ledger')]) {
    t.match(env, { SHUTTERFLEET_STORAGE_DRIVER: 's3', SHUTTERFLEET_S3_URL: 'https://K:S@store/bucket' })
  }
  t.end()
})

t.test("service env: an operator's file variable does not duplicate a generated setting", (t) => {
  const env = serviceEnv(facts, 'gateway')
  t.equal(env['SHUTTERFLEET_KEY_PEPPER'], 'pepper')
  t.equal(env['SHUTTERFLEET_KEY_PEPPER_FILE'], undefined)
  t.end()
})

t.test('service env: only services that send spans get the tracing variables, which may hold a token', (t) => {
  const withToken = serviceNames.filter((name) => 'OTEL_EXPORTER_OTLP_HEADERS' in serviceEnv(facts, name))
  t.same(withToken, ['gateway', 'ledger', 'webhooks'])
  for (const env of [machineEnv(operator), workerEnv(facts, 'standard')]) {
    t.notHas(env, { OTEL_EXPORTER_OTLP_HEADERS: String })
  }
  t.end()
})

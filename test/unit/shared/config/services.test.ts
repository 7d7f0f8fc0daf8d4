import t from 'tap'
import { serviceNames, services, serviceSettings } from '#shared/config/services.ts'
import { serviceUsers } from '#shared/queue/permissions.ts'

t.test('services: every service reads the common settings, and only a user of NATS has queue settings', (t) => {
  for (const name of serviceNames) {
    const names = Object.values(serviceSettings(name)).map((setting) => setting.name)
    t.ok(names.includes('LOG_LEVEL'), name)
    t.equal(
      names.includes('NATS_URL'),
      serviceUsers.some((user) => user.name === name),
      name,
    )
  }
  t.end()
})

t.test('services: a service stops before the services that it needs', (t) => {
  for (const name of serviceNames) {
    for (const need of services[name].needs) {
      if (need === 'nats' || need === 'database') continue
      t.ok(services[name].stopTurn < services[need].stopTurn, `${name} before ${need}`)
    }
  }
  t.end()
})

import t from 'tap'
import { serviceNames, services, settingsOf } from '#shared/config/services.ts'

t.test('services: every service reads the common settings, and only a service with queue settings has a user', (t) => {
  for (const name of serviceNames) {
    const names = Object.values(settingsOf(name)).map((setting) => setting.name)
    t.ok(names.includes('LOG_LEVEL'), name)
    t.equal(names.includes('NATS_URL'), 'queueUser' in services[name], name)
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

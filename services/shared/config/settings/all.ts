import type { Settings } from './setting.ts'
import { commonSettings } from './common.ts'
import { controllerSettings } from './controller.ts'
import { egressSettings } from './egress.ts'
import { gatewaySettings } from './gateway.ts'
import { ledgerSettings } from './ledger.ts'
import { clientSettings, localSettings } from './local.ts'
import { operatorSettings } from './operator.ts'
import { databaseSettings, queueSettings, storageSettings, trustSettings } from './outside.ts'
import { routerSettings } from './router.ts'
import { webhookSettings } from './webhooks.ts'
import { workerSettings } from './worker.ts'

/** Every setting of the project, by the heading under which the documentation lists it. */
export const allSettings: Readonly<Record<string, Settings>> = {
  'Every service': commonSettings,
  PostgreSQL: databaseSettings,
  NATS: queueSettings,
  'Object store': storageSettings,
  Certificates: trustSettings,
  Gateway: gatewaySettings,
  Router: routerSettings,
  Ledger: ledgerSettings,
  Webhooks: webhookSettings,
  Worker: workerSettings,
  Controller: controllerSettings,
  'Controller on Kubernetes': operatorSettings,
  Egress: egressSettings,
  'One machine': localSettings,
  'Command line': clientSettings,
}

const everySetting = Object.values(allSettings).flatMap((settings) => Object.values(settings))

/** The names of all settings, without prefix: a variable with the prefix outside of these is an error. */
export const knownNames: ReadonlySet<string> = new Set(everySetting.map(({ name }) => name))

/** The names of the settings that may be read from a file. */
export const secretNames: ReadonlySet<string> = new Set(
  everySetting.filter(({ secret }) => secret).map(({ name }) => name),
)

import { prefix } from '#shared/config/read-env.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import type { Sql } from '#shared/db/connection.ts'
import { countUnusedKeys, listTasks, readDatabaseClock, readDatabaseVersion } from '#gateway/db/installation.ts'
import type { Admin } from './admin-route.ts'
import { type Facts, unusedDays } from './findings.ts'
import { listBrowsers } from './list-browsers.ts'
import { servicesOf } from './service-states.ts'

/** A store that is down is a finding itself; what depends on it is then unknown. */
const orUnknown = <T>(read: Promise<T>): Promise<T | undefined> => read.catch(() => undefined)

const compareClocks = async (database: Sql): Promise<Facts['clock']> => {
  const before = Date.now()
  const there = await readDatabaseClock(database)
  const errorMs = (Date.now() - before) / 2
  return { offsetMs: there - before - errorMs, errorMs }
}

const publicUrlName = prefix + gatewaySettings.publicUrl.name

/** Reads what the gateway knows about its installation. Never throws. */
export const gatherFacts = async (admin: Admin): Promise<Facts> => {
  const { database, fleet, health, natsVersion, browserAgeDaysMax, settings, publicUrl } = admin
  const { clients: proxyAdvice, ...stores } = health().detail
  const [postgresVersion, clock, tasks, unusedKeys, workers] = await Promise.all([
    orUnknown(readDatabaseVersion(database)),
    orUnknown(compareClocks(database)),
    orUnknown(listTasks(database)),
    orUnknown(countUnusedKeys(database, unusedDays)),
    fleet.workers(),
  ])
  const nowMs = Date.now()
  const services = servicesOf(fleet.services()).map(({ name, state }) => [name, state] as const)
  return {
    nowMs,
    states: { ...stores, ...Object.fromEntries(services) },
    postgresVersion,
    natsVersion: natsVersion(),
    clock,
    browsers: listBrowsers(workers, { nowMs, daysMax: browserAgeDaysMax }),
    browserAgeDaysMax,
    publicUrl: publicUrl(),
    isPublicUrlSet: settings.some(({ name, value }) => name === publicUrlName && value !== ''),
    proxyAdvice,
    tasks,
    unusedKeys,
  }
}

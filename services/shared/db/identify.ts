import type { PasswordSource } from './password.ts'

type Connected = (error: unknown) => void
/** The part of the driver's client that is used here. */
type Client = { password: unknown; connect: (connected: Connected) => unknown }
/** The part of the driver's pool with which it opens connections. */
type Clients = { Client: new (options: object) => Client }

/**
 * Makes the pool's connections ask for the password, if a source is given: the driver takes none beside an address. A connection
 * whose certificate files cannot be read fails as any other does: the driver would throw while it serves a waiting statement, and end
 * the process.
 */
export const identifyBy =
  (password: PasswordSource | undefined) =>
  (pool: unknown): void => {
    const clients = pool as Clients
    const open = (driver: Clients['Client'], options: object): Client => {
      try {
        return Object.assign(new driver(options), password && { password })
      } catch (error) {
        return Object.assign(new driver({}), { connect: (connected: Connected) => setImmediate(connected, error) })
      }
    }
    clients.Client = new Proxy(clients.Client, { construct: (driver, [options]: [object]) => open(driver, options) })
  }

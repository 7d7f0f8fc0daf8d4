import { type ClientOptions, Shutterfleet } from '#client/shutterfleet.js'
import type { CommandContext, ParsedArgs } from './command/command.ts'
import { serviceFetch } from './http/service-fetch.ts'
import { findInterface } from './installation.ts'

/** A client of the account of the API key, whose requests end when the command is stopped. By default it retries nothing. */
export const openClient = async (
  { env, stop }: Pick<CommandContext, 'env' | 'stop'>,
  args: ParsedArgs,
  options: Pick<ClientOptions, 'retries'> = { retries: 0 },
): Promise<Shutterfleet> =>
  new Shutterfleet({ ...(await findInterface(env, args)), ...options, fetch: serviceFetch(stop) })

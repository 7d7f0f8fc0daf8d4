import { type Env, readEnv, type SettingValues } from '#shared/config/read-env.ts'
import { commonSettings } from '#shared/config/settings/common.ts'
import { type Cell, routerSettings } from '#shared/config/settings/router.ts'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { HashKey } from '#gateway/http/identification/identify.ts'

const settings = { ...commonSettings, ...routerSettings }

/** A cell with the token that its gateways accept from the router, and the hash by which its database knows keys and tokens. */
export type RoutedCell = Cell & { readonly token: string; readonly hashKey: HashKey }

type Values = SettingValues<typeof settings>

/** Settings of the router. */
export type RouterConfig = Omit<Values, 'cells' | 'routerTokens' | 'routerPeppers' | 'keyPepper'> & {
  readonly cells: readonly RoutedCell[]
}

const assertNames = (setting: string, names: Iterable<string>, cells: readonly Cell[]) => {
  const strange = [...names].filter((name) => !cells.some((cell) => cell.name === name))
  if (strange.length === 0) return
  const publicMessage = `SHUTTERFLEET_${setting} names ${strange.join(', ')}, which SHUTTERFLEET_ROUTER_CELLS does not`
  throw new AppError('CONFIGURATION', { publicMessage })
}

/** Reads the router's settings; throws `CONFIGURATION` with all problems at once, or with cells without a token. */
export const readRouterConfig = (env: Env): RouterConfig => {
  const { cells, routerTokens, routerPeppers, keyPepper, ...rest } = readEnv(settings, env)
  assertNames('ROUTER_TOKENS', routerTokens.keys(), cells)
  assertNames('ROUTER_PEPPERS', routerPeppers.keys(), cells)
  const routed = cells.map((cell) => {
    const token = routerTokens.get(cell.name)
    if (token !== undefined)
      return { ...cell, token, hashKey: createKeyHash(routerPeppers.get(cell.name) ?? keyPepper) }
    const publicMessage = `SHUTTERFLEET_ROUTER_TOKENS has none for the cell ${cell.name}: add ${cell.name}=TOKEN`
    throw new AppError('CONFIGURATION', { publicMessage })
  })
  return { ...rest, cells: routed }
}

import { floor0, isMain, type Place, placeOf, targetOf } from '#test/tidy/place.ts'
import type { Finding, SourceFile } from '#test/tidy/source.ts'
import { findingOn, importsOf } from '#test/tidy/syntax.ts'

const rule = 'layers'
const floor1 = ['config', 'queue', 'db', 'storage', 'kube', 'net', 'telemetry', 'process', 'mcp']
/** Folders of floor 1 that other folders of floor 1 may import. */
const common = ['config', 'telemetry']

/** Import direction: main → context, config → the rest of a service → shared floor 1 → shared floor 0. */
export const layers = (files: readonly SourceFile[]): Finding[] =>
  files.flatMap((file) => {
    const from = placeOf(file.path)
    if (!from) return []
    return importsOf(file).flatMap(({ specifier, typeOnly, node }) => {
      const target = targetOf(file.path, specifier)
      if (target === undefined) return []
      const fault = directionFault(from, target) ?? startFault(file.path, target, typeOnly)
      return fault === undefined ? [] : [findingOn(file, node, rule, `imports ${specifier}: ${fault}`)]
    })
  })

const directionFault = (from: Place, target: string): string | undefined => {
  const to = placeOf(target)
  if (!to) return 'services import only services'
  if (from.service !== to.service) return serviceFault(from, to)
  return from.service === 'shared' ? floorFault(from, to) : undefined
}

/** Pure folders of services that the command line simulates. */
const simulated = ['controller/decide', 'worker/delivery']

/** What may import another service than shared. */
const exceptions: readonly ((from: Place, to: Place) => boolean)[] = [
  // The tools of the MCP server call the service as any client does.
  ({ service, folder }, to) => service === 'shared' && folder === 'mcp' && to.service === 'client',
  ({ service }, to) => service === 'cli' && to.service === 'local',
  // The command line simulates the law of the controller and the turns of a worker.
  ({ service, folder }, to) =>
    service === 'cli' && folder === 'simulation' && simulated.includes(`${to.service}/${to.folder}`),
  ({ service }, to) => ['console', 'cli'].includes(service) && to.service === 'client',
]

const serviceFault = (from: Place, to: Place): string | undefined => {
  if (to.service === 'shared' || exceptions.some((allows) => allows(from, to))) return undefined
  return from.service === 'shared' ? 'shared imports only shared' : 'services never import each other'
}

const floorFault = (from: Place, to: Place): string | undefined => {
  for (const { folder } of [from, to])
    if (![...floor0, ...floor1].includes(folder)) return `shared/${folder} stands on no floor`
  if (floor0.includes(to.folder) || from.folder === to.folder) return undefined
  if (floor0.includes(from.folder)) return 'floor 0 imports only floor 0'
  return common.includes(to.folder) ? undefined : `shared/${from.folder} and shared/${to.folder} do not know each other`
}

const startFault = (from: string, target: string, typeOnly: boolean): string | undefined => {
  if (isMain(target)) return 'nothing imports a main'
  if (isMain(from) || typeOnly || target.startsWith('services/shared/')) return undefined
  return /\/(config|context)\.ts$/.test(target) ? 'config and context are imported by main only' : undefined
}

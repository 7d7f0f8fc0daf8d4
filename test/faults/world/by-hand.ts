import { browserPools } from '#shared/kube/browser-pool.ts'
import { isActive } from '#test/helpers/model-api/pods.ts'
import type { Stored } from '#test/helpers/model-api/object.ts'
import type { Target } from '#test/helpers/model-api/server.ts'
import type { World } from './world.ts'

/** Returns a random number of at least 0 and less than 1. */
export type Random = () => number

/** The namespace of all objects. */
export const namespace = 'default'

const person = 'person'

/** Returns a random duration between two bounds in seconds; in milliseconds. */
export const seconds = (from: number, to: number) => (random: Random) => (from + random() * (to - from)) * 1000

/** A random element; undefined if there is none. */
export const pickOf = <T>(random: Random, all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)]

/** Pods that have not ended and are not terminating. */
export const podsOf = ({ model }: World): readonly Stored[] => model.server.store.all('v1/pods').filter(isActive)

/** One object, by resource and name. */
export const targetOf = (
  { model: { server } }: World,
  resource: string,
  name: string,
  subresource?: string,
): Target => ({
  kind: server.kind(resource),
  namespace,
  name,
  subresource,
})

/** Calls the server as a user; ignores rejections. */
export const tryOut = ({ model }: World, run: () => void): void => {
  try {
    model.inNameOf(person, run)
  } catch {
    // Deleted meanwhile, or not allowed.
  }
}

/** Sends a merge patch as a user. A name such as `workers/scale` selects a subresource. */
export const edit = (world: World, resource: string, name: string, body: object): void => {
  const [object = '', subresource] = name.split('/')
  tryOut(world, () => {
    world.model.server.patch(targetOf(world, resource, object, subresource), { kind: 'merge', body }, person)
  })
}

/** Sends a merge patch of a BrowserPool's spec as a user. */
export const editPool = (world: World, name: string, spec: object): void =>
  edit(world, `${browserPools.apiVersion}/${browserPools.plural}`, name, { spec })

/** Sends a forced server-side apply as a user. */
export const applyByHand = (world: World, resource: string, name: string, body: object): void =>
  tryOut(world, () => {
    world.model.server.patch(
      targetOf(world, resource, name),
      { kind: 'apply', body, fieldManager: person, force: true },
      person,
    )
  })

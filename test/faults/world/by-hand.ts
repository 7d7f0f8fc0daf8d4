import { isActive } from '#test/helpers/model-api/pods.ts'
import type { Stored } from '#test/helpers/model-api/object.ts'
import type { Target } from '#test/helpers/model-api/server.ts'
import type { World } from './world.ts'

/** Draws numbers from 0 to below 1. */
export type Random = () => number

/** The namespace of everything. */
export const namespace = 'default'

const person = 'person'

/** Draws a time, in milliseconds. */
export const seconds = (from: number, to: number) => (random: Random) => (from + random() * (to - from)) * 1000

/** Draws one; undefined of none. */
export const pickOf = <T>(random: Random, all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)]

/** Pods that have not ended and were not told to. */
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

/** Does something on the server as a person; what is refused is refused. */
export const tryOut = ({ model }: World, run: () => void): void => {
  try {
    model.inNameOf(person, run)
  } catch {
    // Gone meanwhile, or not allowed.
  }
}

/** Merges something into an object as a person. A name with a slash is that of a subresource. */
export const edit = (world: World, resource: string, name: string, body: object): void => {
  const [object = '', subresource] = name.split('/')
  tryOut(world, () => {
    world.model.server.patch(targetOf(world, resource, object, subresource), { kind: 'merge', body }, person)
  })
}

/** Applies something to an object as a person, by force. */
export const applyByHand = (world: World, resource: string, name: string, body: object): void =>
  tryOut(world, () => {
    world.model.server.patch(
      targetOf(world, resource, name),
      { kind: 'apply', body, fieldManager: person, force: true },
      person,
    )
  })

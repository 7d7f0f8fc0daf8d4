import { fieldOwner, replicasOwner } from '#shared/kube/names.ts'

type Owned = { readonly [field: string]: Owned }

/** The managed fields of an object, as the API server keeps them. */
export type ManagedFields = readonly {
  readonly manager?: string
  readonly subresource?: string
  readonly fieldsV1?: Owned
}[]

const spec = 'f:spec'
const replicas = 'f:replicas'

/** The entry of the manager of the size, as it should be. */
export const replicasOnly: Owned = { [spec]: { [replicas]: {} } }

const ownFieldsOf = (owned: Owned | undefined): readonly string[] => Object.keys(owned ?? {})

/**
 * Index of the entry of the manager of the size where it owns more than the size, as after the creation; undefined where it
 * does not.
 */
export const excessEntry = (fields: ManagedFields): number | undefined => {
  const index = fields.findIndex(
    ({ manager, subresource, fieldsV1 }) =>
      manager === replicasOwner &&
      !subresource &&
      (ownFieldsOf(fieldsV1).some((name) => name !== spec) ||
        ownFieldsOf(fieldsV1?.[spec]).some((name) => name !== replicas)),
  )
  return index < 0 ? undefined : index
}

/** Whether the controller manages any field of the object, its size aside. */
export const isOurs = (fields: ManagedFields): boolean =>
  fields.some(({ manager, subresource }) => manager === fieldOwner && !subresource)

/** Whether another field manager owns a part of the spec other than the size. */
export const hasForeignSpec = (fields: ManagedFields): boolean =>
  fields.some(
    ({ manager, subresource, fieldsV1 }) =>
      manager !== fieldOwner &&
      manager !== replicasOwner &&
      !subresource &&
      ownFieldsOf(fieldsV1?.[spec]).some((name) => name !== replicas),
  )

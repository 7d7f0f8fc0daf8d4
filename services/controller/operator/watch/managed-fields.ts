import { fieldOwner, replicasOwner } from '#shared/kube/names.ts'

type Owned = { readonly [field: string]: Owned }

/** Which fields of an object somebody decides, as the API server keeps it. */
export type ManagedFields = readonly {
  readonly manager?: string
  readonly subresource?: string
  readonly fieldsV1?: Owned
}[]

const spec = 'f:spec'
const replicas = 'f:replicas'

/** What the entry of the size's owner is cut back to. */
export const replicasOnly: Owned = { [spec]: { [replicas]: {} } }

const ownFieldsOf = (owned: Owned | undefined): readonly string[] => Object.keys(owned ?? {})

/**
 * Where the owner of the size owns more than the size, as after the creation: the place of that entry. Undefined where there is
 * nothing to cut back.
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

/** Whether the controller decides anything of the object at all, its size aside. */
export const isOurs = (fields: ManagedFields): boolean =>
  fields.some(({ manager, subresource }) => manager === fieldOwner && !subresource)

/** Whether somebody else than the controller decides a part of the spec other than the size. */
export const hasForeignSpec = (fields: ManagedFields): boolean =>
  fields.some(
    ({ manager, subresource, fieldsV1 }) =>
      manager !== fieldOwner &&
      manager !== replicasOwner &&
      !subresource &&
      ownFieldsOf(fieldsV1?.[spec]).some((name) => name !== replicas),
  )

import { defineEntity, p } from '@mikro-orm/postgresql'

/** An object that a record refers to. */
export const StoredObject = defineEntity({
  name: 'StoredObject',
  tableName: 'stored_object',
  properties: {
    key: p.text().primary(),
    captureId: p.uuid(),
    bytes: p.bigint('number'),
    sha256: p.text().fieldName('sha256'),
    createdAt: p.datetime().columnType('timestamptz'),
    expiresAt: p.datetime().columnType('timestamptz').index('stored_object_expiry'),
  },
})

/** An object that nothing refers to any more, to be deleted from the store. */
export const ObjectRemoval = defineEntity({
  name: 'ObjectRemoval',
  tableName: 'object_removal',
  properties: {
    key: p.text().primary(),
    notBefore: p.datetime().columnType('timestamptz').index('object_removal_due'),
  },
})

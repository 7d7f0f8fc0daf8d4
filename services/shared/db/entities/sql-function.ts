import { defineEntity, p } from '@mikro-orm/postgresql'

/** Which text of a replaceable SQL function the database holds. */
export const SqlFunction = defineEntity({
  name: 'SqlFunction',
  tableName: 'sql_function',
  properties: { name: p.text().primary(), sha256: p.text().fieldName('sha256') },
})

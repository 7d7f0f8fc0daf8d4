import t from 'tap'
import { reasons } from '#controller/decide/pool.ts'
import type { Setting } from '#shared/config/settings/setting.ts'
import { controllerSettings } from '#shared/config/settings/controller.ts'
import { workerSettings } from '#shared/config/settings/worker.ts'
import { browserPoolSpec, browserPoolStatus, poolConditions } from '#shared/kube/browser-pool.ts'

type Schema = {
  description?: string
  type?: string
  pattern?: string
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  enum?: string[]
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
  'x-kubernetes-preserve-unknown-fields'?: boolean
}
type Field = { path: string; schema: Schema }

const fieldsOf = (schema: Schema, path = ''): Field[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const field = { path: `${path}.${name}`, schema: each }
    return [field, ...fieldsOf(each, field.path), ...fieldsOf(each.items ?? {}, field.path)]
  })

const { autoscaling, scaleDown } = browserPoolSpec.properties
const { reason, conditions } = browserPoolStatus.properties
const fields = [...fieldsOf(browserPoolSpec as Schema), ...fieldsOf(browserPoolStatus as Schema)]

const takes = (setting: Setting<number>, value: number) => setting.parse(String(value)).ok

t.test('browser pool: only the affinity of the pod template keeps fields that its schema does not list', (t) => {
  const open = fields.filter(({ schema }) => schema['x-kubernetes-preserve-unknown-fields'])
  t.strictSame(
    open.map(({ path }) => path),
    ['.template.affinity'],
  )
  t.end()
})

t.test('browser pool: has the defaults and bounds of the local settings', (t) => {
  const { poolMin, poolMax, poolQueueWaitMs, poolHoldSeconds, poolDrainStepSeconds } = controllerSettings
  const { minReplicas, maxReplicas, slots, reservedSlots, buffer, queueWaitMs } = autoscaling.properties
  const pairs = [
    [minReplicas, poolMin],
    [maxReplicas, poolMax],
    [slots, workerSettings.slots],
    [reservedSlots, workerSettings.reservedSlots],
    [queueWaitMs, poolQueueWaitMs],
    [scaleDown.properties.stabilizationWindowSeconds, poolHoldSeconds],
    [scaleDown.properties.periodSeconds, poolDrainStepSeconds],
  ] as const
  for (const [schema, setting] of pairs) {
    const {
      minimum = 0,
      maximum = 0,
      default: fallback,
    } = schema as { minimum?: number; maximum?: number; default?: number }
    t.equal(String(fallback), setting.fallback, setting.name)
    t.ok(takes(setting, minimum) && takes(setting, maximum), setting.name)
    t.notOk(takes(setting, minimum - 1) || takes(setting, maximum + 1), setting.name)
  }
  const optional = [
    [autoscaling.properties.normalQueueWaitMs, controllerSettings.poolNormalQueueWaitMs],
    [autoscaling.properties.bulkQueueWaitMs, controllerSettings.poolBulkQueueWaitMs],
  ] as const
  for (const [schema, setting] of optional) {
    const { minimum = 0, maximum = 0 } = schema as { minimum?: number; maximum?: number }
    t.ok(setting.parse(String(minimum)).ok && setting.parse(String(maximum)).ok, setting.name)
    t.notOk(setting.parse(String(minimum - 1)).ok || setting.parse(String(maximum + 1)).ok, setting.name)
    t.strictSame(setting.parse(setting.fallback ?? ''), { ok: true, value: undefined }, setting.name)
  }
  t.match(buffer, { minimum: 0, default: Number(controllerSettings.poolBuffer.fallback) })
  t.end()
})

t.test('browser pool: accepts every reason of a decision', (t) => {
  const { pattern, maxLength } = reason as Schema
  for (const word of reasons) t.ok(new RegExp(pattern ?? '^$').test(word) && word.length <= (maxLength ?? 0), word)
  t.end()
})

t.test('browser pool: conditions have valid types and reasons, and at least two reasons each', (t) => {
  const { type, reason: reasonSchema } = (conditions as { items: Schema }).items.properties ?? {}
  for (const [name, { reasons: words }] of Object.entries(poolConditions)) {
    t.match(name, new RegExp(type?.pattern ?? '^$'))
    t.ok(words.length > 1, name)
    for (const word of words) t.match(word, new RegExp(reasonSchema?.pattern ?? '^$'))
  }
  t.end()
})

t.test('browser pool: describes each field, and bounds each text, list and map', (t) => {
  t.ok(fields.length > 50)
  for (const { path, schema } of fields) {
    t.ok(schema.description, path)
    const texts = [schema, schema.additionalProperties].filter((each) => each?.type === 'string' && !each.enum)
    for (const each of texts) t.ok(each?.maxLength ?? each?.format, path)
    if (schema.type === 'array') t.ok(schema.maxItems, path)
    if (schema.additionalProperties) t.ok(schema.maxProperties, path)
  }
  t.end()
})

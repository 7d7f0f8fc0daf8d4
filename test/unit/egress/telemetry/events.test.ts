import t from 'tap'
import { createEvents } from '#egress/telemetry/events.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createRecordingLog } from '#test/helpers/recording-log.ts'

const connection = { kind: 'tunnel', capture: 'a', host: 'example.com', route: 'direct', proxy: undefined } as const

t.test('events: counts a lookup that a DNS server answered apart from one that none did', async (t) => {
  const metrics = createMetrics('egress')
  const { nameLookedUp } = createEvents(createRecordingLog(), metrics)
  for (const isAnswered of [true, false, false]) nameLookedUp(isAnswered)
  const text = await metrics.text()
  t.match(text, /egress_dns_lookups_total\{outcome="answered".*\} 1\n/)
  t.match(text, /egress_dns_lookups_total\{outcome="unanswered".*\} 2\n/)
})

t.test('events: logs a refusal as an error only if the filter failed, as a warning if it was full', async (t) => {
  const logged: string[] = []
  const log = createRecordingLog(({ level, message }) => logged.push(`${level}: ${message}`))
  const { refused } = createEvents(log, createMetrics('egress'))
  for (const code of ['SERVER_ERROR', 'SERVICE_UNAVAILABLE', 'BLOCKED'] as const)
    refused(connection, new AppError(code))
  t.match(logged, [/^error: .*internal error/, /^warn: .*unavailable/, /^info: request refused$/])
})

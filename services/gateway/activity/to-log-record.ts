import type { LogRecord } from '#shared/telemetry/log-export.ts'
import type { StoredActivity } from '#gateway/db/activity.ts'

const severityOf = (status: number): LogRecord['severity'] =>
  status >= 500 ? 'ERROR' : status >= 400 ? 'WARN' : 'INFO'

/** An activity for a log receiver, by the names of OpenTelemetry's conventions where there are any. */
export const toLogRecord = (activity: StoredActivity): LogRecord => {
  const { id, at, accountId, keyId, sessionId, client, operation, objectId, status, code } = activity
  return {
    at,
    eventName: 'shutterfleet.activity',
    severity: severityOf(status),
    body: `${operation} ${code ?? status}`,
    attributes: {
      'log.record.uid': id,
      'shutterfleet.account.id': accountId,
      'shutterfleet.operation': operation,
      'client.address': client,
      'http.response.status_code': status,
      ...(keyId !== null && { 'shutterfleet.key.id': keyId }),
      ...(sessionId !== null && { 'session.id': sessionId }),
      ...(objectId !== null && { 'shutterfleet.object.id': objectId }),
      ...(code !== null && { 'error.type': code }),
    },
  }
}

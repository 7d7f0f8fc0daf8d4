import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { hookNames, startReceiverFilter } from '#test/helpers/webhook-sender.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

// A receiver of webhooks and the filter in front of it, in a process of their own. Paths below /hang are never answered,
// those below /slow after 200 ms.
const behave = async (path: string) => {
  if (path.startsWith('/hang')) return 'hang'
  if (path.startsWith('/slow')) await delay(200)
  return 200
}
await using certificate = await makeCertificate(hookNames)
await using receiver = await startReceiver(certificate, behave)
await using filter = await startReceiverFilter(receiver)
const { certPath, keyPath } = certificate
process.send?.({ egressPort: filter.port, certPath, keyPath })
await once(process, 'disconnect')

import { once } from 'node:events'
import { hookNames, startReceiverFilter } from '#test/helpers/webhook-sender.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

// A receiver of webhooks and the filter in front of it, in a process of their own. Paths below /hang are never answered.
await using certificate = await makeCertificate(hookNames)
await using receiver = await startReceiver(certificate, (path) => (path.startsWith('/hang') ? 'hang' : 200))
await using filter = await startReceiverFilter(receiver)
const { certPath, keyPath } = certificate
process.send?.({ egressPort: filter.port, certPath, keyPath })
await once(process, 'disconnect')

import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import { egressTokenHeaders } from './egress-token.ts'
import { connectEgress, type EgressAddress } from './egress-trust.ts'
import { refusalHeader } from './refusal.ts'

const answerMs = 5000
/** The clouds' metadata address: no operator allows it, and no working filter lets it through. */
const forbidden = '169.254.169.254:80'

/** Sends a CONNECT request to egress, on its own connection, which is destroyed after `answerMs` without traffic. `token`: '' for none. */
export const requestConnect = (
  egress: EgressAddress,
  { token, path, answerMs: waitMs }: { readonly token: string; readonly path: string; readonly answerMs: number },
): ClientRequest => {
  const createConnection = () => connectEgress(egress)
  const sent = request({ method: 'CONNECT', path, headers: egressTokenHeaders(token), createConnection })
  sent.setTimeout(waitMs, () => sent.destroy(new Error('no response')))
  return sent.end()
}

const unavailable = (message: string, cause?: unknown) => new AppError('SERVICE_UNAVAILABLE', { message, cause })

/**
 * Checks that egress refuses a forbidden target. `token`: '' for none. Throws `SERVICE_UNAVAILABLE` if egress does
 * not respond within five seconds, does not accept the token, or does not refuse.
 */
export const checkEgress = async (egress: EgressAddress, token = ''): Promise<void> => {
  const sent = requestConnect(egress, { token, path: forbidden, answerMs })
  let [isUnauthorized, isFull] = [false, false]
  try {
    const [answer, socket] = await once(sent, 'connect')
    socket.destroy()
    isUnauthorized = answer.statusCode === 407
    if (answer.headers[refusalHeader] === 'blocked') return
    isFull = answer.headers[refusalHeader] === 'overloaded'
  } catch (cause) {
    throw unavailable(`egress is unreachable: ${String(cause)}`, cause)
  } finally {
    sent.destroy()
  }
  if (isFull) throw unavailable('egress has no room for connections: raise its SHUTTERFLEET_EGRESS_CONNECTIONS_MAX')
  if (isUnauthorized) {
    throw unavailable(
      "egress does not take the token: SHUTTERFLEET_EGRESS_TOKEN must be one of egress's SHUTTERFLEET_EGRESS_TOKENS",
    )
  }
  throw unavailable(`egress does not refuse ${forbidden}: it is not our filter`)
}

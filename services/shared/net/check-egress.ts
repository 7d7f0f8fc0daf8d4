import { once } from 'node:events'
import { request } from 'node:http'
import { AppError } from '#shared/errors/app-error.ts'
import { refusalHeader } from './refusal.ts'

const answerMs = 5000
/** The metadata address of clouds: no operator allows it, and no filter that works lets it through. */
const forbidden = '169.254.169.254:80'

/** Where egress listens. */
export type EgressAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number }

/** Asks egress for what it must refuse. Throws `SERVICE_UNAVAILABLE` where it does not answer within five seconds, or does not refuse. */
export const checkEgress = async (egress: EgressAddress): Promise<void> => {
  const asking = request({ ...egress, method: 'CONNECT', path: forbidden, agent: false })
  asking.setTimeout(answerMs, () => asking.destroy(new Error('no answer')))
  try {
    asking.end()
    const [answer, socket] = await once(asking, 'connect')
    socket.destroy()
    if (answer.headers[refusalHeader] === 'blocked') return
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', { message: `egress does not answer: ${String(cause)}`, cause })
  } finally {
    asking.destroy()
  }
  throw new AppError('SERVICE_UNAVAILABLE', { message: `egress does not refuse ${forbidden}: it is not our filter` })
}

import type { CDPSession } from 'playwright'
import type { Identity } from './identity.ts'

type Command = readonly [method: string, params: object]
type Message = {
  readonly method?: string
  readonly params?: { readonly sessionId?: string; readonly message?: string }
}

/** Of dates and numbers. */
const locale = 'en-US'

const events = ['Target.attachedToTarget', 'Target.receivedMessageFromTarget', 'Target.detachedFromTarget'] as const

const commandsOf = (identity: Identity): readonly Command[] => [
  ['Emulation.setUserAgentOverride', identity],
  ['Emulation.setLocaleOverride', { locale }],
  ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: false }],
  ['Runtime.runIfWaitingForDebugger', {}],
]

/** Takes the messages of one target, and gives the commands to each target that it starts, however deep. */
const attend = (commands: readonly Command[], send: (command: Command) => void): ((message: Message) => void) => {
  const children = new Map<string, (message: Message) => void>()
  return ({ method, params: { sessionId = '', message = '' } = {} }) => {
    if (method === 'Target.receivedMessageFromTarget') children.get(sessionId)?.(JSON.parse(message) as Message)
    if (method === 'Target.detachedFromTarget') children.delete(sessionId)
    if (method !== 'Target.attachedToTarget') return
    let id = 0
    const sendToChild = ([childMethod, params]: Command) => {
      id += 1
      send(['Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method: childMethod, params }) }])
    }
    children.set(sessionId, attend(commands, sendToChild))
    for (const command of commands) sendToChild(command)
  }
}

/** Shows an identity to the page of a session, and to its frames in other processes and its workers before they run anything. */
export const showIdentity = async (session: Pick<CDPSession, 'send' | 'on'>, identity: Identity): Promise<void> => {
  // A target that is gone needs no identity.
  const send = ([method, params]: Command) =>
    session.send(method as 'Target.setAutoAttach', params as never).catch(() => {})
  const commands = commandsOf(identity)
  const take = attend(commands, (command) => void send(command))
  for (const method of events) session.on(method, (params: object) => take({ method, params }))
  await Promise.all(commands.map(send))
}

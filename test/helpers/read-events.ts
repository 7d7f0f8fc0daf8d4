/** A server-sent event as a client receives it. */
export type ReceivedEvent = { readonly name: string; readonly id: string; readonly data: Record<string, unknown> }

const field = (block: string, name: string) =>
  block
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2)

const parse = (block: string): ReceivedEvent[] => {
  const name = field(block, 'event')
  if (name === undefined) return []
  return [{ name, id: field(block, 'id') ?? '', data: JSON.parse(field(block, 'data') ?? '') as ReceivedEvent['data'] }]
}

/** Reads an event stream. `events` and `text` grow until it has `ended`, also by an abort or a broken connection. */
export const readEvents = (
  answer: Response,
): { readonly events: readonly ReceivedEvent[]; readonly text: () => string; readonly ended: Promise<void> } => {
  const events: ReceivedEvent[] = []
  let text = ''
  let rest = ''
  const read = async () => {
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part
      const blocks = (rest + part).split('\n\n')
      rest = blocks.pop() ?? ''
      events.push(...blocks.flatMap(parse))
    }
  }
  return { events, text: () => text, ended: read().catch(() => undefined) }
}

const reconnectMs = 2000
/** Connections in a row that bring nothing, after which a stream is given up. */
const silentMax = 5

/** Names of the events after which nothing comes. */
const lastNames = ['result', 'deleted']

const reconnecting = () => new Promise((wake) => setTimeout(wake, reconnectMs))

/** What was missed over a connection that broke is told again; that the caller has ended it is no such break. */
const hasBroken = (error, signal) => error instanceof TypeError && !signal?.aborted

const parse = (block) => {
  const fields = { event: '', id: '', data: [] }
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === 'data') fields.data.push(value)
    else if (name === 'event' || name === 'id') fields[name] = value
  }
  const { event, id, data } = fields
  return event === '' || data.length === 0 ? undefined : { event, id, data: JSON.parse(data.join('\n')) }
}

const readStream = async function* readStream(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parse(block)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/**
 * Events of a stream until its last one, `result` or `deleted`. Where the connection ends before, it is made again from
 * the last event on. `connect` gets the id of that, and answers a response; an error of it ends the events.
 */
export const readEvents = async function* readEvents(connect, signal) {
  let lastId
  for (let silent = 0; silent < silentMax; silent += 1) {
    if (silent > 0) await reconnecting()
    const response = await connect(lastId)
    if (response.status === 204 || !response.body) return
    try {
      for await (const { event, id, data } of readStream(response.body)) {
        silent = 0
        lastId = id
        yield { event, data }
        if (lastNames.includes(event)) return
      }
    } catch (error) {
      if (!hasBroken(error, signal)) throw error
    }
  }
  throw new Error(`the stream of events ended ${silentMax} times without an event`)
}

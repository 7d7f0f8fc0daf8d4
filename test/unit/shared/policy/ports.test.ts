import t from 'tap'
import { isBadPort } from '#shared/policy/ports.ts'

/** Whether Node's fetch, which includes the standard's list, rejects the port; no connection is opened. */
const fetchRefuses = async (port: number): Promise<boolean> => {
  const dispatcher = {
    dispatch: () => {
      throw new Error('no connection in this test')
    },
  }
  try {
    await fetch(`http://127.0.0.1:${port}/`, { dispatcher } as unknown as RequestInit)
    return false
  } catch (error) {
    return ((error as Error).cause as Error | undefined)?.message === 'bad port'
  }
}

// Contract: Ports
t.test('ports: blocks the ports that the Fetch standard blocks, and no other', async (t) => {
  const differing: number[] = []
  for (let port = 1; port <= 11_000; port += 1) {
    if (isBadPort(port) !== (await fetchRefuses(port))) differing.push(port)
  }
  t.strictSame(differing, [])
})

// Contract: Ports
t.test('ports: blocks port 0, which Node does not block yet', async (t) => {
  t.ok(isBadPort(0))
})

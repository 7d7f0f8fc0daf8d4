import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { json } from 'node:stream/consumers'
import { clusterFiles, type ClusterPlace, serverUrl } from '#test/helpers/cluster-programs.ts'

const answerMs = 5000

/** Reads a path of the API without the cost of a kubectl process; undefined if it does not exist. */
export const readApi = async <T>(place: ClusterPlace, path: string): Promise<T | undefined> => {
  const ca = await readFile(clusterFiles(place).authority)
  const headers = { authorization: `Bearer ${place.token}` }
  const sent = request(serverUrl(place) + path, { ca, headers, agent: false, signal: AbortSignal.timeout(answerMs) })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const body = await json(response)
  if (response.statusCode === 404) return undefined
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
  return body as T
}

import type { Kind } from './kind.ts'
import { at, isPlainObject, type Stored } from './object.ts'
import { statusError } from './status-error.ts'
import type { ModelStore } from './store.ts'

const hasEnded = (pod: Stored): boolean => ['Succeeded', 'Failed'].includes(String(at(pod, 'status', 'phase')))

/** Resource names under which a quota counts objects of a kind. */
const countedAs = ({ apiVersion, plural }: Kind): string[] => {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
  return [`count/${plural}${group}`, ...(plural === 'pods' ? ['pods'] : [])]
}

/** Throws if an object would exceed a ResourceQuota of its namespace. Terminated pods count only as objects. */
export const checkQuota = (store: ModelStore, kind: Kind, { metadata: { name, namespace } }: Stored): void => {
  const isNear = (other: Stored) => other.metadata.namespace === namespace
  for (const quota of store.all('v1/resourcequotas').filter(isNear)) {
    const hard = at(quota, 'spec', 'hard')
    for (const word of countedAs(kind)) {
      const limited = isPlainObject(hard) && word in hard ? Number(hard[word]) : Number.POSITIVE_INFINITY
      const others = store.all(kind.resource).filter(isNear)
      const used = word === 'pods' ? others.filter((pod) => !hasEnded(pod)).length : others.length
      if (used < limited) continue
      const numbers = `requested: ${word}=1, used: ${word}=${used}, limited: ${word}=${limited}`
      const why = `exceeded quota: ${quota.metadata.name}, ${numbers}`
      throw statusError(403, 'Forbidden', `${kind.plural} "${name}" is forbidden: ${why}`)
    }
  }
}

import { type CaptureFacts, type Facts, type Invariant, isTerminal } from './facts.ts'

const isRendition = (name: string) => name.startsWith('rendition-')

/** An output that could not be read in time is left out, with a warning; a rendition is not. */
const missing = ({ accepted, row }: CaptureFacts): string[] => {
  const stored = new Set(row?.files.map(({ name }) => name))
  return (accepted?.files ?? []).filter((name) => isRendition(name) && !stored.has(name)).map((name) => `no ${name}`)
}

const torn = ({ row }: CaptureFacts, { snapshot }: Facts): string[] => {
  const object = snapshot.objects.find(({ key }) => key === row?.objectKey)
  if (!row || !object || row.isExpired) return []
  return row.files.flatMap(({ name, sha256 }, at) =>
    object.files[at] === sha256 ? [] : [`${name} is not stored whole`],
  )
}

const otherBytes = ({ row, targeted }: CaptureFacts): string[] =>
  targeted.flatMap(({ files = [], fileSha256 }) => {
    const [name = ''] = files
    if (fileSha256 === undefined) return []
    return row?.files.find((file) => file.name === name)?.sha256 === fileSha256 ? [] : [`${name} has other bytes`]
  })

const filesAreWhole: Invariant = {
  name: 'files are whole',
  rule: 'A completed capture has its renditions and the outputs that its record lists, and every download returns their bytes.',
  broken: (facts) =>
    [...facts.captures.values()].flatMap((capture) => {
      const { id, row, deleted } = capture
      if (!row || deleted || !isTerminal(row.status) || row.status === 'failed') return []
      const found = [...missing(capture), ...torn(capture, facts), ...otherBytes(capture)]
      return found.map((what) => `${id}: ${what}`)
    }),
}

/** Invariants on outputs and renditions. */
export const fileInvariants: readonly Invariant[] = [filesAreWhole]

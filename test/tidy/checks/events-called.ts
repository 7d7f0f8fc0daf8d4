import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const eventsFile = /^services\/(?!.*\/operations\/).*(?:\/|-)events\.ts$/
/** A function of the object that `createEvents` returns, or of one that is spread into it. */
const event = /^ {2,6}(?<name>\w+): \(/gm

/** A row of a table of metrics. */
const metric = /^ {2,4}(?<name>\w+): \{\s*(?:counter|gauge|histogram):/gm

/** Each event that a service can log and count is used outside of the file that declares it, and each metric is: else it stays 0. */
export const eventsCalled = (files: readonly SourceFile[]): Finding[] => {
  const services = files.filter(({ path }) => path.startsWith('services/'))
  const members = new Set(services.flatMap(({ text }) => text.match(/(?<=\.)\w+/g) ?? []))
  const uncalled = services
    .filter(({ path }) => eventsFile.test(path))
    .flatMap((file) => {
      const others = new Set(services.filter((each) => each !== file).flatMap(({ text }) => text.match(/\w+/g) ?? []))
      return [...file.text.matchAll(event)]
        .filter(({ groups }) => !others.has(groups?.['name'] ?? ''))
        .map(({ index, groups }) => findingAt(file, index, 'events-called', `nothing calls ${groups?.['name']}`))
    })
  const unset = services.flatMap((file) =>
    [...file.text.matchAll(metric)]
      .filter(({ groups }) => !members.has(groups?.['name'] ?? ''))
      .map(({ index, groups }) => findingAt(file, index, 'events-called', `nothing sets ${groups?.['name']}`)),
  )
  return [...uncalled, ...unset]
}

import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const eventsFile = /^services\/(?!.*\/operations\/).*(?:\/|-)events\.ts$/
/** A function of the object that `createEvents` returns, or of one that is spread into it. */
const event = /^ {2,6}(?<name>\w+): \(/gm

/** Each event that a service can log and count is used outside of the file that declares it: else its metric stays 0. */
export const eventsCalled = (files: readonly SourceFile[]): Finding[] => {
  const services = files.filter(({ path }) => path.startsWith('services/'))
  return services
    .filter(({ path }) => eventsFile.test(path))
    .flatMap((file) => {
      const others = new Set(services.filter((each) => each !== file).flatMap(({ text }) => text.match(/\w+/g) ?? []))
      return [...file.text.matchAll(event)]
        .filter(({ groups }) => !others.has(groups?.['name'] ?? ''))
        .map(({ index, groups }) => findingAt(file, index, 'events-called', `nothing calls ${groups?.['name']}`))
    })
}

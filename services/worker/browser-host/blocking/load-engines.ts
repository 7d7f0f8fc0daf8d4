import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FiltersEngine } from '@ghostery/adblocker'
import {
  type CompiledKind,
  compiledIndex,
  type CompiledLists,
  listKinds,
  type ListKind,
} from '#worker/block-lists/compiled.ts'

/** The rules of one kind of list, ready to be matched. */
export type BlockEngine = CompiledKind & { readonly kind: ListKind; readonly rules: FiltersEngine }

/** Loads compiled lists, in milliseconds. */
export const loadEngines = (folder: string): readonly BlockEngine[] => {
  const { kinds } = JSON.parse(readFileSync(join(folder, compiledIndex), 'utf8')) as CompiledLists
  return listKinds.map((kind) => ({
    kind,
    ...kinds[kind],
    rules: FiltersEngine.deserialize(readFileSync(join(folder, `${kind}.bin`))),
  }))
}

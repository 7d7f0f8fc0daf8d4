import { Type, type Static } from 'typebox'

/** Most characters of each kind of value. Longer texts are cut off; longer addresses and languages are left out. */
const titleMax = 500
const textMax = 1000
const addressMax = 2048
const languageMax = 50

/** Most tags of `og`, and of `twitter`. */
const tagsMax = 50

/** Most characters of all names and values together: a page of a list contains a hundred records. */
const charactersMax = 16_384

/** Name of a tag without its prefix, such as `image:width`. */
const tagName = /^[a-z0-9][a-z0-9:_.-]{0,63}$/

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const address = Type.String({ pattern: '^https?:\\/\\/', maxLength: addressMax })
const tags = Type.Record(Type.String({ pattern: tagName.source }), text(addressMax), {
  maxProperties: tagsMax,
  additionalProperties: false,
})

/** Metadata of a page. Fields that the page lacks are absent; addresses are absolute. */
export const pageMetadata = Type.Object(
  {
    title: Type.Optional(text(titleMax)),
    description: Type.Optional(text(textMax)),
    canonical: Type.Optional(address),
    language: Type.Optional(text(languageMax)),
    favicon: Type.Optional(address),
    og: Type.Optional(tags),
    twitter: Type.Optional(tags),
  },
  { additionalProperties: false },
)

/** See `pageMetadata`. */
export type PageMetadata = Static<typeof pageMetadata>
type Tags = Readonly<Record<string, string>>

/** Names of tags whose value is an address; and name parts that make it one, as in `image:secure_url`. */
const addressNames = /^(?:image\d?|video|audio|player|player:stream|logo|see_also)$/
const addressParts = ['url', 'secure_url', 'src']

/** Whether a tag of `og` or `twitter`, named without its prefix, contains an address. */
export const isAddressTag = (name: string): boolean =>
  addressNames.test(name) || name.split(':').some((part) => addressParts.includes(part))

/** Cuts a text off, never within a surrogate pair. */
const cut = (value: string | undefined, max: number): string | undefined => {
  if (value === undefined || value.length <= max) return value
  return `${value.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

const short = (value: string | undefined, max: number): string | undefined =>
  value !== undefined && value.length <= max ? value : undefined

const web = (value: string | undefined): string | undefined =>
  value !== undefined && /^https?:\/\//.test(value) ? short(value, addressMax) : undefined

/** Returns a filter that admits fields while there is room for name and value. */
const createRoom = () => {
  let left = charactersMax
  return ([name, value]: readonly [string, string | undefined]): boolean => {
    if (!value || name.length + value.length > left) return false
    left -= name.length + value.length
    return true
  }
}
type Room = ReturnType<typeof createRoom>

const boundTags = (name: 'og' | 'twitter', found: Tags | undefined, admits: Room): { [name: string]: Tags } => {
  const admitted = Object.entries(found ?? {})
    .filter(([tag]) => tagName.test(tag))
    .map(([tag, value]) => [tag, isAddressTag(tag) ? web(value) : cut(value, textMax)] as const)
    .filter(([, value]) => value)
    .slice(0, tagsMax)
    .filter(admits)
  return admitted.length > 0 ? { [name]: Object.fromEntries(admitted) as Tags } : {}
}

/**
 * Bounds a page's metadata for a report: cuts off texts, omits addresses and languages that are too long and addresses
 * that are not http(s), and keeps at most 50 tags of each kind and 16,384 characters in all, in the order of the fields.
 */
export const boundMetadata = ({ og, twitter, ...page }: PageMetadata): PageMetadata => {
  const admits = createRoom()
  const fields = [
    ['title', cut(page.title, titleMax)],
    ['description', cut(page.description, textMax)],
    ['canonical', web(page.canonical)],
    ['language', short(page.language, languageMax)],
    ['favicon', web(page.favicon)],
  ] as const
  return {
    ...Object.fromEntries(fields.filter(admits)),
    ...boundTags('og', og, admits),
    ...boundTags('twitter', twitter, admits),
  }
}

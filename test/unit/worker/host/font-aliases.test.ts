import t from 'tap'
import { fontAliases } from '#worker/host/font-aliases.ts'

t.test(
  'font aliases: families that are not installed are drawn by those of the images, installed ones are not',
  (t) => {
    const alias = (installed: string[]) => fontAliases(new Set(installed))
    const verdana = /<string>Verdana<\/string><\/test><edit [^>]*><string>Noto Sans</
    t.match(alias([]), verdana)
    t.notMatch(alias(['verdana']), verdana)
    t.match(alias(['verdana']), /<string>Consolas<\/string><\/test><edit [^>]*><string>Liberation Mono</)
    t.end()
  },
)
